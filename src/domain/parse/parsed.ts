/**
 * What all parsers of nouns share: their result (the value with all defaults filled, or the issues with their locations),
 * and the checks for duplicates, misspelled keys, schemas and conditions.
 */

import { closest } from '../../base/closest.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json } from '../../base/json.ts'
import { child, type Pointer, tokens } from '../../base/pointer.ts'
import { createTextCache, type TextCache } from '../../base/text-cache.ts'
import { listMembers, project } from '../../schema/build/project.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import { describe } from '../../schema/describe.ts'
import type { ConditionIssueCode, RefusedSchemaCode, ViolationCode } from '../../schema/issue-table.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { ParseIssue, ParseIssueCode } from './issue-table.ts'

export type Parsed<T, Code extends string = ParseIssueCode> =
  | { readonly ok: true; readonly value: T; readonly warnings: readonly Issue<Code>[] }
  | { readonly ok: false; readonly issues: readonly Issue<Code>[]; readonly warnings: readonly Issue<Code>[] }

export interface ParseNounOptions {
  /**
   * Checks a condition; issues are located inside the condition. Default: only the form is checked (an object with one
   * operator, or a boolean), because the operators belong to the module `schema`.
   */
  readonly checkCondition?: (condition: Json) => readonly Issue<ConditionIssueCode>[]
  /** Equal contracts, policies and drafts may be one object, which is frozen. Default false. */
  readonly isShared?: boolean
}

/** What a parser has found on its way; it grows until the parser is done. */
export interface FoundIssues<Code extends string = ParseIssueCode> {
  readonly issues: Issue<Code>[]
  readonly warnings: Issue<Code>[]
}

/** Takes over what the parser of a part has found, located from the whole. */
export function addBelow<Code extends string>(
  findings: FoundIssues<Code>,
  at: Pointer,
  part: { readonly issues?: readonly Issue<Code>[]; readonly warnings?: readonly Issue<Code>[] },
): void {
  findings.issues.push(...(part.issues ?? []).map((issue) => below(at, issue)))
  findings.warnings.push(...(part.warnings ?? []).map((issue) => below(at, issue)))
}

/** The value if nothing is wrong with it. */
export function settle<T>({ issues, warnings }: FoundIssues, value: () => T): Parsed<T> {
  return issues.length > 0 ? { ok: false, issues, warnings } : { ok: true, value: value(), warnings }
}

/** The issue as seen from a larger value that holds the part at `pointer`. */
export function below<Code extends string>(pointer: Pointer, issue: Issue<Code>): Issue<Code> {
  if (pointer === '' || !('pointer' in issue.at)) return issue
  return { ...issue, at: { pointer: pointer + issue.at.pointer } }
}

/**
 * Wraps a parser of plain JSON: with `isShared`, an equal value is parsed once. Callers send the same contracts, policies and
 * drafts with every run, and what is the same object is also compiled, proved, sealed and hashed once.
 */
export function shareParsed<T>(
  parse: (value: Json, options: ParseNounOptions) => Parsed<T>,
): (value: Json, options: ParseNounOptions) => Parsed<T> {
  // Another check of conditions may find other issues.
  const byCheck = new WeakMap<object, TextCache<Parsed<T>>>()
  return (value, options) => {
    if (!options.isShared) return parse(value, options)
    const check = options.checkCondition ?? checkForm
    const known = byCheck.get(check) ?? createTextCache<Parsed<T>>()
    byCheck.set(check, known)
    const text = JSON.stringify(value)
    const found = known.get(text)
    if (found !== undefined) return found
    const parsed = parse(value, options)
    // What is refused is corrected, and does not come again.
    if (parsed.ok) known.set(text, frozen(parsed))
    return parsed
  }
}

/** Frozen, because a program that changed the value of one run would change those of others. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const member of Object.values(value)) frozen(member)
  return value
}

// Checks lists for duplicate names.

/** Returns one issue per repeated name; `pointer` locates the name with a given index. */
export function repeatIssues(
  names: readonly string[],
  what: string,
  { code, pointer }: { readonly code: ParseIssueCode; readonly pointer: (index: number) => Pointer },
): ParseIssue[] {
  const seen = new Set<string>()
  return names.flatMap((name, index) => {
    if (!seen.has(name)) {
      seen.add(name)
      return []
    }
    const message = `the ${what} ${JSON.stringify(name.slice(0, 80))} is there twice`
    return [{ code, at: { pointer: pointer(index) }, message, hint: 'Remove or rename one' }]
  })
}

// Finds misspelled keys in free objects, so that a misspelled limit or gate is not ignored silently.

/** Every key beginning like this is meant as a limit. */
const looksLikeLimit = /^max[A-Z_]/

export function nearMisses(given: unknown, known: readonly string[], at: Pointer): ParseIssue[] {
  if (!isObject(given)) return []
  return Object.keys(given).flatMap((key): ParseIssue[] => {
    if (known.includes(key)) return []
    const meant = closest(key, known) ?? completed(key, known)
    const isLimit = looksLikeLimit.test(key) && known.some((name) => looksLikeLimit.test(name))
    if (meant === undefined && !isLimit) return []
    return [
      {
        code: 'schema/additionalProperties',
        at: { pointer: child(at, key) },
        message: `the property ${JSON.stringify(key.slice(0, 80))} is not known and would have no effect`,
        hint:
          meant === undefined
            ? `There are ${known.filter((name) => looksLikeLimit.test(name)).join(', ')}`
            : `Did you mean ${JSON.stringify(meant)}?`,
      },
    ]
  })
}

/** Returns the known name that a key is a prefix of, or that is a prefix of the key: `maxCost` for `maxCostUsd`. */
function completed(key: string, known: readonly string[]): string | undefined {
  const plain = (name: string) => name.toLowerCase().replaceAll('_', '')
  return key.length < 6 ? undefined : known.find((name) => plain(name).startsWith(plain(key)))
}

// Checks the top-level schema, and the schemas and conditions inside a value.

/** What a value has that its noun does not allow. `free` says where data of one's own may go instead. */
export function checkNoun(schema: JsonSchema, value: Json, free: string): Issue<ViolationCode>[] {
  return compileSchema(schema)
    .validate(value)
    .map((issue) => {
      if (issue.code === 'schema/required') return withMisspelled(issue, value)
      return issue.code === 'schema/additionalProperties' && !issue.hint?.startsWith('Did you mean')
        ? { ...issue, hint: withoutOwnData(schema, issue) ?? free }
        : issue
    })
}

/** More names than this do not help. */
const mostNames = 12

/** Names the keys of a part of a noun that has no place for data of one's own. */
function withoutOwnData(schema: JsonSchema, { at }: Pick<Issue, 'at'>): string | undefined {
  const pointer = 'pointer' in at ? at.pointer : ''
  const isPart = tokens(pointer).length > 1
  const names = isPart ? describeNames(schema, pointer) : undefined
  return names?.includes(' metadata') ? undefined : names
}

/** Names the keys that may be in the place of an unknown one; nothing where there are none, or too many. */
export function describeNames(schema: JsonSchema, unknown: Pointer): string | undefined {
  const parent = tokens(unknown).slice(0, -1).reduce<string>(child, '')
  const names = listMembers(project(schema, parent).schema).map(({ name }) => name)
  return names.length === 0 || names.length > mostNames ? undefined : `Use one of ${names.join(', ')}`
}

/** A missing key may be there under a misspelled name. */
function withMisspelled<Code extends string>(issue: Issue<Code>, value: Json): Issue<Code> {
  if (issue.hint !== undefined || !('pointer' in issue.at)) return issue
  const path = tokens(issue.at.pointer)
  const key = path.at(-1) ?? ''
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((found, name) => (found as { [name: string]: unknown } | undefined)?.[name], value)
  const near = isObject(parent) ? closest(key, Object.keys(parent)) : undefined
  return near === undefined ? issue : { ...issue, hint: `There is ${JSON.stringify(near)}; rename it` }
}

/**
 * Removes patterns and formats that the limits of untrusted schemas refuse from the JSON Schema of a schema of another
 * library, such as those of `z.ulid()` and `z.ipv6()`. The validator of the library checks them, so the JSON Schema only says
 * less.
 */
export function relaxSchema(schema: JsonSchema): JsonSchema {
  const [issue] = checkSchema(schema, '')
  if (issue === undefined || !/\(limit: (pattern|format)\)$/.test(issue.message) || !('pointer' in issue.at))
    return schema
  const path = tokens(issue.at.pointer)
  const keyword = path.at(-1)
  if (keyword !== 'pattern' && keyword !== 'format') return schema
  // A copy: compiled schemas are found by identity.
  const copy = structuredClone(schema)
  const parent = path
    .slice(0, -1)
    .reduce<unknown>((found, name) => (found as { [name: string]: unknown })[name], copy)
  delete (parent as { pattern?: unknown; format?: unknown })[keyword]
  return relaxSchema(copy)
}

/** Checks whether an embedded schema can be used; it is untrusted. */
export function checkSchema(schema: unknown, at: Pointer): Issue<RefusedSchemaCode>[] {
  try {
    compileSchema(schema as JsonSchema, { untrusted: true })
    return []
  } catch (cause) {
    if (!(cause instanceof ProvisoError)) throw cause
    const { message, hint } = cause
    // The compiler of schemas throws no other codes.
    const code = cause.code as RefusedSchemaCode
    const inside = cause.at !== undefined && 'pointer' in cause.at ? cause.at.pointer : ''
    return [{ code, at: { pointer: at + inside }, message, ...(hint !== undefined && { hint }) }]
  }
}

/** Whether a condition inside a noun can be evaluated. */
export function checkCondition(condition: Json, at: Pointer, options: ParseNounOptions): ParseIssue[] {
  const check = options.checkCondition ?? checkForm
  return check(condition).map((issue) => below(at, issue))
}

function checkForm(condition: Json): ParseIssue[] {
  if (typeof condition === 'boolean' || (isObject(condition) && Object.keys(condition).length === 1))
    return []
  return [
    {
      code: 'condition/form',
      at: { pointer: '' },
      message: `a condition must be an object with one operator, but is ${describe(condition)}`,
      hint: 'Write it like { ">=": [{ "var": "qaFindings.overallScore" }, 0.8] }; join several with "and"',
    },
  ]
}
