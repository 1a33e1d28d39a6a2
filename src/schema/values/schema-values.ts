/**
 * Which values a schema allows at a path: `lookup(schema, path)` of the prover. Walks members, items, references, allOf
 * and unions; keywords it does not know allow everything, so the answer is never too small.
 */
import { type Json, own } from '../../base/json.ts'
import { follow, indexPattern, missing } from '../condition/evaluate.ts'
import type { JsonSchema } from '../json-schema.ts'
import { above, below, type Numbers, wholeNumbers } from './number-set.ts'
import {
  getItemKeywords,
  getItemSchemas,
  getList,
  getMember,
  type Held,
  hold,
  numberAt,
  openNode,
  type Part,
  prefixLength,
} from './schema-node.ts'
import {
  everything,
  isAbsent,
  join,
  lengths,
  meet,
  nothing,
  onlyMissing,
  toValueSet,
  type ValueSet,
} from './value-set.ts'

/** Paths are the segments of a condition's variables; `*` is any element, `length` of a list its length. */
export type Path = readonly string[]

export type Lookup = (path: Path) => ValueSet

const lookups = new WeakMap<object, Lookup>()

/** The values at each path of a schema; every path is worked out once. */
export function getValueLookup(schema: JsonSchema): Lookup {
  const found = typeof schema === 'object' ? lookups.get(schema) : undefined
  if (found !== undefined) return found
  const lookup = lookupIn([hold(schema)])
  if (typeof schema === 'object') lookups.set(schema, lookup)
  return lookup
}

/** The same for several schemas that all apply. */
export function lookupIn(held: readonly Held[]): Lookup {
  const known = new Map<string, ValueSet>()
  return (path) => {
    const key = path.join('\n')
    let set = known.get(key)
    if (set === undefined) {
      set = walk({ base: [], fresh: held }, path, { left: mostSteps })
      known.set(key, set)
    }
    return set
  }
}

/** Steps of one look-up; after that everything is possible. */
const mostSteps = 5_000

interface Fuel {
  left: number
}

interface SchemaPart {
  /** Taken apart already. */
  readonly base: readonly Part[]
  readonly fresh: readonly Held[]
}

const unknown: ValueSet = { ...everything, missing: true }

function walk(part: SchemaPart, path: Path, fuel: Fuel): ValueSet {
  if (--fuel.left < 0) return path.length === 0 ? everything : unknown
  const { parts, unions, impossible } = openNode(part.base, part.fresh)
  if (impossible) return nothing
  let set = walkParts(parts, path, fuel)
  for (const { branches } of unions) {
    const each = branches.map((branch) => walk({ base: parts, fresh: [branch] }, path, fuel))
    set = meet(set, each.reduce(join, nothing))
  }
  return set
}

function walkParts(parts: readonly Part[], path: Path, fuel: Fuel): ValueSet {
  const here = ownSet(parts)
  const [segment, ...rest] = path
  if (segment === undefined) return here
  let set = nothing
  if (segment !== '*' && !isAbsent({ ...here, lists: undefined, objects: false })) set = onlyMissing
  if (here.known !== undefined) {
    return here.known.map((value) => setAt(value, path)).reduce(join, set)
  }
  if (here.objects && segment !== '*') {
    const member = getMember(parts, segment)
    if (!member.required) set = join(set, onlyMissing)
    if (!member.forbidden) set = join(set, walk({ base: [], fresh: member.held }, rest, fuel))
  }
  return here.lists === undefined ? set : join(set, inList({ parts, lengths: here.lists }, path, fuel))
}

interface List {
  readonly parts: readonly Part[]
  readonly lengths: { readonly min: number; readonly max: number }
}

function inList({ parts, lengths: { min, max } }: List, path: Path, fuel: Fuel): ValueSet {
  const [segment = '', ...rest] = path
  const at = (index: number | 'rest') => walk({ base: [], fresh: getItemSchemas(parts, index) }, rest, fuel)
  if (segment === 'length') return rest.length === 0 ? lengthSet(min, max) : onlyMissing
  if (segment === '*') {
    let set = nothing
    const prefix = Math.min(prefixLength(parts), max)
    for (let index = 0; index < prefix; index++) set = join(set, at(index))
    return max > prefix ? join(set, at('rest')) : set
  }
  if (!indexPattern.test(segment)) return onlyMissing
  const index = Number(segment)
  const set = index >= min ? onlyMissing : nothing
  return index < max ? join(set, at(index)) : set
}

function lengthSet(min: number, max: number): ValueSet {
  const numbers = { ...wholeNumbers, min, minOpen: false, max, maxOpen: max === Number.POSITIVE_INFINITY }
  return meet(everything, { ...nothing, numbers })
}

/** What a path leads to in a value that is known. */
export function setAt(value: Json, path: Path): ValueSet {
  const star = path.indexOf('*')
  if (star < 0) {
    const found = follow(value, path)
    return found === missing ? onlyMissing : toValueSet([found as Json])
  }
  const list = follow(value, path.slice(0, star))
  if (!Array.isArray(list)) return nothing
  const rest = path.slice(star + 1)
  return (list as Json[])
    .slice(0, mostSteps)
    .map((item) => setAt(item, rest))
    .reduce(join, list.length > mostSteps ? unknown : nothing)
}

/** Whether a schema names the location: in `properties` or as elements of a list, not merely by allowing more. */
export function declares(schema: JsonSchema, path: Path): boolean {
  return declaresIn({ base: [], fresh: [hold(schema)] }, path, { left: mostSteps })
}

function declaresIn(part: SchemaPart, path: Path, fuel: Fuel): boolean {
  const [segment, ...rest] = path
  if (segment === undefined) return true
  if (--fuel.left < 0) return false
  const { parts, unions } = openNode(part.base, part.fresh)
  const { known } = ownSet(parts)
  if (known?.some((value) => setAt(value, path) !== onlyMissing)) return true
  const { held, declared } = getMember(parts, segment)
  if (declared && declaresIn({ base: [], fresh: held }, rest, fuel)) return true
  if (isListSegment(segment) && parts.some(saysList)) {
    const items = getItemSchemas(parts, indexPattern.test(segment) ? Number(segment) : 'rest')
    if (rest.length === 0 || (items.length > 0 && declaresIn({ base: [], fresh: items }, rest, fuel)))
      return true
  }
  return unions.some(({ branches }) =>
    branches.some((branch) => declaresIn({ base: parts, fresh: [branch] }, path, fuel)),
  )
}

function saysList({ schema }: Part): boolean {
  return [own(schema, 'type')].flat().includes('array') || Object.hasOwn(schema, 'items')
}

/** An element, or the length, of a list. */
function isListSegment(segment: string): boolean {
  return segment === '*' || segment === 'length' || indexPattern.test(segment)
}

/** What the parts say about the value itself. */
export function ownSet(parts: readonly Part[]): ValueSet {
  let set = everything
  for (const part of parts) {
    for (const keyword of Object.keys(part.schema)) {
      const row = rows.get(keyword)
      if (row !== undefined) set = meet(set, row(part))
    }
  }
  return set
}

const typeSets: Readonly<Record<string, ValueSet>> = {
  null: { ...nothing, nil: true },
  boolean: { ...nothing, booleans: 3 },
  number: { ...nothing, numbers: everything.numbers },
  integer: { ...nothing, numbers: wholeNumbers },
  string: { ...nothing, strings: 'any' },
  array: { ...nothing, lists: everything.lists },
  object: { ...nothing, objects: true },
}

const numeric = (numbers: Numbers): ValueSet => ({ ...everything, numbers })
const bound = (part: Part, keyword: string, make: (limit: number) => ValueSet) => {
  const limit = numberAt(part.schema, keyword)
  return limit === undefined ? everything : make(limit)
}
const makeLists = (min: number, max: number): ValueSet => ({ ...everything, lists: lengths(min, max) })

/** One row per keyword that narrows the value itself. */
const rows: ReadonlyMap<string, (part: Part) => ValueSet> = new Map<string, (part: Part) => ValueSet>([
  ['type', ({ schema }) => getTypes(own(schema, 'type'))],
  ['const', ({ schema }) => toValueSet([own(schema, 'const') as Json])],
  ['enum', ({ schema }) => toValueSet(getList(schema, 'enum') as Json[])],
  ['minimum', (part) => bound(part, 'minimum', (limit) => numeric(above(limit, false)))],
  ['exclusiveMinimum', (part) => bound(part, 'exclusiveMinimum', (limit) => numeric(above(limit, true)))],
  ['maximum', (part) => bound(part, 'maximum', (limit) => numeric(below(limit, false)))],
  ['exclusiveMaximum', (part) => bound(part, 'exclusiveMaximum', (limit) => numeric(below(limit, true)))],
  [
    'multipleOf',
    (part) =>
      bound(part, 'multipleOf', (step) => (Number.isInteger(step) ? numeric(wholeNumbers) : everything)),
  ],
  ['minItems', (part) => bound(part, 'minItems', (min) => makeLists(min, Number.POSITIVE_INFINITY))],
  ['maxItems', (part) => bound(part, 'maxItems', (max) => makeLists(0, max))],
  ['items', closedList],
  ['additionalItems', closedList],
])

/** Nothing may come after the elements that have a schema of their own. */
function closedList(part: Part): ValueSet {
  const { prefix, rest } = getItemKeywords(part)
  return rest === false ? makeLists(0, prefix.length) : everything
}

function getTypes(type: unknown): ValueSet {
  const names = typeof type === 'string' ? [type] : Array.isArray(type) ? type : undefined
  if (names === undefined) return everything
  const sets = names.map((name) => typeSets[String(name)] ?? nothing)
  return sets.reduce(join, nothing)
}

/** True only when there is certainly no value. */
export function isVacant(schema: JsonSchema): boolean {
  return vacant([], [hold(schema)], firstSpot())
}

/** The same of several schemas that all apply. */
export function isVacantTogether(held: readonly Held[]): boolean {
  return vacant([], held, firstSpot())
}

const deepest = 6

interface Spot {
  readonly depth: number
  /** Schemas that may still be checked: unions in unions are many. */
  readonly steps: { left: number }
}

const firstSpot = (): Spot => ({ depth: 0, steps: { left: 500 } })

/** Whether no value satisfies all of `fresh` and the parts of `base`. */
function vacant(base: readonly Part[], fresh: readonly Held[], spot: Spot): boolean {
  if (--spot.steps.left < 0) return false
  if (isAbsent(lookupIn(fresh)([]))) return true
  const { parts, unions, impossible } = openNode(base, fresh)
  if (impossible) return true
  if (spot.depth >= deepest) return false
  const set = ownSet(parts)
  if (isAbsent(set) || isVacantHere(parts, set, spot)) return true
  return unions.some(({ branches }) => branches.every((branch) => vacant(parts, [branch], spot)))
}

/** Whether a member or an element that must be there has no value. */
function isVacantHere(parts: readonly Part[], set: ValueSet, { depth, steps }: Spot): boolean {
  const inner = { depth: depth + 1, steps }
  if (onlyKind(set, 'objects')) {
    const names = new Set(parts.flatMap(({ schema }) => getList(schema, 'required').map(String)))
    return [...names].some((name) => {
      const member = getMember(parts, name)
      return member.forbidden || vacant([], member.held, inner)
    })
  }
  return onlyKind(set, 'lists') && (set.lists?.min ?? 0) > 0 && vacant([], getItemSchemas(parts, 0), inner)
}

/** Nothing else than objects, or than lists, of which nothing more is known. */
function onlyKind(set: ValueSet, kind: 'objects' | 'lists'): boolean {
  if (set.known !== undefined || !set[kind]) return false
  return isAbsent(kind === 'objects' ? { ...set, objects: false } : { ...set, lists: undefined })
}
