/** Reads an option that is a length of time, such as 30d or 12h, as milliseconds. */
import { InvalidArgumentError } from 'commander'

const units = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 } as const

export function duration(text: string): number {
  const [, count = '', unit = ''] = /^(\d+)([smhdw])$/.exec(text) ?? []
  const ms = Number(count) * (units[unit as keyof typeof units] ?? Number.NaN)
  if (!Number.isSafeInteger(ms)) {
    throw new InvalidArgumentError('It must be a whole number and a unit: 45s, 30m, 12h, 30d or 4w.')
  }
  return ms
}
