/** Compiled JSON Schemas, cached: what the reader and every contract above it validate with. */
import { canonicalJson } from '../base/canonical.ts'
import { ProvisoError } from '../base/error.ts'
import { sha256Hex } from '../base/hash.ts'
import type { Issue } from '../base/issue.ts'
import { tokens } from '../base/pointer.ts'
import { toIssues } from './issues.ts'
import type { JsonSchema } from './json-schema.ts'
import { checkMetaSchema, createValidator, type Validator } from './validator.ts'

export type { JsonSchema } from './json-schema.ts'

export interface CompiledSchema {
  readonly schema: JsonSchema
  /** True when the value satisfies the schema; the fast question. */
  accepts(value: unknown): boolean
  /** Every violation (at most `limit`, default 100), located by JSON pointer; empty when the value is valid. */
  validate(value: unknown, limit?: number): Issue[]
  /** The same question for the sub-schema at a JSON pointer into this schema, e.g. `/properties/a/anyOf/0`. */
  acceptsAt(schemaPointer: string, value: unknown): boolean
}

export interface CompileOptions {
  /** The schema comes from a stranger: limits are checked and regexes run on a linear engine. Default false. */
  readonly untrusted?: boolean
}

/** How many compiled schemas are kept; the one not used for longest goes first. */
export const cacheSize = 256

const cache = new Map<string, CompiledSchema>()
const known = {
  trusted: new WeakMap<object, CompiledSchema>(),
  untrusted: new WeakMap<object, CompiledSchema>(),
}

/**
 * Compiles a schema, or finds it compiled already: by identity (free), else by canonical hash.
 * A schema object must not be changed after it was compiled; a change would not be seen.
 * Throws `schema/invalid` for a schema that cannot be used and `schema/limit` for an untrusted one that is too much.
 *
 * @example
 * compileSchema({ type: 'integer' }).accepts(3) // true
 */
export function compileSchema(schema: JsonSchema, options: CompileOptions = {}): CompiledSchema {
  const mode = options.untrusted ? 'untrusted' : 'trusted'
  const found = typeof schema === 'object' && schema !== null ? known[mode].get(schema) : undefined
  if (found !== undefined) return found
  const canonical = canonicalSchema(schema)
  const key = `${mode} ${sha256Hex(canonical)}`
  const compiled = cache.get(key) ?? compileFresh(schema, mode === 'untrusted')
  cache.delete(key)
  cache.set(key, compiled)
  for (const oldest of cache.keys()) {
    if (cache.size <= cacheSize) break
    cache.delete(oldest)
  }
  if (typeof schema === 'object') known[mode].set(schema, compiled)
  return compiled
}

function canonicalSchema(schema: JsonSchema): string {
  if (
    typeof schema !== 'boolean' &&
    (typeof schema !== 'object' || schema === null || Array.isArray(schema))
  ) {
    throw new ProvisoError('schema/invalid', 'A schema must be an object or a boolean')
  }
  try {
    return canonicalJson(schema)
  } catch (cause) {
    if (!(cause instanceof ProvisoError)) throw cause
    throw new ProvisoError('schema/invalid', cause.message.replace('The value', 'The schema'), {
      ...(cause.at && { at: cause.at }),
      cause,
    })
  }
}

function compileFresh(given: JsonSchema, untrusted: boolean): CompiledSchema {
  // A copy of our own: equal schemas share this entry, and one caller's later changes must not reach the others.
  const schema: JsonSchema = JSON.parse(JSON.stringify(given))
  checkMetaSchema(schema)
  const fast = createValidator(schema, { untrusted, allErrors: false })
  let thorough: Validator | undefined
  const parts = new Map<string, (value: unknown) => unknown>()
  return {
    schema,
    accepts: fast.validate as (value: unknown) => boolean,
    validate(value, limit = 100) {
      if (fast.validate(value)) return []
      thorough ??= createValidator(schema, { untrusted, allErrors: true })
      thorough.validate(value)
      return toIssues(thorough.validate.errors ?? [], value, limit)
    },
    acceptsAt(schemaPointer, value) {
      let part = parts.get(schemaPointer)
      if (part === undefined) {
        requireSchemaAt(schema, schemaPointer)
        part = fast.at(schemaPointer)
        parts.set(schemaPointer, part)
      }
      return part(value) as boolean
    },
  }
}

function requireSchemaAt(schema: JsonSchema, pointer: string): void {
  let node: unknown = schema
  for (const token of tokens(pointer)) {
    node =
      typeof node === 'object' && node !== null && Object.hasOwn(node, token)
        ? Reflect.get(node, token)
        : undefined
  }
  if (typeof node === 'boolean' || (typeof node === 'object' && node !== null && !Array.isArray(node))) return
  throw new ProvisoError('schema/invalid', `There is no sub-schema at ${pointer}`, { at: { pointer } })
}
