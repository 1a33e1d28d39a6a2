/**
 * The promise that only time can show: an installation that is used for long, with faults and with readers that stall, does not
 * grow, and is as it was when everybody has gone. Five minutes with `PROVISO_LONG=1`, else a few hundred runs;
 * `npm run soak` takes as long as you say.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { requireBuild, root } from '../support.ts'
import { describeSoak } from './report.ts'
import { runSoak, type SoakOptions } from './soak.ts'

const long = process.env['PROVISO_LONG'] === '1'
const minutes = long ? 5 : 0

describe('under faults and stalled readers, an installation loses nothing, does not grow, and is as before at the end', () => {
  beforeAll(requireBuild)

  const stay = async (store: SoakOptions['store'], shortRuns: number) => {
    const fewestRuns = long ? 150 : shortRuns
    const result = await runSoak({ root, store, workers: 2, minutes, faults: 0.05, fewestRuns })
    console.log(describeSoak(result))
    const { counts, wrong, samples, growth, left } = result
    expect(wrong).toEqual([])
    expect(left).toEqual([])
    expect(counts.completed + counts.failed).toBe(counts.runs)
    expect(counts.cuts).toBeGreaterThan(0)
    expect(counts.completed).toBeGreaterThan(0)
    const streams = samples.map(({ loads }) => Object.values(loads)[0]?.streams ?? 0)
    expect(Math.min(...streams)).toBeGreaterThanOrEqual(20)
    // A few seconds have no slope.
    if (long) expect(growth.filter(({ isBounded }) => !isBounded)).toEqual([])
  }

  it('one server on SQLite', () => stay('sqlite', 150), (minutes + 3) * 60_000)

  it.skipIf(!long || missingPostgres() !== undefined)(
    'an API and two workers on PostgreSQL, whose connections are cut',
    () => stay('postgres', 150),
    (minutes + 3) * 60_000,
  )
})
