/** One row per keyword that speaks about the value itself: does it hold for every value on the left? */
import { own } from '../../base/json.ts'
import { getList, getMember, numberAt, type Part } from '../values/schema-node.ts'
import { ownSet } from '../values/schema-values.ts'
import { isWithin, type ValueSet } from '../values/value-set.ts'

/** What is known of the values on the left: parts taken apart, and the values that they allow. */
export interface Left {
  readonly parts: readonly Part[]
  readonly set: ValueSet
}

type Row = (left: Left, part: Part) => boolean

/** Keywords whose set of values is exactly what `ownSet` says. */
const exactly =
  (keyword: string): Row =>
  (left, { schema, scope }) => {
    return isWithin(left.set, ownSet([{ schema: { [keyword]: schema[keyword] }, scope }]))
  }

const noTexts: Row = ({ set }) => set.strings !== 'any' && set.strings.length === 0
const noObjects: Row = ({ set }) => !set.objects
const noLists: Row = ({ set }) => set.lists === undefined
const never: Row = () => false

/** The left side says the same keyword with a limit that is at least as tight. */
const tighter =
  (keyword: string, isTighter: (left: number, right: number) => boolean): Row =>
  (left, part) => {
    const wanted = numberAt(part.schema, keyword) ?? Number.NaN
    return left.parts.some(({ schema }) => isTighter(numberAt(schema, keyword) ?? Number.NaN, wanted))
  }

const or =
  (...rows: readonly Row[]): Row =>
  (left, part) =>
    rows.some((row) => row(left, part))

export const fitRows: ReadonlyMap<string, Row> = new Map<string, Row>([
  ...[
    'type',
    'const',
    'enum',
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'minItems',
    'maxItems',
  ].map((keyword): [string, Row] => [keyword, exactly(keyword)]),
  ['multipleOf', or(({ set }) => set.numbers === undefined, wholeStep)],
  [
    'minLength',
    or(
      noTexts,
      (_, { schema }) => own(schema, 'minLength') === 0,
      tighter('minLength', (a, b) => a >= b),
    ),
  ],
  [
    'maxLength',
    or(
      noTexts,
      tighter('maxLength', (a, b) => a <= b),
    ),
  ],
  ['pattern', noTexts],
  ['format', noTexts],
  ['required', or(noObjects, requires)],
  [
    'minProperties',
    or(
      noObjects,
      countsMembers,
      tighter('minProperties', (a, b) => a >= b),
    ),
  ],
  [
    'maxProperties',
    or(
      noObjects,
      tighter('maxProperties', (a, b) => a <= b),
    ),
  ],
  ['patternProperties', noObjects],
  ['propertyNames', noObjects],
  ['dependentRequired', noObjects],
  ['dependentSchemas', noObjects],
  ['dependencies', noObjects],
  ['unevaluatedProperties', or(noObjects, allows('unevaluatedProperties'))],
  [
    'uniqueItems',
    or(
      noLists,
      ({ set }) => (set.lists?.max ?? 0) <= 1,
      (_, { schema }) => schema['uniqueItems'] === false,
    ),
  ],
  ['contains', noLists],
  ['unevaluatedItems', or(noLists, allows('unevaluatedItems'))],
  ['not', never],
  ['if', never],
  ['$dynamicRef', never],
  ['$recursiveRef', never],
])

/** Every keyword that can refuse a value; all others are annotations or are followed by `openNode`. */
export const asserting: ReadonlySet<string> = new Set([
  ...fitRows.keys(),
  ...[
    '$ref',
    'anyOf',
    'oneOf',
    'properties',
    'additionalProperties',
    'items',
    'prefixItems',
    'additionalItems',
  ],
])

/** Ajv divides and compares with a parsed text, which goes wrong far out: only numbers well inside are certain. */
const certainUpTo = 1e15

function wholeStep({ set, parts }: Left, { schema }: Part): boolean {
  const step = numberAt(schema, 'multipleOf') ?? Number.NaN
  const numbers = set.numbers
  if (numbers === undefined || !numbers.whole || !Number.isInteger(step)) return false
  if (numbers.min < -certainUpTo || numbers.max > certainUpTo) return false
  return step === 1 || parts.some((part) => (numberAt(part.schema, 'multipleOf') ?? Number.NaN) % step === 0)
}

function requires({ parts }: Left, { schema }: Part): boolean {
  return getList(schema, 'required').every((name) => getMember(parts, String(name)).required)
}

function countsMembers({ parts }: Left, { schema }: Part): boolean {
  const names = new Set(parts.flatMap((part) => getList(part.schema, 'required')))
  return names.size >= (numberAt(schema, 'minProperties') ?? Number.NaN)
}

function allows(keyword: string): Row {
  return (_, { schema }) => schema[keyword] === true
}
