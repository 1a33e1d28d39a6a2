/** Long lists of allowed values: one word of prose is found among thousands of values by one pass over the text. */
import { describe, expect, it } from 'vitest'
import { findListedWords } from '../../src/output/find/scalars.ts'
import { parse } from '../../src/output/index.ts'
import { Random } from '../random.ts'

const listOf = (size: number) => Array.from({ length: size }, (_, i) => `value number ${i} of the list`)

/** How many patterns are compiled while the text is read. */
function countPatterns(read: () => void): number {
  const original = globalThis.RegExp
  let made = 0
  globalThis.RegExp = new Proxy(original, {
    construct(target, given: [string, string?]) {
      made++
      return new target(...given)
    },
  })
  try {
    read()
  } finally {
    globalThis.RegExp = original
  }
  return made
}

describe('a list of allowed values', () => {
  it('costs no pattern per value, found or not', () => {
    for (const text of ['I would say nothing like it', 'It is value number 7 of the list, I think']) {
      const patterns = [20, 2_000].map((size) => {
        const schema = { enum: listOf(size) }
        parse(text, schema)
        return countPatterns(() => parse(text, schema))
      })
      expect(patterns[1]).toBe(patterns[0])
    }
  })

  it('is searched as a pattern per value would', () => {
    const random = new Random(16)
    const parts = [
      'a',
      'B',
      'ab',
      'Σ',
      'ς',
      'ı',
      'I',
      'İ',
      'ſ',
      'ß',
      'É',
      '$',
      ' ',
      ' ',
      '-',
      '.',
      '_',
      '7',
      '𝒳',
      '\u0301',
    ]
    const word = (length: number) => Array.from({ length }, () => random.pick(parts)).join('')
    for (let turn = 0; turn < 100; turn++) {
      const values = Array.from({ length: random.int(1, 4) }, () => word(random.int(1, 3)))
      const text = word(random.int(0, 13))
      const found = [...findListedWords(text, values)].map(({ start, length }) => `${start}+${length}`)
      expect(found.sort(), JSON.stringify({ text, values })).toEqual(byPattern(text, values).sort())
    }
  })
})

function byPattern(text: string, values: readonly string[]): string[] {
  return values.flatMap((value) => {
    if (!/[\p{L}\p{N}]/u.test(value.normalize('NFKD'))) return []
    const literal = value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    const match = new RegExp(`(?<![\\p{L}\\p{N}_])${literal}(?![\\p{L}\\p{N}_])`, 'iu').exec(text)
    return match === null ? [] : [`${match.index}+${match[0].length}`]
  })
}
