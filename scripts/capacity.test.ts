import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { assumed, plan, simulate } from './capacity-model.mjs'

const script = fileURLToPath(new URL('capacity.mjs', import.meta.url))
const page = new URL('../docs/scaling.md', import.meta.url)
const run = (...args: string[]) => spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
const measured = {
  ...{ nodes: 10, nodeCpuMs: 1, serverMs: 5, storedBytes: 1024 * 1024, walBytes: 2 * 1024 * 1024 },
  ...{ rows: 80, commits: 10 },
}

describe('the capacity model', () => {
  it('multiplies what a run takes with the runs at the peak', () => {
    const given = { ...assumed, peak: 2, use: 0.5, keepDays: 1 }
    const needed = plan({ runsPerDay: 864_000, nodes: 10 }, measured, given)
    expect(needed.runsPerSecond).toEqual({ average: 10, peak: 20 })
    expect(needed.cores).toBeCloseTo(0.4)
    expect(needed.database).toMatchObject({
      cores: 0.2,
      walMbPerSecond: 40,
      commitsPerSecond: 200,
      rowsPerDay: 69_120_000,
    })
    expect([needed.limit, needed.databases]).toEqual(['walMbPerSecond', 1])
    expect(plan({ runsPerDay: 8_640_000, nodes: 20 }, measured, given).databases).toBe(16)
  })

  it('waits as queueing theory says: one process at half of its capacity waits as long as it works', () => {
    const { use, waitMs } = simulate({ arrivals: 50, processes: 1, workMs: 10, seconds: 4_000 })
    expect(use).toBeGreaterThan(0.48)
    expect(use).toBeLessThan(0.52)
    // M/M/1: P(wait > t) = 0.5 exp(-50 t), so 1 % wait for longer than 78 ms.
    expect(waitMs.p99).toBeGreaterThan(68)
    expect(waitMs.p99).toBeLessThan(88)
    expect(simulate({ arrivals: 50, processes: 2, workMs: 10, seconds: 4_000 }).waitMs.p99).toBeLessThan(
      waitMs.p99,
    )
  })

  it('is printed with what is measured and assumed, and takes other figures', () => {
    const { status, stdout } = run('--runs-per-day', '1000000', '--set', 'peak=1', '--json')
    expect(status).toBe(0)
    const { results, assumed: used } = JSON.parse(stdout)
    expect([results.length, results[0].runsPerSecond.peak, used.peak]).toEqual([1, 1_000_000 / 86_400, 1])
    const printed = run().stdout.split('\nMeasured:')[0]?.trim() ?? ''
    expect(printed).toContain('100,000,000 runs a day')
    expect(readFileSync(page, 'utf8')).toContain(printed)
    const wrong = run('--set', 'peek=1')
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('--set must be NAME=NUMBER')])
  })
})
