/**
 * Schemas of other libraries (Zod, ArkType, Valibot …) through the Standard Schema interface.
 * Their JSON Schema of the *input* guides the reader; their validator has the last word, and its output is the value.
 */

import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import type { Issue } from '../base/errors/issue.ts'
import { isObject, own } from '../base/json.ts'
import { child, type Pointer } from '../base/pointer.ts'
import { clip } from './describe.ts'
import type { SchemaIssueCode } from './issue-table.ts'
import type { JsonSchema } from './json-schema.ts'
import { librarySchema } from './library-schema.ts'

export type { StandardSchemaV1 }

/** Libraries make their schemas objects or functions; both carry `~standard`. */
export function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null || !('~standard' in value))
    return false
  const standard: unknown = value['~standard']
  return isObject(standard) && typeof standard['validate'] === 'function'
}

/** Such a schema, and not a JSON Schema that carries one out of sight, as `z.toJSONSchema` makes them. */
export function isForeignSchema(value: unknown): value is StandardSchemaV1 {
  if (!isStandardSchema(value)) return false
  return Object.getPrototypeOf(value) !== Object.prototype || Object.keys(value).includes('~standard')
}

/**
 * The JSON Schema of what the validator takes in: from the schema itself where its library gives it, else the one that
 * was passed beside it, else read from the objects of a library that is known here, else `undefined`, and then the reader
 * can only validate.
 */
export function standardJsonSchema(schema: StandardSchemaV1, given?: JsonSchema): JsonSchema | undefined {
  return fromLibrary(schema) ?? given ?? librarySchema(schema)
}

/** Libraries that bring a JSON Schema with their schemas, or whose schemas are read here. */
export const whatToInstall = 'install zod@^4.2, arktype@^2.1.28 or @valibot/to-json-schema'

/** Says that nothing guides the reader: silence would look like a reader that does not convert. */
export function unguidedNote(schema: StandardSchemaV1): Issue<SchemaIssueCode> {
  return {
    code: 'schema/unguided',
    at: { pointer: '' },
    message: `the schema of ${clip(schema['~standard'].vendor)} has no JSON Schema: nothing is converted toward it`,
    hint: `Pass it as the option \`jsonSchema\`, or ${whatToInstall}`,
  }
}

/** Dates, transforms and the like have no JSON Schema: better a schema that says nothing there than none at all. */
const lenient = { unrepresentable: 'any', fallback: (context: { readonly base: unknown }) => context.base }

function fromLibrary(schema: StandardSchemaV1): JsonSchema | undefined {
  const converter = (schema['~standard'] as Partial<StandardJSONSchemaV1.Props>).jsonSchema
  if (typeof converter?.input !== 'function') return undefined
  for (const libraryOptions of [undefined, lenient]) {
    try {
      const converted = converter.input({ target: 'draft-2020-12', libraryOptions })
      // Through JSON: libraries hang non-enumerable and undefined members on their objects.
      return JSON.parse(JSON.stringify(converted))
    } catch {
      // The interface says that a conversion which is not possible throws; the next way is tried.
    }
  }
  return undefined
}

type StandardResult<T> = { readonly value: T } | { readonly issues: Issue<SchemaIssueCode>[] }

/** Asks a Standard Schema about a value. Never throws and never waits: an asynchronous validator is an issue. */
export function validateStandard<S extends StandardSchemaV1>(
  schema: S,
  value: unknown,
): StandardResult<StandardSchemaV1.InferOutput<S>> {
  let result: ReturnType<StandardSchemaV1['~standard']['validate']>
  try {
    result = schema['~standard'].validate(value)
  } catch (cause) {
    return failed(
      'schema/threw',
      `the validator threw ${clip(cause instanceof Error ? cause.message : cause)}`,
      {
        hint: 'Report an issue instead of throwing',
      },
    )
  }
  if (isThenable(result)) {
    // Its outcome is ignored, but its rejection must be handled.
    result.then(undefined, () => undefined)
    return failed('schema/async', 'the schema returned a promise', {
      hint: 'Make it synchronous; in Zod, no transform may throw',
    })
  }
  if (result.issues) return { issues: result.issues.map((issue) => toIssue(issue, value)) }
  return { value: result.value as StandardSchemaV1.InferOutput<S> }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}

function failed(
  code: SchemaIssueCode,
  message: string,
  more: { readonly hint: string },
): { issues: Issue<SchemaIssueCode>[] } {
  return { issues: [{ code, at: { pointer: '' }, message, ...more }] }
}

function toIssue(issue: StandardSchemaV1.Issue, root: unknown): Issue<SchemaIssueCode> {
  let pointer: Pointer = ''
  let actual: unknown = root
  for (const segment of issue.path ?? []) {
    const key = typeof segment === 'object' ? segment.key : segment
    pointer = child(pointer, typeof key === 'number' ? key : String(key))
    actual = typeof actual === 'object' && actual !== null ? own(actual, String(key)) : undefined
  }
  const expected = own(issue, 'expected')
  return {
    code: 'schema/standard',
    at: { pointer },
    message: issue.message,
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual }),
  }
}
