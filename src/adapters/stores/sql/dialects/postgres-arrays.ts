/**
 * Encodes lists as PostgreSQL arrays in its binary format: a statement gets a whole column of rows as one value, nothing is
 * escaped, and the server copies instead of parsing.
 */
import { toColumn } from '../../shared/column-text.ts'

/** Ids of types, which no server changes. */
const textType = 25
const doubleType = 701
const headerLength = 20
const doubleLength = 8

export function toTextArray(values: readonly unknown[]): Buffer {
  const texts = new Array<string | null>(values.length)
  let length = headerLength
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    const text = value === null || value === undefined ? null : toColumn(String(value))
    texts[index] = text
    length += 4 + (text === null ? 0 : Buffer.byteLength(text))
  }
  const array = Buffer.allocUnsafe(length)
  let at = writeHeader(array, textType, texts)
  for (const text of texts) {
    if (text === null) at = array.writeInt32BE(-1, at)
    else {
      const written = array.write(text, at + 4)
      array.writeInt32BE(written, at)
      at += 4 + written
    }
  }
  return array
}

export function toNumberArray(values: readonly unknown[]): Buffer {
  const array = Buffer.allocUnsafe(headerLength + values.length * (4 + doubleLength))
  let at = writeHeader(array, doubleType, values)
  for (const value of values) {
    if (value === null || value === undefined) at = array.writeInt32BE(-1, at)
    else at = array.writeDoubleBE(Number(value), array.writeInt32BE(doubleLength, at))
  }
  return array.subarray(0, at)
}

/** One dimension that begins with 1, and whether nulls are among the values. */
function writeHeader(array: Buffer, type: number, values: readonly unknown[]): number {
  const hasNull = values.some((value) => value === null || value === undefined)
  let at = 0
  for (const number of [1, hasNull ? 1 : 0, type, values.length, 1]) at = array.writeInt32BE(number, at)
  return at
}
