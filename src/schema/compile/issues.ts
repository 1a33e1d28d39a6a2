/** Turns violations into Issues: one per thing that is wrong, located where a person would look. */
import { beginning, closest, plain } from '../../base/closest.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, jsonType, own } from '../../base/json.ts'
import { memoize } from '../../base/memoize.ts'
import { child, valueAt } from '../../base/pointer.ts'
import { clip, describe, plural } from '../describe.ts'
import { codePoints } from '../interpreter/assertions.ts'
import type { Kept } from '../interpreter/violation.ts'
import type { ViolationCode } from '../issue-table.ts'

/** At most `limit` issues for the violations of one validation of `root`. */
export function toIssues(violations: readonly Kept[], root: unknown, limit: number): Issue<ViolationCode>[] {
  const issues: Issue<ViolationCode>[] = []
  const open: Kept[] = [...violations].reverse()
  for (let kept = open.pop(); kept !== undefined && issues.length < limit; kept = open.pop()) {
    const { issue, below } = toIssue(kept, root)
    issues.push(issue)
    for (const branch of [...below].reverse()) open.push(branch)
  }
  return issues
}

function toIssue(kept: Kept, root: unknown): { issue: Issue<ViolationCode>; below: readonly Kept[] } {
  const { error } = kept
  const explained = explain(kept, root)
  const { property = error.propertyName, path = error.instancePath, below = [], message, ...rest } = explained
  const issue: Issue<ViolationCode> = {
    code: `schema/${error.keyword === 'false schema' ? 'false' : error.keyword}`,
    at: { pointer: property === undefined ? path : child(path, property) },
    message: error.propertyName === undefined ? message : `the property name ${message}`,
    ...rest,
  }
  return { issue, below }
}

// What each violated keyword means in words: one row per keyword.

interface Explanation {
  readonly message: string
  readonly expected?: unknown
  readonly actual?: unknown
  readonly hint?: string
  /** The property that is missing or too much; the issue is located there. */
  readonly property?: string
  /** Where to look, if not where the keyword applies. */
  readonly path?: string
  /** Violations to list as issues of their own. */
  readonly below?: readonly Kept[]
}

/** Lists of allowed values longer than this are cut in messages. */
const listed = 12

function explain(kept: Kept, root: unknown): Explanation {
  const { keyword, propertyName, instancePath } = kept.error
  const actual = propertyName ?? valueAt(root, instancePath)
  const row = rows[keyword]
  return row === undefined
    ? { message: `is not valid, but is ${describe(actual)}`, actual }
    : row(kept, actual, root)
}

type Row = (kept: Kept, actual: unknown, root: unknown) => Explanation

const rows: Readonly<Record<string, Row>> = {
  type({ error }, actual) {
    const types = [error.schema].flat() as string[]
    return mismatch(types.join(' or '), error.schema, actual, typeHint(types, actual))
  },
  enum({ error }, actual) {
    const allowed = error.schema as readonly unknown[]
    const near = meant(actual, allowed)
    return mismatch(listAlternatives(allowed), allowed, actual, near && `Did you mean ${near}?`)
  },
  const: ({ error }, actual) => mismatch(clip(error.schema), error.schema, actual),
  required: missing,
  dependentRequired: missing,
  additionalProperties: undeclared,
  unevaluatedProperties: undeclared,
  minLength: counted('at least', 'character'),
  maxLength: counted('at most', 'character'),
  minItems: counted('at least', 'item'),
  maxItems: counted('at most', 'item'),
  minProperties: counted('at least', 'property'),
  maxProperties: counted('at most', 'property'),
  minimum: compared('>='),
  maximum: compared('<='),
  exclusiveMinimum: compared('>'),
  exclusiveMaximum: compared('<'),
  items: counted('at most', 'item'),
  unevaluatedItems: counted('at most', 'item'),
  multipleOf: ({ error }, actual) => mismatch(`a multiple of ${error.schema}`, error.schema, actual),
  pattern({ error }, actual) {
    const message = `must match the pattern ${clip(error.schema)}, but is ${describe(actual)}`
    return { message, expected: error.schema, actual }
  },
  format: ({ error }, actual) => mismatch(`a valid ${error.schema}`, error.schema, actual),
  uniqueItems({ error }) {
    const { i, j } = error.params
    return {
      message: `must have no equal items, but items ${Math.min(i, j)} and ${Math.max(i, j)} are equal`,
    }
  },
  contains({ error }, actual) {
    const { least, most } = error.params
    const count = most === undefined ? `at least ${least}` : `${least} to ${most}`
    return { message: `must contain ${count} matching items, but is ${describe(actual)}`, actual }
  },
  not: (_, actual) => ({ message: `must not be what "not" describes, but is ${describe(actual)}`, actual }),
  'false schema': (_, actual) => ({ message: `must be absent, but is ${describe(actual)}`, actual }),
  anyOf: union,
  oneOf(kept, actual, root) {
    const passing = kept.error.params['passing'] as readonly number[]
    if (passing.length === 0) return union(kept, actual, root)
    return {
      message: `must match exactly one of the alternatives, but matches ${passing.join(' and ')} (counted from 0)`,
      actual,
    }
  },
}

function mismatch(expectation: string, expected: unknown, actual: unknown, hint?: string): Explanation {
  return {
    message: `must be ${expectation}, but is ${describe(actual)}`,
    expected,
    actual,
    ...(hint && { hint }),
  }
}

function compared(sign: string): Row {
  return ({ error }, actual) => ({
    message: `must be ${sign} ${error.schema}, but is ${describe(actual)}`,
    actual,
  })
}

function missing({ error }: Kept, actual: unknown): Explanation {
  const { missing: name, property } = error.params
  const because = property === undefined ? '' : ` when ${clip(property)} is present`
  const near = isObject(actual) ? nearest(name, Object.keys(actual)) : undefined
  return {
    message: `the property ${clip(name)} is missing${because}`,
    property: name,
    ...(near && { hint: `There is ${near}; rename it` }),
  }
}

function undeclared({ error }: Kept, actual: unknown): Explanation {
  const property = error.params['name'] as string
  const declared = isObject(error.parentSchema) ? own(error.parentSchema, 'properties') : undefined
  const near = isObject(declared) ? meant(property, Object.keys(declared)) : undefined
  return {
    message: `the property ${clip(property)} is not allowed`,
    property,
    ...(isObject(actual) && { actual: own(actual, property) }),
    hint: near ? `Did you mean ${near}?` : 'Remove it, or declare it in "properties"',
  }
}

/** A row of a keyword that limits how many there are. */
function counted(bound: string, unit: 'character' | 'item' | 'property'): Row {
  return ({ error }, actual) => {
    const limit = (error.params['limit'] ?? error.schema) as number
    const units = unit === 'property' ? 'properties' : `${unit}s`
    const count = Array.isArray(actual)
      ? actual.length
      : typeof actual === 'string'
        ? codePoints(actual)
        : Object.keys(Object(actual)).length
    return {
      message: `must have ${bound} ${plural(limit, unit, units)}, but has ${count}`,
      expected: limit,
      actual,
    }
  }
}

type Branch = readonly Kept[]

/**
 * Says what would make a branch fit, in this order: another type or constant of the value; another constant in the member
 * that distinguishes the branches; what is wrong in the closest branch.
 */
function union(kept: Kept, actual: unknown, root: unknown): Explanation {
  const { instancePath, schema } = kept.error
  const { path, words, closest } = judgeUnion(kept)
  if (words.length > 0) {
    const shown = words.length > listed ? [...words.slice(0, listed), '…'] : words
    return { path, ...mismatch(`one of ${shown.join(', ')}`, words, valueAt(root, path)) }
  }
  const count = Array.isArray(schema) ? `the ${schema.length} alternatives` : 'the alternatives'
  const message = `must match one of ${count}, but is ${describe(actual)}`
  if (closest === undefined) return { message, actual }
  let [cause] = closest.branch
  for (let inner = cause; inner !== undefined; inner = judgeUnion(inner).closest?.branch[0]) cause = inner
  if (cause === undefined) return { message, actual }
  const found = explain(cause, root)
  const where = (found.path ?? cause.error.instancePath).slice(instancePath.length)
  const wrong = `${where && `${where} `}${found.message}`
  return {
    message: `${message}; the closest is ${closest.index} (counted from 0): ${wrong}`,
    actual,
    below: closest.branch,
  }
}

/** What would make a branch of a union fit: `words` at `path`, or else what is wrong in the closest branch. */
interface Judgement {
  readonly path: string
  readonly words: readonly string[]
  readonly closest?: { readonly branch: Branch; readonly index: number }
}

/** Computed once for each violation: recursive schemas share them. */
const judgeUnion = memoize(({ error: { instancePath: path }, branches }: Kept): Judgement => {
  const near = branches.filter((branch) => listAllowed(branch, path).length === 0)
  if (near.length === 0) return { path, words: listAllAllowed(branches, path) }
  const constants = near.length > 1 ? near[0]?.filter(isConstant) : undefined
  const common = constants?.find(({ error }) =>
    near.every((branch) =>
      branch.some((kept) => isConstant(kept) && kept.error.instancePath === error.instancePath),
    ),
  )?.error.instancePath
  if (common !== undefined) return { path: common, words: listAllAllowed(near, common) }
  const branch = near.reduce((best, other) => (getDistance(other) < getDistance(best) ? other : best))
  return { path, words: [], closest: { branch, index: branches.indexOf(branch) } }
})

function listAllAllowed(branches: readonly Branch[], path: string): string[] {
  return [...new Set(branches.flatMap((branch) => listAllowed(branch, path)))]
}

/** The types and constants, in words, that a branch allows instead of the value at a path. */
function listAllowed(branch: Branch, path: string): readonly string[] {
  return branch.flatMap((kept) => {
    const { instancePath, keyword, schema } = kept.error
    if (instancePath !== path) return []
    if (keyword === 'type') return schema as string | string[]
    if (isConstant(kept))
      return (keyword === 'enum' ? (schema as unknown[]) : [schema]).map((value) => clip(value))
    const judged = judgeUnion(kept)
    return judged.path === path ? judged.words : []
  })
}

function isConstant({ error: { keyword } }: Kept): boolean {
  return keyword === 'const' || keyword === 'enum'
}

/** How far the value is from a branch: a wrong constant says that another branch is meant. */
const getDistance = memoize((branch: Branch): number =>
  branch.reduce((sum, kept) => {
    const inner = judgeUnion(kept).closest
    return sum + (inner ? getDistance(inner.branch) : isConstant(kept) ? 10 : 1)
  }, 0),
)

function listAlternatives(values: readonly unknown[]): string {
  const shown = values.slice(0, listed).map((value) => clip(value, 40))
  const rest = values.length > listed ? `, … (${values.length} in all)` : ''
  return `${values.length === 1 ? '' : 'one of '}${shown.join(', ')}${rest}`
}

function typeHint(types: readonly string[], actual: unknown): string | undefined {
  if (typeof actual !== 'string') return undefined
  if (
    types.some((type) => type === 'integer' || type === 'number') &&
    actual.trim() !== '' &&
    Number.isFinite(Number(actual))
  ) {
    return 'Write the number without quotes'
  }
  return types.includes('boolean') && /^(true|false)$/i.test(actual)
    ? 'Write true or false without quotes'
    : undefined
}

/** The listed name that was probably meant, as JSON. */
function meant(name: unknown, candidates: readonly unknown[]): string | undefined {
  if (typeof name !== 'string') return undefined
  const names = candidates.filter((candidate) => typeof candidate === 'string')
  const found = closest(name, names) ?? beginning(name, names)
  return found === undefined ? undefined : clip(found)
}

/** The candidate that differs from a name only in case, spaces, dashes or underscores, as JSON. */
function nearest(name: unknown, candidates: readonly unknown[]): string | undefined {
  if (typeof name !== 'string' || candidates.length > 1_000) return undefined
  const found = candidates.find(
    (candidate) => jsonType(candidate) === 'string' && plain(candidate as string) === plain(name),
  )
  return found === undefined ? undefined : clip(found)
}
