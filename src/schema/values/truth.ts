/** Whether comparisons of value sets may be true and may be false; both, when it depends. */
import { type Json, jsonEqual } from '../../base/json.ts'
import type { Order } from '../condition/expr.ts'
import type { Numbers } from './number-set.ts'
import { isAbsent, isEmpty, listed, mayBeOther, meet, toValueSet, type ValueSet } from './value-set.ts'

/** May be true, may be false. Neither: the place is impossible. */
export interface Truth {
  readonly mayHold: boolean
  readonly mayFail: boolean
}

export const depends: Truth = { mayHold: true, mayFail: true }
export const always: Truth = { mayHold: true, mayFail: false }
export const never: Truth = { mayHold: false, mayFail: true }
const impossible: Truth = { mayHold: false, mayFail: false }

export const negate = (truth: Truth): Truth => ({ mayHold: truth.mayFail, mayFail: truth.mayHold })

export function every(truths: readonly Truth[]): Truth {
  return {
    mayHold: truths.every((truth) => truth.mayHold),
    mayFail: truths.some((truth) => truth.mayFail),
  }
}

export function any(truths: readonly Truth[]): Truth {
  return negate(every(truths.map(negate)))
}

/** Only `true` is true. */
export function isTrue(set: ValueSet): Truth {
  const rest = { ...set, booleans: set.booleans & 1 }
  return { mayHold: (set.booleans & 2) !== 0, mayFail: !isEmpty(rest) }
}

export function isMissing(set: ValueSet): Truth {
  return { mayHold: set.missing, mayFail: !isAbsent(set) }
}

export function isEqual(left: ValueSet, right: ValueSet): Truth {
  if (isEmpty(left) || isEmpty(right)) return impossible
  const common = !isAbsent(meet({ ...left, missing: false }, { ...right, missing: false }))
  const single = !left.missing && !right.missing && listed(left)?.length === 1 && listed(right)?.length === 1
  return { mayHold: common, mayFail: !(common && single) }
}

export function isOrdered(op: Order, left: ValueSet, right: ValueSet): Truth {
  if (isEmpty(left) || isEmpty(right)) return impossible
  const other = mayBeOther(left) || mayBeOther(right)
  const [a, b] = [left.numbers, right.numbers]
  if (a === undefined || b === undefined) return never
  switch (op) {
    case '<':
      return { mayHold: mayBeLess(a, b), mayFail: other || mayBeAtLeast(a, b) }
    case '>=':
      return { mayHold: mayBeAtLeast(a, b), mayFail: other || mayBeLess(a, b) }
    case '>':
      return { mayHold: mayBeLess(b, a), mayFail: other || mayBeAtLeast(b, a) }
    case '<=':
      return { mayHold: mayBeAtLeast(b, a), mayFail: other || mayBeLess(b, a) }
  }
}

/** Some number of the first is less than some of the second. */
function mayBeLess(a: Numbers, b: Numbers): boolean {
  return a.min < b.max
}

/** Some number of the first is not less than some of the second. */
function mayBeAtLeast(a: Numbers, b: Numbers): boolean {
  return a.max > b.min || (a.max === b.min && !a.maxOpen && !b.minOpen)
}

/** In a list that is known: equal to one of its values. */
export function isAmong(set: ValueSet, values: readonly Json[]): Truth {
  if (isEmpty(set)) return impossible
  const known = listed(set)
  const inside = (value: Json) => values.some((each) => jsonEqual(each, value))
  if (known !== undefined) {
    return { mayHold: known.some(inside), mayFail: set.missing || !known.every(inside) }
  }
  return { mayHold: values.some((value) => mayBe(set, value)), mayFail: true }
}

function mayBe(set: ValueSet, value: Json): boolean {
  return !isAbsent(meet({ ...set, missing: false }, toValueSet([value])))
}
