/** `allOf` as one schema, and local references; for lowering schemas and for making examples, never to validate. */
import { isObject, own, setOwn } from '../../base/json.ts'
import { tokens } from '../../base/pointer.ts'
import type { JsonSchema } from '../json-schema.ts'

type Keywords = Record<string, unknown>

/** The sub-schema that a local reference (`#`, `#/…`) points at. */
export function lookUp(root: JsonSchema, ref: string): unknown {
  if (ref !== '#' && !ref.startsWith('#/')) return undefined
  let at: unknown = root
  for (const token of tokens(decode(ref.slice(1)))) {
    if (typeof at !== 'object' || at === null) return undefined
    at = own(at, token)
  }
  return at
}

/** How two values of one keyword become one that both hold to; other keywords must be equal. */
const joins: Readonly<Record<string, (a: unknown, b: unknown) => unknown>> = {
  required: (a, b) => [...new Set([...(a as unknown[]), ...(b as unknown[])])],
  minimum: (a, b) => Math.max(a as number, b as number),
  maximum: (a, b) => Math.min(a as number, b as number),
  minLength: (a, b) => Math.max(a as number, b as number),
  maxLength: (a, b) => Math.min(a as number, b as number),
  minItems: (a, b) => Math.max(a as number, b as number),
  maxItems: (a, b) => Math.min(a as number, b as number),
  additionalProperties: (a, b) => (a === false || b === false ? false : (a ?? b)),
  properties: (a, b) => joinProperties(a as Keywords, b as Keywords),
}

/** One schema that says what all members say; `conflicts` are keywords of which only the first word could be kept. */
export function mergeAll(
  given: Keywords,
  root: JsonSchema,
): { readonly schema: Keywords; readonly conflicts: readonly string[] } {
  const conflicts: string[] = []
  const seen = new Set<string>()
  const parts: unknown[] = [given]
  const schema: Keywords = {}
  for (const part of parts) {
    if (!isObject(part)) continue
    const { allOf, $ref, ...rest } = part
    if (Array.isArray(allOf)) parts.push(...allOf)
    if (typeof $ref === 'string' && !seen.has($ref)) {
      seen.add($ref)
      parts.push(lookUp(root, $ref))
    }
    for (const [keyword, value] of Object.entries(rest)) {
      const before = schema[keyword]
      const join = own(joins, keyword) as ((a: unknown, b: unknown) => unknown) | undefined
      if (before === undefined) schema[keyword] = value
      else if (join) schema[keyword] = join(before, value)
      else if (JSON.stringify(before) !== JSON.stringify(value)) conflicts.push(keyword)
    }
  }
  return { schema, conflicts: [...new Set(conflicts)].filter((keyword) => !harmless.has(keyword)) }
}

const harmless: ReadonlySet<string> = new Set([
  'title',
  'description',
  '$id',
  '$comment',
  '$defs',
  'definitions',
])

function joinProperties(a: Keywords, b: Keywords): Keywords {
  const joined: Keywords = { ...a }
  for (const [name, schema] of Object.entries(b)) {
    const other = own(a, name)
    setOwn(joined, name, other === undefined ? schema : { allOf: [other, schema] })
  }
  return joined
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
