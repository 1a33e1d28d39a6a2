/** Reads an option that is a whole number above zero. */
import { InvalidArgumentError } from 'commander'

export function wholeNumber(text: string): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(value) || value < 1) {
    throw new InvalidArgumentError('It must be a whole number above zero.')
  }
  return value
}
