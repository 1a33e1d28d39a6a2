/** Tests durability guarantees with `kill -9`; `npm run kill` is the long form. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compile } from '../../scripts/compile.mjs'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { type CampaignResult, type Lane, laneCount, runCampaign } from './campaign.ts'
import { openLanes } from './postgres-lanes.ts'
import { describeCampaign } from './report.ts'
import { expected, runTrial } from './trial.ts'

const long = process.env['PROVISO_LONG'] === '1'
const limitMs = long ? 60 * 60_000 : 5 * 60_000
/** Generous limit, because shared machines are slow; on an idle one this is below two seconds. */
const promptMs = 15_000

let program = ''
let dispose = () => {}
beforeAll(async () => {
  const compiled = await compile({ child: 'test/kill/child.ts' })
  program = compiled.programs.child
  dispose = compiled.dispose
})
afterAll(() => dispose())

function nothingIsWrong(result: CampaignResult) {
  console.log(describeCampaign(result))
  expect(result.violations).toEqual([])
  expect(result).toMatchObject({ lost: 0, duplicated: 0, first: { missed: [] }, recovery: { missed: [] } })
  // A short campaign does not repeat points: each death of a first life covers a new one.
  if (!long) expect(result.first.covered).toBe(result.first.kills)
  expect(result.recovery.covered).toBeGreaterThan(0)
  expect(result.recoveryMs.p50).toBeLessThan(promptMs)
}

describe('a process killed at any boundary', () => {
  it(
    'loses nothing and doubles nothing on SQLite, and continues without waiting for leases',
    async () => {
      const lanes: Lane[] = Array.from({ length: laneCount() }, () => ({}))
      nothingIsWrong(await runCampaign({ program, store: 'sqlite', kills: long ? 700 : 24, seed: 1, lanes }))
    },
    limitMs,
  )
})

const missing = missingPostgres()

describe.skipIf(missing !== undefined)('on PostgreSQL', () => {
  let cluster: Cluster
  let opened: Awaited<ReturnType<typeof openLanes>>
  beforeAll(async () => {
    cluster = await start()
    opened = await openLanes(cluster.url, laneCount())
  })
  afterAll(async () => {
    await opened?.close()
    cluster?.stop()
  })

  it(
    'a process killed at any boundary loses nothing and doubles nothing',
    async () => {
      const { lanes } = opened
      const kills = long ? 700 : 12
      nothingIsWrong(await runCampaign({ program, store: 'postgres', kills, seed: 1, lanes, leaseMs: 500 }))
    },
    limitMs,
  )

  it(
    'a server that dies again and again ends no process, loses nothing and doubles nothing',
    async () => {
      const [lane] = opened.lanes
      let events = 0
      let restarts = 0
      const trial = await runTrial({
        program,
        name: 'restarts',
        runs: 20,
        seed: 1,
        leaseMs: 500,
        progress: true,
        // Between the first event and the last; a process that exits on its own is a violation.
        onReport(report) {
          if (report.kind !== 'progress' || ++events % 150 !== 0 || restarts === (long ? 20 : 4)) return
          restarts++
          cluster.restartImmediate()
        },
        expected,
        ...lane,
      })
      expect(trial.violations).toEqual([])
      expect(trial).toMatchObject({ lost: 0, duplicated: 0 })
      expect(restarts).toBeGreaterThanOrEqual(3)
    },
    limitMs,
  )
})
