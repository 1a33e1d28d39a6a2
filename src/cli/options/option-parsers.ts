/** Parses option values: durations, whole numbers, amounts and ports. */
import { InvalidArgumentError } from 'commander'

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const

/** Parses a duration option, such as 30d or 12h, to milliseconds. */
export function duration(text: string): number {
  const [, count = '', unit = ''] = /^(\d+)([smhdw])$/.exec(text) ?? []
  const ms = Number(count) * (units[unit as keyof typeof units] ?? Number.NaN)
  if (!Number.isSafeInteger(ms)) {
    throw new InvalidArgumentError('Must be a whole number and a unit: 45s, 30m, 12h, 30d or 4w.')
  }
  return ms
}

/** The same for a lifetime, which must not be over at once. */
export function lifetime(text: string): number {
  const ms = duration(text)
  if (ms === 0) throw new InvalidArgumentError('Must be longer than zero: 12h, 90d or 52w.')
  return ms
}

export function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('Must be a whole number above zero.')
  }
  return value
}

/** Parses an amount of money: 0.05, 2. */
export function amount(text: string): number {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new InvalidArgumentError('Must be a number, such as 0.05 or 2.')
  return Number(text)
}

/** Parses a port from 0 to 65535, where 0 picks a free one. */
export function readPort(text: string): number | undefined {
  const value = Number(text)
  return /^\d+$/.test(text) && value <= 65_535 ? value : undefined
}
