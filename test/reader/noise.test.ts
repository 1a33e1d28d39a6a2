/** The reader against the seeded noise corpus: right where the information is there, no guess where it is not. */
import { describe, expect, it } from 'vitest'
import { parse } from '../../src/output/index.ts'
import {
  describeMisses,
  familyCorpus,
  NOISE_FAMILIES,
  noiseCorpus,
  type ReadFunction,
  score,
  share,
} from '../../src/testing/index.ts'

const SEED = 20_250_614

const read: ReadFunction = (text, schema, options) => {
  const result = parse(text, schema, options)
  return result.ok
    ? { ok: true, value: result.value }
    : { ok: false, reason: result.issues[0]?.message ?? '' }
}

describe.each([
  { name: 'one kind of damage each', combine: false, count: 3000 },
  { name: 'two or three kinds stacked', combine: true, count: 1500 },
])('noise, $name', ({ combine, count }) => {
  const result = score(noiseCorpus({ seed: SEED, count, combine }), read)
  const report = `seed ${SEED}\n${describeMisses(result, 20)}`

  it('is read exactly in at least 99 of 100 texts that hold the answer', () => {
    if (result.misses.length > 0) console.log(report)
    expect(share(result.recoverable), report).toBeGreaterThanOrEqual(0.99)
  })

  it('never leads to an invented value', () => {
    expect(result.lost.invented, report).toBe(0)
  })

  it('never makes the reader throw', () => {
    expect(result.recoverable.threw + result.lost.threw, report).toBe(0)
  })
})

describe('noise of families', () => {
  const corpus = [...familyCorpus({ seed: SEED, count: 600 })]

  it.each(NOISE_FAMILIES)('$name: at least 995 of 1000 are right, and nothing is invented', ({ name }) => {
    const result = score(
      corpus.filter(({ family }) => family === name),
      read,
    )
    const report = `seed ${SEED}\n${describeMisses(result, 20)}`
    if (result.misses.length > 0) console.log(report)
    expect(share(result.recoverable), report).toBeGreaterThanOrEqual(0.995)
    expect(result.lost.invented + result.lost.threw + result.recoverable.threw, report).toBe(0)
  })
})
