/** The engine and an interpreter that shares no code with it agree on what drafts mean (`npm run interpret`). */
import { describe, expect, it } from 'vitest'
import { expectOneLocation, runScript } from '../run-script.ts'
import { mutants } from './mutants.ts'
import type { CaseSummary } from './run-cases.ts'

const long = process.env['PROVISO_LONG'] === '1'
const minutes = 60_000
const drafts = long ? 40_000 : 600

describe('random drafts', () => {
  it(
    'run as an independent interpreter says: which nodes, how often, with which inputs, and the answer',
    async () => {
      const { disagreeing, cases, completed, skipped } = await runScript<CaseSummary>(
        'interpret',
        '--drafts',
        String(drafts),
      )
      expect(disagreeing).toEqual([])
      expect(cases).toBe(drafts)
      // Neither side has an easy time: half of the drafts run to their end, and much of them is skipped.
      expect(completed).toBeGreaterThan(drafts * 0.4)
      expect(skipped).toBeGreaterThan(drafts)
    },
    long ? 60 * minutes : 10 * minutes,
  )

  it(
    'show every defect of earlier versions that is put back',
    async () => {
      const { caught, missed } = await runScript<{ caught: unknown[]; missed: string[] }>(
        'interpret',
        '--mutants',
        ...(long ? [] : ['--short']),
      )
      expect(missed).toEqual([])
      expect(caught).toHaveLength(mutants.length)
    },
    long ? 60 * minutes : 10 * minutes,
  )

  it('know the place of every defect', () => expectOneLocation(mutants))
})
