/** T10: no text makes the reader slow, overflow or throw; doubling the text at most doubles the time, and a little. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { parse } from '../src/output/index.ts'
import { hostileTexts } from '../src/testing/index.ts'

/** T10 asks for 1, 2 and 4 MB, which takes minutes: the long form does that, the short one looks for the same growth earlier. */
const LONG = process.env['PROVISO_LONG'] === '1'
const SIZES = (LONG ? [1024, 2048, 4096] : [128, 256, 512]).map((kilo) => kilo * 1024)
const DOUBLING = 2.5
const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'object' } } },
  required: ['a'],
}

/** Below this many milliseconds a measurement says nothing about growth. */
const NOISE_FLOOR = 10

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

function once(text: string): number {
  const start = performance.now()
  parse(text, SCHEMA)
  return performance.now() - start
}

/**
 * The worst doubling. The machine is shared, so the sizes take turns and the fastest turn of each counts; as long as the
 * growth looks bad there are more turns, which a reader that is really slow does not gain by.
 */
function worstGrowth(make: (size: number) => string): { ratio: number; times: readonly number[] } {
  const times = SIZES.map(() => Number.POSITIVE_INFINITY)
  let ratio = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 12 && (turn < 2 || ratio > DOUBLING); turn++) {
    SIZES.forEach((size, i) => {
      const text = make(size)
      collect()
      times[i] = Math.min(times[i]!, once(text))
    })
    const floored = times.map((time) => Math.max(time, NOISE_FLOOR))
    ratio = Math.max(...floored.slice(1).map((time, i) => time / floored[i]!))
  }
  return { ratio, times }
}

describe('hostile texts', () => {
  it('come in at least forty shapes', () => {
    expect(hostileTexts.length).toBeGreaterThanOrEqual(40)
    expect(new Set(hostileTexts.map((shape) => shape.name)).size).toBe(hostileTexts.length)
  })

  it.each(hostileTexts)(
    '$name: linear time, with and without a schema, and no exception',
    ({ make }) => {
      for (const size of [0, 1, 2, 17]) {
        expect(() => parse(make(size))).not.toThrow()
        expect(() => parse(make(size), SCHEMA)).not.toThrow()
      }
      // Small ones first: a reader that is quadratic would not come back from the large ones.
      for (const kilo of [16, 64])
        expect(once(make(kilo * 1024)), `milliseconds at ${kilo} KB`).toBeLessThanOrEqual(1000)
      expect(() => parse(make(64 * 1024))).not.toThrow()
      const { ratio, times } = worstGrowth(make)
      const sizes = SIZES.map((size) => size / 1024).join(', ')
      const shown = times.map((time) => time.toFixed(1)).join(', ')
      expect(ratio, `milliseconds at ${sizes} KB: ${shown}`).toBeLessThanOrEqual(DOUBLING)
      // A hard limit far from the goal (50 ms for 1 MB, which the bench prints): only a hang should meet it.
      expect(times.at(-1)).toBeLessThanOrEqual(LONG ? 40_000 : 5_000)
    },
    LONG ? 600_000 : 60_000,
  )

  it('100,000 levels deep: a clear issue at once, closed properly or not', () => {
    for (const text of ['['.repeat(100_000), '['.repeat(100_000) + ']'.repeat(100_000)]) {
      const result = parse(text)
      expect(result.ok).toBe(false)
      expect(result.issues[0]?.message).toMatch(/dep|nest/i)
      expect(Math.min(once(text), once(text), once(text))).toBeLessThanOrEqual(1000)
    }
  })

  it('99,999 levels deep and closed properly is valid JSON', () => {
    expect(parse('['.repeat(99_999) + ']'.repeat(99_999)).ok).toBe(true)
  })
})
