/** The limits of untrusted schemas. */
export const schemaLimits = {
  /** UTF-8 bytes of the schema as canonical JSON. */
  bytes: 65_536,
  /** Nesting of the schema as JSON; one level of `properties` is two. */
  depth: 32,
  /** JSON values in the schema. */
  nodes: 2_000,
  /** Members of one object in the schema. */
  properties: 500,
  /** Characters of a `pattern`, or of a key of `patternProperties`. */
  pattern: 256,
  /** Schemas that validation visits when all references are unfolded. */
  expanded: 10_000,
  /** `maxItems` that an array needs before `uniqueItems` may be asked of it: the check is quadratic. */
  uniqueItems: 1_000,
} as const

/** What a refused schema goes beyond. */
export type LimitName = keyof typeof schemaLimits | '$data' | '$ref' | '$id' | 'format'
