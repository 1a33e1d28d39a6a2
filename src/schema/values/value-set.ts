/**
 * The abstract domain of the prover: which values a location may hold. Each kind of value has its own component, so that
 * "missing, or a number from 3" can be said exactly; everything else is widened, never narrowed.
 */
import { isObject, type Json, jsonEqual } from '../../base/json.ts'
import {
  allNumbers,
  joinNumbers,
  meetNumbers,
  type Numbers,
  numbersWithin,
  toNumbers,
  withoutNumber,
} from './number-set.ts'

export interface ValueSet {
  /** The location may be absent. */
  readonly missing: boolean
  readonly nil: boolean
  /** Which booleans: bit 1 false, bit 2 true. */
  readonly booleans: number
  readonly numbers: Numbers | undefined
  readonly strings: 'any' | readonly string[]
  /** Lists, by their length. */
  readonly lists: Lengths | undefined
  readonly objects: boolean
  /** The only lists and objects there can be, where they are known. */
  readonly known?: readonly Json[]
}

export interface Lengths {
  readonly min: number
  readonly max: number
}

export const nothing: ValueSet = {
  missing: false,
  nil: false,
  booleans: 0,
  numbers: undefined,
  strings: [],
  lists: undefined,
  objects: false,
}

/** Every value, but not absence. */
export const everything: ValueSet = {
  missing: false,
  nil: true,
  booleans: 3,
  numbers: allNumbers,
  strings: 'any',
  lists: { min: 0, max: Number.POSITIVE_INFINITY },
  objects: true,
}

export const onlyMissing: ValueSet = { ...nothing, missing: true }

export function isEmpty(set: ValueSet): boolean {
  return !set.missing && isAbsent(set)
}

/** No value is possible there. */
export function isAbsent(set: ValueSet): boolean {
  return !set.nil && set.booleans === 0 && set.numbers === undefined && !hasTexts(set) && !hasParts(set)
}

function hasTexts(set: ValueSet): boolean {
  return set.strings === 'any' || set.strings.length > 0
}

function hasParts(set: ValueSet): boolean {
  return set.lists !== undefined || set.objects
}

/** The set of exactly these values. */
export function toValueSet(values: readonly Json[]): ValueSet {
  const lists = values.filter((value) => Array.isArray(value)) as (readonly Json[])[]
  const objects = values.filter((value) => isObject(value))
  return {
    missing: false,
    nil: values.includes(null),
    booleans: (values.includes(false) ? 1 : 0) | (values.includes(true) ? 2 : 0),
    numbers: toNumbers(values.filter((value) => typeof value === 'number')),
    strings: [...new Set(values.filter((value) => typeof value === 'string'))],
    lists: lists.length === 0 ? undefined : getLengths(lists),
    objects: objects.length > 0,
    ...(lists.length + objects.length > 0 && { known: [...lists, ...objects] as Json[] }),
  }
}

function getLengths(lists: readonly (readonly Json[])[]): Lengths {
  const lengths = lists.map((list) => list.length)
  return { min: Math.min(...lengths), max: Math.max(...lengths) }
}

export function meet(a: ValueSet, b: ValueSet): ValueSet {
  const met = {
    missing: a.missing && b.missing,
    nil: a.nil && b.nil,
    booleans: a.booleans & b.booleans,
    numbers: a.numbers && b.numbers && meetNumbers(a.numbers, b.numbers),
    strings: meetTexts(a.strings, b.strings),
    lists:
      a.lists && b.lists && lengths(Math.max(a.lists.min, b.lists.min), Math.min(a.lists.max, b.lists.max)),
    objects: a.objects && b.objects,
  }
  return narrowed(met, meetKnown(a.known, b.known))
}

/** Keeps the known lists and objects that the rest still allows, and of the rest what they still hold. */
function narrowed(set: Omit<ValueSet, 'known'>, known: readonly Json[] | undefined): ValueSet {
  if (known === undefined || !(set.lists !== undefined || set.objects)) return set
  const left = known.filter((value) =>
    Array.isArray(value)
      ? set.lists !== undefined && value.length >= set.lists.min && value.length <= set.lists.max
      : set.objects,
  )
  const lists = left.filter((value) => Array.isArray(value)) as (readonly Json[])[]
  return {
    ...set,
    lists: lists.length === 0 ? undefined : getLengths(lists),
    objects: lists.length < left.length,
    ...(left.length > 0 && { known: left }),
  }
}

export function join(a: ValueSet, b: ValueSet): ValueSet {
  if (a === nothing) return b
  if (b === nothing) return a
  const known = joinKnown(a, b)
  return {
    missing: a.missing || b.missing,
    nil: a.nil || b.nil,
    booleans: a.booleans | b.booleans,
    numbers: a.numbers && b.numbers ? joinNumbers(a.numbers, b.numbers) : (a.numbers ?? b.numbers),
    strings: joinTexts(a.strings, b.strings),
    lists:
      a.lists && b.lists
        ? { min: Math.min(a.lists.min, b.lists.min), max: Math.max(a.lists.max, b.lists.max) }
        : (a.lists ?? b.lists),
    objects: a.objects || b.objects,
    ...(known && { known }),
  }
}

export function lengths(min: number, max: number): Lengths | undefined {
  return min <= max ? { min, max } : undefined
}

/** How many listed values are kept before a set is widened to all of their kind. */
const mostListed = 256

function meetTexts(a: ValueSet['strings'], b: ValueSet['strings']): ValueSet['strings'] {
  if (a === 'any') return b
  return b === 'any' ? a : a.filter((text) => b.includes(text))
}

function joinTexts(a: ValueSet['strings'], b: ValueSet['strings']): ValueSet['strings'] {
  if (a === 'any' || b === 'any') return 'any'
  if (a.length === 0) return b
  const both = new Set([...a, ...b])
  return both.size > mostListed ? 'any' : [...both]
}

function meetKnown(a: ValueSet['known'], b: ValueSet['known']): ValueSet['known'] {
  if (a === undefined || b === undefined) return a ?? b
  return a.filter((value) => b.some((other) => jsonEqual(value, other)))
}

function joinKnown(a: ValueSet, b: ValueSet): ValueSet['known'] {
  if ((hasParts(a) && !a.known) || (hasParts(b) && !b.known)) return undefined
  const both = [...(a.known ?? []), ...(b.known ?? [])]
  return both.length === 0 || both.length > mostListed ? undefined : both
}

/** Whether every value of the first is in the second. */
export function isWithin(a: ValueSet, b: ValueSet): boolean {
  const texts =
    b.strings === 'any' || (a.strings !== 'any' && a.strings.every((text) => b.strings.includes(text)))
  const lists =
    a.lists === undefined ||
    (b.lists !== undefined && a.lists.min >= b.lists.min && a.lists.max <= b.lists.max)
  return (
    (!a.missing || b.missing) &&
    (!a.nil || b.nil) &&
    (a.booleans & ~b.booleans) === 0 &&
    (a.numbers === undefined || (b.numbers !== undefined && numbersWithin(a.numbers, b.numbers))) &&
    texts &&
    lists &&
    (!a.objects || b.objects) &&
    (b.known === undefined || !hasParts(a) || isKnownIn(a.known, b.known))
  )
}

function isKnownIn(known: ValueSet['known'], others: readonly Json[]): boolean {
  return known?.every((value) => others.some((other) => jsonEqual(value, other))) ?? false
}

/** The values one by one, when there are few; absence is not among them. */
export function listed(set: ValueSet): readonly Json[] | undefined {
  if (set.strings === 'any' || (hasParts(set) && !set.known)) return undefined
  if (set.numbers !== undefined && set.numbers.values === undefined) return undefined
  return [
    ...(set.nil ? [null] : []),
    ...(set.booleans & 1 ? [false] : []),
    ...(set.booleans & 2 ? [true] : []),
    ...(set.numbers?.values ?? []),
    ...set.strings,
    ...(set.known ?? []),
  ]
}

/** The set without one value, as far as that can be said. */
export function without(set: ValueSet, value: Json): ValueSet {
  if (value === null) return { ...set, nil: false }
  switch (typeof value) {
    case 'boolean':
      return { ...set, booleans: set.booleans & (value ? 1 : 2) }
    case 'number':
      return { ...set, numbers: set.numbers && withoutNumber(set.numbers, value) }
    case 'string':
      return set.strings === 'any' ? set : { ...set, strings: set.strings.filter((text) => text !== value) }
    default:
      return set.known
        ? narrowed(
            set,
            set.known.filter((each) => !jsonEqual(each, value)),
          )
        : set
  }
}

/** Only its numbers, present. */
export function onlyNumbers(set: ValueSet): ValueSet {
  return { ...nothing, numbers: set.numbers }
}

/** Whether something else than a number may be there, absence included. */
export function mayBeOther(set: ValueSet): boolean {
  return set.missing || !isAbsent({ ...set, numbers: undefined })
}
