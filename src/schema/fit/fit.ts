/**
 * Does every value of one schema satisfy another? Asked by the prover wherever one node's output becomes another's input.
 * Yes is proved, no comes with a value that shows it, and everything else is unknown: then the value itself is
 * validated at run time.
 */
import { isObject, type Json, setOwn } from '../../base/json.ts'
import type { Pointer } from '../../base/pointer.ts'
import { type CompiledSchema, type CompileOptions, compileSchema } from '../compile/compile.ts'
import type { JsonSchema } from '../json-schema.ts'
import { holdsNumber } from '../values/number-set.ts'
import {
  getItemSchemas,
  getMember,
  getRecord,
  type Held,
  hold,
  openNode,
  type Part,
} from '../values/schema-node.ts'
import { ownSet } from '../values/schema-values.ts'
import type { ValueSet } from '../values/value-set.ts'
import { proofGap } from './fit-proof.ts'

export type Fit =
  | { readonly kind: 'yes' }
  /** `witness` satisfies the first schema and breaks the second at `pointer` by `keyword`. */
  | { readonly kind: 'no'; readonly witness: Json; readonly pointer: Pointer; readonly keyword: string }
  /** The location and keyword that could not be proved. */
  | { readonly kind: 'unknown'; readonly pointer: Pointer; readonly keyword: string }

/**
 * @example
 * checkFit({ type: 'integer', minimum: 1 }, { type: 'number', exclusiveMinimum: 0 }) // { kind: 'yes' }
 */
export function checkFit(from: JsonSchema, to: JsonSchema, options: CompileOptions = {}): Fit {
  const gap = proofGap(hold(from), hold(to), options)
  if (gap === undefined) return { kind: 'yes' }
  const [source, target] = [compileSchema(from, options), compileSchema(to, options)]
  const values = listedIn(from)
  if (values !== undefined) {
    const wrong = values.find((value) => !target.accepts(value))
    return wrong === undefined ? { kind: 'yes' } : refuted(wrong, target)
  }
  for (const witness of makeSamples(from, to)) {
    if (source.accepts(witness) && !target.accepts(witness)) return refuted(witness, target)
  }
  return { kind: 'unknown', ...gap }
}

/** The values of a schema that says no more than which they are: whether they fit need not be guessed. */
function listedIn(schema: JsonSchema): readonly Json[] | undefined {
  if (typeof schema === 'boolean') return undefined
  const [keyword, ...others] = Object.keys(schema)
  if (others.length > 0) return undefined
  if (keyword === 'const') return [schema['const'] as Json]
  return keyword === 'enum' && Array.isArray(schema['enum']) ? (schema['enum'] as Json[]) : undefined
}

function refuted(witness: Json, target: CompiledSchema): Fit {
  const [issue] = target.validate(witness, 1)
  return {
    kind: 'no',
    witness,
    pointer: issue && 'pointer' in issue.at ? issue.at.pointer : '',
    keyword: issue?.code.replace('schema/', '') ?? 'false',
  }
}

// Values that a schema probably allows and another perhaps does not: ends of intervals, short and long lists, absent and
// additional members, with the numbers and names of either schema. Candidates only; `fit` asks Ajv about each.

function makeSamples(from: JsonSchema, to: JsonSchema): readonly Json[] {
  const hints = collectHints([from, to])
  return sample({ base: [], fresh: [hold(from)] }, hints, { depth: 0, steps: { left: 2_000 } }).slice(
    0,
    mostSamples,
  )
}

/** Where nothing is said, one of each kind will do. */
const anything: readonly Json[] = ['x', 0, 0.5, true, null, {}, [], ['x'], [0], [{}]]

const mostSamples = 400
/** Of each member and element. */
const mostInner = 12
const deepest = 6

interface Hints {
  readonly numbers: readonly number[]
  readonly texts: readonly string[]
  readonly names: readonly string[]
}

interface Side {
  readonly base: readonly Part[]
  readonly fresh: readonly Held[]
}

interface Spot {
  readonly depth: number
  readonly steps: { left: number }
}

function sample(side: Side, hints: Hints, spot: Spot): Json[] {
  if (--spot.steps.left < 0) return []
  const { parts, unions, impossible } = openNode(side.base, side.fresh)
  if (impossible) return []
  if (parts.length === 0) return [...anything, ...hints.numbers, ...hints.texts]
  const [union] = unions
  if (union !== undefined) {
    return union.branches.flatMap((branch) => sample({ base: parts, fresh: [branch] }, hints, spot))
  }
  const set = ownSet(parts)
  const inner = { depth: spot.depth + 1, steps: spot.steps }
  return [
    ...scalars(set, hints),
    ...(set.known ?? []),
    ...(set.known || !set.lists || spot.depth > deepest ? [] : lists({ parts, set }, hints, inner)),
    ...(set.known || !set.objects || spot.depth > deepest ? [] : objects({ parts, set }, hints, inner)),
  ]
}

function scalars(set: ValueSet, hints: Hints): Json[] {
  const numbers = set.numbers
  const near = [0, 1, 0.5, numbers?.min ?? 0, numbers?.max ?? 0, ...hints.numbers].flatMap((n) => [
    n,
    n + 1,
    n - 1,
    n + 0.5,
  ])
  const texts = ['', 'x', ...hints.texts, ...hints.numbers.flatMap((n) => makeTexts(n))]
  return [
    ...(set.strings === 'any' ? texts : set.strings),
    ...(numbers === undefined
      ? []
      : (numbers.values ?? near.filter((n) => Number.isFinite(n) && holdsNumber(numbers, n)))),
    ...(set.booleans & 2 ? [true] : []),
    ...(set.booleans & 1 ? [false] : []),
    ...(set.nil ? [null] : []),
  ]
}

/** Texts as long as a number that may be a limit, and one longer or shorter. */
function makeTexts(length: number): string[] {
  if (!Number.isInteger(length) || length < 1 || length > 2_000) return []
  return [length - 1, length, length + 1].map((each) => 'x'.repeat(each))
}

interface Node {
  readonly parts: readonly Part[]
  readonly set: ValueSet
}

function lists({ parts, set }: Node, hints: Hints, spot: Spot): Json[] {
  const { min, max } = set.lists ?? { min: 0, max: 0 }
  const near = [min, min + 1, max, ...hints.numbers, ...hints.numbers.map((n) => n + 1)]
  const sizes = [...new Set(near)].filter((n) => Number.isInteger(n) && n >= min && n <= Math.min(max, 200))
  const each = sample({ base: [], fresh: getItemSchemas(parts, 0) }, hints, spot).slice(0, mostInner)
  const at = (index: number) =>
    sample({ base: [], fresh: getItemSchemas(parts, index) }, hints, spot)[0] ?? null
  return sizes.flatMap((size) => {
    const first = Array.from({ length: size }, (_, index) => (index < 4 ? at(index) : at(4)))
    if (size === 0 || size > 4) return [first]
    return [
      first,
      ...each.map((item) => [item, ...first.slice(1)]),
      ...each.map((item) => Array(size).fill(item)),
    ]
  })
}

function objects({ parts }: Node, hints: Hints, spot: Spot): Json[] {
  const declared = parts.flatMap(({ schema }) => Object.keys(getRecord(schema, 'properties')))
  const names = [...new Set([...declared, ...hints.names, 'additional'])].slice(0, 60)
  const members = names.flatMap((name) => {
    const { held, required, forbidden } = getMember(parts, name)
    const values = forbidden ? [] : sample({ base: [], fresh: held }, hints, spot).slice(0, mostInner * 2)
    return values.length === 0 ? [] : [{ name, required, declared: declared.includes(name), values }]
  })
  const [least, most]: [Record<string, Json>, Record<string, Json>] = [{}, {}]
  for (const { name, required, declared: named, values } of members) {
    if (required) setOwn(least, name, values[0])
    if (required || named) setOwn(most, name, values[0])
  }
  const varied = members.flatMap(({ name, values }) =>
    values.map((value) => {
      const copy = { ...least }
      setOwn(copy, name, value)
      return copy
    }),
  )
  return [least, most, ...varied]
}

/** The numbers, texts and names anywhere in the schemas. */
function collectHints(schemas: readonly JsonSchema[]): Hints {
  const [numbers, texts, names] = [new Set<number>(), new Set<string>(), new Set<string>()]
  const queue: unknown[] = [...schemas]
  for (let at = 0; at < queue.length && at < 2_000; at++) {
    const value = queue[at]
    if (typeof value === 'number' && numbers.size < 12) numbers.add(value)
    if (typeof value === 'string' && texts.size < 12) texts.add(value)
    if (Array.isArray(value)) for (const each of value.slice(0, 100)) queue.push(each)
    if (!isObject(value)) continue
    for (const [key, held] of Object.entries(value)) {
      if ((key === 'properties' || key === 'patternProperties') && isObject(held)) {
        for (const name of Object.keys(held)) if (names.size < 60) names.add(name)
      }
      if (key !== 'title' && key !== 'description' && key !== '$schema') queue.push(held)
    }
  }
  return { numbers: [...numbers], texts: [...texts], names: [...names] }
}
