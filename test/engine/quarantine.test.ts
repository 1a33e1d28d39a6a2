/** A run whose call costs one process after another its lease is quarantined, until an operator resumes or cancels it. */
import { afterEach, describe, expect, it } from 'vitest'
import { openStore } from '../../src/adapters/stores/open-store.ts'
import { type App, createApp, defineCapability, type Store } from '../../src/index.ts'

const schema = { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } }
const leaseMs = 150

const closing: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close()
})

/** Two processes that renew their leases too late while they are stuck, as if their loop had stood still. */
async function twoApps(world: { isStuck: boolean; calls: number }): Promise<{ apps: App[]; store: Store }> {
  const store = await openStore('memory:')
  const late: Store = {
    ...store,
    async renew(request) {
      if (world.isStuck) await new Promise((resolve) => setTimeout(resolve, 3 * leaseMs))
      return store.renew(request)
    },
  }
  const says = defineCapability({
    capabilityId: 'says',
    inputContract: { type: 'object' },
    outputContract: schema,
    idempotent: true,
    async run() {
      world.calls++
      while (world.isStuck) await new Promise((resolve) => setTimeout(resolve, 10))
      return { n: 1 }
    },
  })
  const options = { env: {}, store: late, capabilities: [says], leaseMs, pollMs: 20 }
  const apps = [await createApp(options), await createApp(options)]
  closing.push(...apps, store)
  return { apps, store }
}

const envelope = { objective: 'A number', outputContract: { schema } }
const draft = { nodes: [{ id: 'says', capabilityId: 'says' }] }

async function quarantined() {
  const world = { isStuck: true, calls: 0 }
  const { apps, store } = await twoApps(world)
  const [first] = apps as [App, App]
  const { id: runId } = await first.start(envelope, { draft })
  await expect.poll(async () => (await store.head(runId))?.status, { timeout: 20_000 }).toBe('quarantined')
  return { world, first, store, runId }
}

describe('a run that lost two leases in one attempt', () => {
  it('is quarantined with a reason, listed, and not called again', async () => {
    const { world, first, store, runId } = await quarantined()
    expect((await first.state(runId)).paused).toEqual({
      reason: '"says" has cost 2 processes their lease: each was too busy to renew it',
      isQuarantine: true,
    })
    expect((await store.runs({ status: ['quarantined'] })).map((head) => head.runId)).toEqual([runId])
    const { calls } = world
    expect(calls).toBeLessThanOrEqual(3)
    await new Promise((resolve) => setTimeout(resolve, 4 * leaseMs))
    expect(world.calls).toBe(calls)
    expect((await store.head(runId))?.status).toBe('quarantined')
  })

  it('continues when an operator resumes it', async () => {
    const { world, first, runId } = await quarantined()
    world.isStuck = false
    await first.resume(runId, { by: 'ann' })
    expect(await first.result(runId)).toMatchObject({ status: 'completed', output: { n: 1 } })
  })

  it('ends when an operator cancels it', async () => {
    const { world, first, runId } = await quarantined()
    world.isStuck = false
    await first.cancel(runId, { by: 'ann' })
    expect(await first.result(runId)).toMatchObject({ status: 'cancelled' })
  })
})
