/**
 * A grammar-driven search for texts and schemas that make the reader throw or slow. Work is counted in steps of the
 * allowance, so the outcome does not depend on the machine. The long form reads 1,000,000 pairs; `node
 * scripts/reader-search.mjs --mutants` shows that restored flaws are found.
 */
import { describe, expect, it } from 'vitest'
import { known } from './reader/mutants.ts'
import { search } from './reader/search.ts'

const LONG = process.env['PROVISO_LONG'] === '1'
const PAIRS = LONG ? 1_000_000 : 2_000

describe('generated texts and schemas', () => {
  it.each(known)('$name: no exception, no limit, linear', ({ run }) => {
    expect(run()).toBeUndefined()
  })

  it(
    `in ${PAIRS} pairs: no exception, and twice the text takes at most 2.5 times the steps`,
    () => {
      expect(search({ from: 1, pairs: PAIRS, length: 200 })).toEqual([])
    },
    LONG ? 24 * 3_600_000 : 120_000,
  )
})
