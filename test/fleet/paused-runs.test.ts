/** Runs that wait for people survive a restart of everything: API, workers and database, all killed; then all of them resume. */
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { type AskSummary, createClient } from '../../src/client/index.ts'
import { chain, envelope, useFleet } from './fleet.ts'

/** Starting and killing everything takes long: only the long form runs. */
const long = process.env['PROVISO_LONG'] === '1'
const count = Number(process.env['PROVISO_PAUSED'] ?? 10_000)

describe.skipIf(!long || missingPostgres() !== undefined)('on PostgreSQL', { timeout: 1_800_000 }, () => {
  const fleet = useFleet()
  const env = { PROVISO_RATE_REQUESTS: '0', PROVISO_MAX_RUNS: String(2 * count) }

  async function inLanes(times: number, work: () => Promise<void>) {
    let left = times
    const lane = async () => {
      while (left-- > 0) await work()
    }
    await Promise.all(Array.from({ length: 20 }, lane))
  }

  it(`${count} paused runs survive a full restart, and all resume`, async () => {
    const clock = (what: string, since: number) =>
      console.log(`${what}: ${((Date.now() - since) / 1_000).toFixed(1)} s`)
    let began = Date.now()
    const open = async () => {
      const processes = [await fleet.api({ env }), await fleet.worker(), await fleet.worker()] as const
      const { address } = processes[0]
      return {
        processes,
        client: createClient({ url: address, retry: { attempts: 50, minMs: 50, maxMs: 1_000 } }),
      }
    }
    const first = await open()
    const waits = { ...envelope, policies: { requiresHitlApproval: true } }
    await inLanes(count, async () => {
      await first.client.runs.start(waits, { draft: chain('step') })
    })
    const waiting = async () => (await fleet.status()).runs['awaiting_hitl']
    await expect.poll(waiting, { interval: 500, timeout: 600_000 }).toBe(count)
    clock(`${count} runs started, and waiting`, began)

    for (const { child } of first.processes) {
      child.kill('SIGKILL')
      await once(child, 'close')
    }
    began = Date.now()
    fleet.restartDatabase()
    const { client } = await open()
    expect(await waiting()).toBe(count)
    clock('everything restarted', began)

    began = Date.now()
    const asks: AskSummary[] = []
    for await (const ask of client.asks.list()) asks.push(ask)
    expect(asks).toHaveLength(count)
    await inLanes(count, async () => {
      const ask = asks.pop()
      if (ask) await client.asks.approve(ask)
    })
    const stillOpen = async () => (await fleet.status()).runs
    await expect.poll(stillOpen, { interval: 500, timeout: 600_000 }).toEqual({})
    clock('all approved and completed', began)
    let completed = 0
    for await (const { status } of client.runs.list()) completed += status === 'completed' ? 1 : 0
    expect(completed).toBe(count)
    const keys = fleet.effects().map(({ key }) => key)
    expect([keys.length, new Set(keys).size]).toEqual([count, count])
    await fleet.verify()
  })
})
