/** Compiled JSON Schemas, cached: what the reader and every contract above it validate with. */
import { canonicalJson } from '../base/canonical.ts'
import { ProvisoError } from '../base/error.ts'
import { sha256Hex } from '../base/hash.ts'
import type { Issue } from '../base/issue.ts'
import { child, tokens } from '../base/pointer.ts'
import { collectableDepth, collectableValues, holdsMoreThan, isDeeperThan } from './cost.ts'
import { avoidFaults, guarded, mayThrow } from './faults.ts'
import { toIssues } from './issues.ts'
import type { JsonSchema } from './json-schema.ts'
import { checkBytes, checkContent, checkSize } from './limits.ts'
import { checkPatterns } from './patterns.ts'
import { checkLoops, type SchemaGraph, schemaGraph } from './references.ts'
import { servesStrangers } from './regex.ts'
import { checkMetaSchema, createValidator, type ErrorObject, type Validator } from './validator.ts'

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
const shortText = 2_000

const cache = new Map<string, CompiledSchema>()
const known = {
  trusted: new WeakMap<object, CompiledSchema>(),
  /** Trusted, in a process that serves strangers. */
  careful: new WeakMap<object, CompiledSchema>(),
  untrusted: new WeakMap<object, CompiledSchema>(),
}

/**
 * Compiles a schema, or finds it compiled already: by identity (free), else by canonical text or its hash.
 * A schema object must not be changed after it was compiled; a change would not be seen.
 * Throws `schema/invalid` for a schema that cannot be used and `schema/limit` for an untrusted one that is too much.
 *
 * @example
 * compileSchema({ type: 'integer' }).accepts(3) // true
 */
export function compileSchema(schema: JsonSchema, options: CompileOptions = {}): CompiledSchema {
  const mode = options.untrusted ? 'untrusted' : servesStrangers() ? 'careful' : 'trusted'
  const found = typeof schema === 'object' && schema !== null ? known[mode].get(schema) : undefined
  if (found !== undefined) return found
  if (mode === 'untrusted') checkSize(schema)
  const canonical = canonicalSchema(schema)
  if (mode === 'untrusted') checkBytes(canonical)
  // A short text is its own name: hashing it would cost more than looking it up.
  const key = `${mode} ${canonical.length <= shortText ? canonical : sha256Hex(canonical)}`
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

/** The code that collects every error has the same faults as the fast one; where it fails there is none to tell. */
function everyError(thorough: Validator, value: unknown): ErrorObject[] | undefined {
  try {
    if (thorough.validate(value)) return undefined
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause
    return undefined
  }
  return thorough.validate.errors ?? undefined
}

const undecided: Issue = {
  code: 'schema/undecided',
  at: { pointer: '' },
  message:
    'cannot be judged: the schema combines unevaluatedProperties or unevaluatedItems in a way that is not supported',
  hint: 'Use additionalProperties, or put unevaluated* into the alternatives of the union',
}

function onlyTheFirst(issue: Issue): Issue {
  return {
    ...issue,
    hint: `${issue.hint ? `${issue.hint}. ` : ''}The value is large: only the first violation is listed`,
  }
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
  const graph = schemaGraph(schema)
  if (untrusted) checkContent(schema, graph)
  checkMetaSchema(schema)
  checkSynchronous(graph)
  checkLoops(graph)
  checkPatterns(graph, { linear: false })
  const compilable = avoidFaults(JSON.parse(JSON.stringify(schema)))
  const fast = createValidator(compilable, { untrusted, allErrors: false })
  const guard = mayThrow(graph) ? guarded : undefined
  const accepts = fast.validate as (value: unknown) => boolean
  const judge = guard?.(accepts) ?? accepts
  const thoroughUpTo = collectableValues(graph)
  let thoroughDepth: number | undefined
  let thorough: Validator | undefined
  const parts = new Map<string, (value: unknown) => boolean>()
  return {
    schema,
    accepts: judge,
    validate(value, limit = 100) {
      fast.validate.errors = null
      if (judge(value)) return []
      const first = fast.validate.errors ?? []
      thoroughDepth ??= collectableDepth(graph)
      if (holdsMoreThan(value, thoroughUpTo) || isDeeperThan(value, thoroughDepth))
        return toIssues(first, value, limit).map(onlyTheFirst)
      thorough ??= createValidator(compilable, { untrusted, allErrors: true })
      const issues = toIssues(everyError(thorough, value) ?? first, value, limit)
      return issues.length > 0 || limit < 1 ? issues : [undecided]
    },
    acceptsAt(schemaPointer, value) {
      let part = parts.get(schemaPointer)
      if (part === undefined) {
        requireSchemaAt(schema, schemaPointer)
        const bare = fast.at(schemaPointer) as (value: unknown) => boolean
        part = guard?.(bare) ?? bare
        parts.set(schemaPointer, part)
      }
      return part(value)
    },
  }
}

/** Ajv would turn such a schema into a validator that returns a promise, which every caller would take for true. */
function checkSynchronous(graph: SchemaGraph): void {
  for (const [schema, { pointer }] of graph) {
    if (!Object.hasOwn(schema, '$async')) continue
    throw new ProvisoError(
      'schema/invalid',
      `The schema at ${pointer || 'its root'} uses $async, which is not supported`,
      {
        at: { pointer: child(pointer, '$async') },
        hint: 'Remove "$async"',
      },
    )
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
