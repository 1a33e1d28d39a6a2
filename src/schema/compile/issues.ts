/** Turns violations into Issues: one per thing that is wrong, located where a person would look. */
import { beginning, closest, plain } from '../../base/closest.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, jsonType, own } from '../../base/json.ts'
import { child, valueAt } from '../../base/pointer.ts'
import { clip, describe, plural } from '../describe.ts'
import type { Kept } from '../interpreter/violation.ts'
import type { ViolationCode } from '../issue-table.ts'

/** At most `limit` issues for the violations of one validation of `root`. */
export function toIssues(violations: readonly Kept[], root: unknown, limit: number): Issue<ViolationCode>[] {
  const issues: Issue<ViolationCode>[] = []
  const open: Kept[] = [...violations].reverse()
  for (let kept = open.pop(); kept !== undefined && issues.length < limit; kept = open.pop()) {
    issues.push(toIssue(kept, root))
    for (const branch of informative(kept).reverse()) open.push(branch)
  }
  return issues
}

/** Of a failed union, what went wrong inside a branch; that another branch is of another type says nothing. */
function informative({ error, branches }: Kept): Kept[] {
  if (error.keyword === 'contains' || error.params['passingSchemas']) return []
  return branches.filter(
    (branch) => branch.error.instancePath !== error.instancePath || !dull.has(branch.error.keyword),
  )
}

const dull = new Set(['type', 'const', 'enum'])

function toIssue(kept: Kept, root: unknown): Issue<ViolationCode> {
  const { error } = kept
  const actual = error.propertyName ?? valueAt(root, error.instancePath)
  const { property = error.propertyName, message, ...rest } = explain(kept, actual)
  return {
    code: `schema/${error.keyword === 'false schema' ? 'false' : error.keyword}`,
    at: { pointer: property === undefined ? error.instancePath : child(error.instancePath, property) },
    message: error.propertyName === undefined ? message : `the property name ${message}`,
    ...rest,
  }
}

// What each violated keyword means in words: one row per keyword.

interface Explanation {
  readonly message: string
  readonly expected?: unknown
  readonly actual?: unknown
  readonly hint?: string
  /** The property that is missing or too much; the issue is located there. */
  readonly property?: string
}

/** Lists of allowed values longer than this are cut in messages. */
const listed = 12

function explain(kept: Kept, actual: unknown): Explanation {
  const row = rows[kept.error.keyword]
  return row === undefined
    ? { message: `is not valid, but is ${describe(actual)}`, actual }
    : row(kept, actual)
}

type Row = (kept: Kept, actual: unknown) => Explanation

const rows: Readonly<Record<string, Row>> = {
  type({ error }, actual) {
    const types = [error.params['type']].flat() as string[]
    return mismatch(types.join(' or '), error.params['type'], actual, typeHint(types, actual))
  },
  enum({ error }, actual) {
    const allowed = error.params['allowedValues'] as readonly unknown[]
    const near = meant(actual, allowed)
    return mismatch(listAlternatives(allowed), allowed, actual, near && `Did you mean ${near}?`)
  },
  const({ error }, actual) {
    return mismatch(clip(error.params['allowedValue']), error.params['allowedValue'], actual)
  },
  required: missing,
  dependentRequired: missing,
  additionalProperties: (kept, actual) => undeclared(kept, actual, kept.error.params['additionalProperty']),
  unevaluatedProperties: (kept, actual) => undeclared(kept, actual, kept.error.params['unevaluatedProperty']),
  minLength: counted('at least', 'character'),
  maxLength: counted('at most', 'character'),
  minItems: counted('at least', 'item'),
  maxItems: counted('at most', 'item'),
  minProperties: counted('at least', 'property'),
  maxProperties: counted('at most', 'property'),
  minimum: compared,
  maximum: compared,
  exclusiveMinimum: compared,
  exclusiveMaximum: compared,
  items: counted('at most', 'item'),
  unevaluatedItems: counted('at most', 'item', 'len'),
  multipleOf({ error }, actual) {
    return mismatch(`a multiple of ${error.params['multipleOf']}`, error.params['multipleOf'], actual)
  },
  pattern({ error }, actual) {
    const pattern = error.params['pattern']
    return {
      message: `must match the pattern ${clip(pattern)}, but is ${describe(actual)}`,
      expected: pattern,
      actual,
    }
  },
  format({ error }, actual) {
    return mismatch(`a valid ${error.params['format']}`, error.params['format'], actual)
  },
  uniqueItems({ error }) {
    const { i, j } = error.params
    return {
      message: `must have no equal items, but items ${Math.min(i, j)} and ${Math.max(i, j)} are equal`,
    }
  },
  contains({ error }, actual) {
    const { minContains, maxContains } = error.params
    const count = maxContains === undefined ? `at least ${minContains}` : `${minContains} to ${maxContains}`
    return { message: `must contain ${count} matching items, but is ${describe(actual)}`, actual }
  },
  not: (_, actual) => ({ message: `must not be what "not" describes, but is ${describe(actual)}`, actual }),
  'false schema': (_, actual) => ({ message: `must be absent, but is ${describe(actual)}`, actual }),
  anyOf: union,
  oneOf(kept, actual) {
    const passing = kept.error.params['passingSchemas'] as readonly number[] | null
    if (!passing) return union(kept, actual)
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

function compared({ error }: Kept, actual: unknown): Explanation {
  const { comparison, limit } = error.params
  return { message: `must be ${comparison} ${limit}, but is ${describe(actual)}`, actual }
}

function missing({ error }: Kept, actual: unknown): Explanation {
  const property = error.params['missingProperty'] as string
  const because =
    error.params['property'] === undefined ? '' : ` when ${clip(error.params['property'])} is present`
  const near = isObject(actual) ? nearest(property, Object.keys(actual)) : undefined
  return {
    message: `the property ${clip(property)} is missing${because}`,
    property,
    ...(near && { hint: `There is ${near}; rename it` }),
  }
}

function undeclared({ error }: Kept, actual: unknown, property: string): Explanation {
  const declared = isObject(error.parentSchema) ? own(error.parentSchema, 'properties') : undefined
  const near = isObject(declared) ? meant(property, Object.keys(declared)) : undefined
  return {
    message: `the property ${clip(property)} is not allowed`,
    property,
    ...(isObject(actual) && { actual: own(actual, property) }),
    hint: near ? `Did you mean ${near}?` : 'Remove it, or declare it in "properties"',
  }
}

/** A row of a keyword that limits how many there are; `param` holds the limit. */
function counted(bound: string, unit: 'character' | 'item' | 'property', param = 'limit'): Row {
  return ({ error }, actual) => {
    const limit = error.params[param]
    const units = unit === 'property' ? 'properties' : `${unit}s`
    const count = Array.isArray(actual)
      ? actual.length
      : typeof actual === 'string'
        ? [...actual].length
        : Object.keys(Object(actual)).length
    return {
      message: `must have ${bound} ${plural(limit, unit, units)}, but has ${count}`,
      expected: limit,
      actual,
    }
  }
}

/** When all branches only ask for other types or constants, the union is said in one sentence. */
function union({ error, branches }: Kept, actual: unknown): Explanation {
  const wanted: unknown[] = []
  for (const { error: branch } of branches) {
    if (branch.instancePath !== error.instancePath) return alternatives(error.schema, actual)
    if (branch.keyword === 'type') wanted.push(...[branch.params['type']].flat())
    else if (branch.keyword === 'const') wanted.push(clip(branch.params['allowedValue']))
    else if (branch.keyword === 'enum')
      wanted.push(...branch.params['allowedValues'].map((value: unknown) => clip(value)))
    else return alternatives(error.schema, actual)
  }
  if (wanted.length === 0) return alternatives(error.schema, actual)
  const words = [...new Set(wanted)] as string[]
  const shown = words.length > listed ? [...words.slice(0, listed), '…'] : words
  return mismatch(`one of ${shown.join(', ')}`, words, actual)
}

function alternatives(branches: unknown, actual: unknown): Explanation {
  const count = Array.isArray(branches) ? `the ${branches.length} alternatives` : 'the alternatives'
  return { message: `must match one of ${count}, but is ${describe(actual)}`, actual }
}

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
