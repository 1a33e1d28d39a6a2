/**
 * A real process is killed with SIGKILL before and after every write of a loop with parallel tools, while its model
 * answers and while a tool acts; others continue. `npm run kill -- --loop` is the long form.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { compile } from '../../scripts/compile.mjs'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { isClean, type SweepResult, sweep } from './killed/sweep.ts'

const isLong = process.env['PROVISO_LONG'] === '1'

let program = ''
let dispose = () => {}
beforeAll(async () => {
  const compiled = await compile({ child: 'test/tools/killed/child.ts' })
  program = compiled.programs.child
  dispose = compiled.dispose
})
afterAll(() => dispose())

function expectClean(result: SweepResult, points = 80): void {
  expect(result).toMatchObject({ ended: ['ended completed'], findings: [] })
  expect(result.points).toBeGreaterThan(points)
  expect(isClean(result), JSON.stringify(result)).toBe(true)
  // A call that must not be repeated is in doubt at some of the points, and a person is asked.
  if (isLong) expect(result.doubts).toBeGreaterThan(0)
}

const limits = { timeout: 900_000 }

describe('a loop whose process is killed', () => {
  it('doubles no effect, pays no turn twice and keeps approvals, wherever it was', limits, async () =>
    expectClean(await sweep({ program, stride: isLong ? 1 : 20, lanes: 4 })),
  )

  it('does the same within an agent that is its tool, and after a hand-off', limits, async () =>
    expectClean(await sweep({ program, scenario: 'agents', stride: isLong ? 1 : 20, lanes: 4 }), 60),
  )

  describe.skipIf(missingPostgres() !== undefined)('on PostgreSQL', () => {
    let cluster: Cluster
    beforeAll(async () => {
      cluster = await start()
    })
    afterAll(() => cluster?.stop())

    it('does the same, with two processes that continue it', limits, async () =>
      expectClean(await sweep({ program, stride: isLong ? 1 : 30, lanes: 4, postgres: cluster.url })),
    )
  })
})
