/** The numbers of a value set: an interval with open or closed ends, whole or not, or a short list. */

export interface Numbers {
  readonly min: number
  readonly max: number
  readonly minOpen: boolean
  readonly maxOpen: boolean
  /** Whole numbers only; their ends are whole and closed. */
  readonly whole: boolean
  /** The only ones there can be, ascending, where they are known. */
  readonly values?: readonly number[]
}

export const allNumbers: Numbers = {
  min: Number.NEGATIVE_INFINITY,
  max: Number.POSITIVE_INFINITY,
  minOpen: true,
  maxOpen: true,
  whole: false,
}

export const wholeNumbers: Numbers = { ...allNumbers, whole: true }

export function toNumbers(values: readonly number[]): Numbers | undefined {
  const sorted = [...new Set(values)].sort((a, b) => a - b)
  const [min, max] = [sorted[0], sorted.at(-1)]
  if (min === undefined || max === undefined) return undefined
  return { min, max, minOpen: false, maxOpen: false, whole: sorted.every(Number.isInteger), values: sorted }
}

/** Numbers from or above an end. */
export function above(min: number, open: boolean): Numbers {
  return { ...allNumbers, min, minOpen: open }
}

export function below(max: number, open: boolean): Numbers {
  return { ...allNumbers, max, maxOpen: open }
}

export function holdsNumber(numbers: Numbers, value: number): boolean {
  if (numbers.values !== undefined) return numbers.values.includes(value)
  if (numbers.whole && !Number.isInteger(value)) return false
  const aboveMin = numbers.minOpen ? value > numbers.min : value >= numbers.min
  return aboveMin && (numbers.maxOpen ? value < numbers.max : value <= numbers.max)
}

export function meetNumbers(a: Numbers, b: Numbers): Numbers | undefined {
  const values = a.values ?? b.values
  if (values !== undefined) {
    return toNumbers(values.filter((value) => holdsNumber(a, value) && holdsNumber(b, value)))
  }
  return tidy({
    min: Math.max(a.min, b.min),
    minOpen: a.min === b.min ? a.minOpen || b.minOpen : a.min > b.min ? a.minOpen : b.minOpen,
    max: Math.min(a.max, b.max),
    maxOpen: a.max === b.max ? a.maxOpen || b.maxOpen : a.max < b.max ? a.maxOpen : b.maxOpen,
    whole: a.whole || b.whole,
  })
}

/** Whether every number of the first is in the second. */
export function numbersWithin(a: Numbers, b: Numbers): boolean {
  if (a.values !== undefined) return a.values.every((value) => holdsNumber(b, value))
  if (b.values !== undefined || (b.whole && !a.whole)) return false
  const aboveMin = a.min > b.min || (a.min === b.min && (a.minOpen || !b.minOpen))
  return aboveMin && (a.max < b.max || (a.max === b.max && (a.maxOpen || !b.maxOpen)))
}

/** The smallest interval around both. */
export function joinNumbers(a: Numbers, b: Numbers): Numbers {
  if (a.values && b.values && a.values.length + b.values.length <= 256) {
    return toNumbers([...a.values, ...b.values]) as Numbers
  }
  return {
    min: Math.min(a.min, b.min),
    minOpen: a.min === b.min ? a.minOpen && b.minOpen : a.min < b.min ? a.minOpen : b.minOpen,
    max: Math.max(a.max, b.max),
    maxOpen: a.max === b.max ? a.maxOpen && b.maxOpen : a.max > b.max ? a.maxOpen : b.maxOpen,
    whole: a.whole && b.whole,
  }
}

export function withoutNumber(numbers: Numbers, value: number): Numbers | undefined {
  if (numbers.values !== undefined) return toNumbers(numbers.values.filter((each) => each !== value))
  return tidy({
    ...numbers,
    minOpen: numbers.minOpen || numbers.min === value,
    maxOpen: numbers.maxOpen || numbers.max === value,
  })
}

/** Whole numbers get closed whole ends; an interval that holds nothing is undefined, a short one is listed. */
function tidy(numbers: Numbers): Numbers | undefined {
  let { min, max, minOpen, maxOpen } = numbers
  if (numbers.whole) {
    if (Number.isFinite(min)) {
      const whole = minOpen ? Math.floor(min) + 1 : Math.ceil(min)
      // Beyond 2^53 a step of one is lost; there the open end stays as it is.
      if (!(minOpen && whole === min)) [min, minOpen] = [whole, false]
    }
    if (Number.isFinite(max)) {
      const whole = maxOpen ? Math.ceil(max) - 1 : Math.floor(max)
      if (!(maxOpen && whole === max)) [max, maxOpen] = [whole, false]
    }
  }
  if (min > max || (min === max && (minOpen || maxOpen))) return undefined
  if (min === max) return toNumbers([min])
  if (numbers.whole && max - min < mostListed && Math.abs(min) < Number.MAX_SAFE_INTEGER - mostListed) {
    return toNumbers(Array.from({ length: max - min + 1 }, (_, i) => min + i))
  }
  return { min, max, minOpen, maxOpen, whole: numbers.whole }
}

/** So many whole numbers are listed one by one, so that one in their midst can be left out. */
const mostListed = 32
