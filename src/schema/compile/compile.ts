/** Compiled JSON Schemas, cached: what the reader and every contract above it validate with. */

import { checkedJson } from '../../base/canonical.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { once } from '../../base/once.ts'
import { child, tokens } from '../../base/pointer.ts'
import type { Draft } from '../dialects/draft.ts'
import { readSchema } from '../dialects/read-schema.ts'
import { findMalformed } from '../dialects/well-formed.ts'
import { createInterpreter, type Session } from '../interpreter/interpreter.ts'
import type { SchemaIssueCode, ViolationCode } from '../issue-table.ts'
import type { JsonSchema } from '../json-schema.ts'
import { checkPatterns } from '../patterns/patterns.ts'
import { regexEngine } from '../patterns/regex.ts'
import {
  checkLoops,
  checkReferences,
  isRepetitive,
  type SchemaGraph,
  schemaGraph,
  sharedSchemas,
} from '../references/references.ts'
import { collectNames, type Names } from '../references/schema-names.ts'
import { compileWithAjv, isCompiler } from './ajv.ts'
import { toIssues } from './issues.ts'
import { checkBytes, checkContent, checkSize } from './limits.ts'

export type { JsonSchema } from '../json-schema.ts'

export interface CompiledSchema {
  /** The schema rewritten as 2020-12. */
  readonly schema: JsonSchema
  /** What the author of the schema should know, although it can be used: an unknown `$schema`. */
  readonly notes: readonly Issue<SchemaIssueCode>[]
  /** True when the value satisfies the schema; the fast question. */
  accepts(value: unknown): boolean
  /** Every violation (at most `limit`, default 100), located by JSON pointer; empty when the value is valid. */
  validate(value: unknown, limit?: number): Issue<ViolationCode>[]
  /** The same question for the sub-schema at a JSON pointer into this schema, e.g. `/properties/a/anyOf/0`. */
  acceptsAt(schemaPointer: string, value: unknown): boolean
  /** For many questions about one text. */
  openSession(): Session
}

export interface CompileOptions {
  /** The schema is untrusted: check its limits and run its regexes on a linear-time engine. Default false. */
  readonly untrusted?: boolean
  /**
   * Run the patterns of a trusted schema on the linear-time engine, too, where it can express them: for apps in which
   * trusted and untrusted schemas mix. Default false.
   */
  readonly linearPatterns?: boolean
}

/** How many compiled schemas are kept; the one not used for longest goes first. */
export const cacheSize = 256
/** Longer schemas are found by identity only: their texts would fill the memory. */
const longestName = 65_536

const cache = new Map<string, CompiledSchema>()
const byIdentity = {
  native: new WeakMap<object, CompiledSchema>(),
  linear: new WeakMap<object, CompiledSchema>(),
  untrusted: new WeakMap<object, CompiledSchema>(),
}

/**
 * Compiles a schema, or finds it compiled already: by identity (free), else by its JSON text.
 * A schema object must not be changed after it was compiled; a change would not be seen.
 * Throws `schema/invalid` for a schema that cannot be used and `schema/limit` for an untrusted one that is too much.
 *
 * @example
 * compileSchema({ type: 'integer' }).accepts(3) // true
 */
export function compileSchema(schema: JsonSchema, options: CompileOptions = {}): CompiledSchema {
  const mode = options.untrusted ? 'untrusted' : options.linearPatterns ? 'linear' : 'native'
  const found = typeof schema === 'object' && schema !== null ? byIdentity[mode].get(schema) : undefined
  if (found !== undefined) return found
  if (mode === 'untrusted') checkSize(schema)
  const text = toText(schema)
  if (mode === 'untrusted') checkBytes(text)
  const key = `${mode} ${text}`
  const compiled = cache.get(key) ?? compileFresh(text, mode)
  if (text.length <= longestName) keep(key, compiled)
  if (typeof schema === 'object') byIdentity[mode].set(schema, compiled)
  return compiled
}

function keep(key: string, compiled: CompiledSchema): void {
  cache.delete(key)
  cache.set(key, compiled)
  for (const oldest of cache.keys()) {
    if (cache.size <= cacheSize) break
    cache.delete(oldest)
  }
}

function toText(schema: JsonSchema): string {
  if (
    typeof schema !== 'boolean' &&
    (typeof schema !== 'object' || schema === null || Array.isArray(schema))
  ) {
    throw new ProvisoError('schema/invalid', 'A schema must be an object or a boolean')
  }
  return checkedJson(schema, { code: 'schema/invalid', subject: 'The schema' })
}

/** The schema is read from its text: a copy of our own, because one caller's later changes must not reach another. */
function compileFresh(given: string, mode: keyof typeof byIdentity): CompiledSchema {
  const untrusted = mode === 'untrusted'
  const patterns = { untrusted, linearPatterns: mode === 'linear' }
  const { schema, draft, text, notes } = readSchema(given, untrusted ? undefined : checkForm)
  const isSpecial = special.test(text)
  const names = collectNames(schema, { hasNames: isSpecial })
  const graph = once(() => schemaGraph(schema, names))
  if (untrusted) {
    // What is denied comes before what is malformed: `$data` is both.
    checkContent(schema, graph())
    checkForm(JSON.parse(given), draft)
  }
  if (isSpecial) checkGraph(graph(), names)
  const shared = once(() => sharedSchemas(graph()))
  const interpreter = createInterpreter(schema, {
    names,
    regex: regexEngine(patterns),
    isShared: (part) => isSpecial && shared().has(part),
  })
  const isWorthCompiling = () =>
    interpreter.visits > visitsBeforeCompiling &&
    interpreter.visits > visitsBeforeCompiling * (1 + graph().size)
  let compiled: ((value: unknown) => boolean) | undefined
  function accepts(value: unknown): boolean {
    if (compiled !== undefined) return compiled(value)
    if (isCompiler && isWorthCompiling())
      compiled = compileWithAjv(schema, graph(), patterns) ?? interpreter.accepts
    return interpreter.accepts(value)
  }
  function validate(value: unknown, limit = 100): Issue<ViolationCode>[] {
    // Most values are valid, and code says so soonest; only the interpreter knows what is wrong.
    if (isCompiler && isWorthCompiling() && accepts(value)) return []
    return toIssues(interpreter.violations(value), value, limit)
  }
  const remembers = once(() => isSpecial && isRepetitive(graph()))
  return {
    schema,
    notes,
    accepts,
    validate,
    acceptsAt: interpreter.acceptsAt,
    openSession: () =>
      remembers()
        ? interpreter.openSession()
        : { accepts, acceptsAt: interpreter.acceptsAt, judged: undefined },
  }
}

/** Names, references and patterns are looked for only where the text has such a keyword; a property of that name causes a walk in vain. */
const special = /"(?:\$(?!schema")|pattern)/

function checkGraph(graph: SchemaGraph, names: Names): void {
  checkSynchronous(graph)
  checkReferences(graph, names)
  checkLoops(graph)
  checkPatterns(graph, { linear: false })
}

/** Code is generated when so many times the size of the schema has been interpreted: about then it begins to pay. */
const visitsBeforeCompiling = 100

/** Throws `schema/invalid` where the schema breaks the meta-schema of its draft. */
function checkForm(schema: JsonSchema, draft: Draft): void {
  const found = findMalformed(schema, draft)
  if (found === undefined) return
  const keyword = tokens(found.pointer).at(-1)
  throw new ProvisoError(
    'schema/invalid',
    `The schema is not valid at ${found.pointer || 'its root'}: ${keyword ? `"${keyword}" ` : ''}${found.message}`,
    { at: { pointer: found.pointer } },
  )
}

/** Such a schema asks for a validator that returns a promise, which every caller would take for true. */
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
