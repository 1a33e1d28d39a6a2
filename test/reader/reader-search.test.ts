/**
 * A grammar-driven search for texts and schemas that make the reader throw or slow. Work is counted in steps of the
 * allowance, so the outcome does not depend on the machine. The long form reads 1,000,000 pairs; `node
 * scripts/reader-search.mjs --mutants` shows that restored flaws are found.
 */
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { known } from './mutants.ts'
import { search, tooMuchGrowth } from './search.ts'

const LONG = process.env['PROVISO_LONG'] === '1'
const PAIRS = LONG ? 1_000_000 : 400
/** Pairs that are read in a process of their own, whose heap is limited to so many MB. */
const CONFINED_PAIRS = LONG ? 100_000 : 100
const HEAP_LIMIT = 128

describe('growth with the text', () => {
  const of = (...works: number[]) => tooMuchGrowth('steps', 10, (times) => works[Math.log2(times)] as number)

  it('is a fault when it continues in any way', () => {
    expect(of(100, 400, 1_600, 6_400)).toContain('100, 400, 1600, 6400 steps')
    expect(of(100, 300, 600, 2_400)).toBeDefined()
  })

  it('is no fault when the work jumps once, alternates between two lines, or is small', () => {
    expect(of(100, 900, 1_800, 3_600)).toBeUndefined()
    expect(of(100, 1_900, 400, 7_600)).toBeUndefined()
    expect(of(1, 8, 16, 32)).toBeUndefined()
  })
})

describe('generated texts and schemas', () => {
  it.each(known)('$name: no exception, no limit, linear', ({ run }) => {
    expect(run()).toBeUndefined()
  })

  it(
    `in ${PAIRS} pairs: no exception, and twice the text takes at most 2.5 times the work`,
    () => {
      const { findings, limited } = search({ from: 1, pairs: PAIRS, length: 200 })
      expect(findings).toEqual([])
      expect(limited).toBeLessThanOrEqual(PAIRS / 100_000)
    },
    LONG ? 24 * 3_600_000 : 120_000,
  )

  it(
    `in ${CONFINED_PAIRS} pairs: a heap of ${HEAP_LIMIT} MB is enough`,
    () => {
      const { status, stderr } = spawnSync(
        process.execPath,
        [
          `--max-old-space-size=${HEAP_LIMIT}`,
          'scripts/reader-search.mjs',
          '--seeds',
          String(CONFINED_PAIRS),
        ],
        { encoding: 'utf8' },
      )
      expect(status, stderr).toBe(0)
    },
    LONG ? 24 * 3_600_000 : 120_000,
  )
})
