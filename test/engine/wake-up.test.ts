/** Processes on one PostgreSQL wake each other: a run that waits for a process is claimed at once, not at the next poll. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { createApp } from '../../src/index.ts'
import { local, open } from '../journeys/support.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const envelope = { objective: 'Answer', outputContract: { schema: text } }
const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
/** Longer than any test: nothing is found by polling. */
const pollMs = 3_600_000

describe.skipIf(missingPostgres() !== undefined)('on PostgreSQL', { timeout: 60_000 }, () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await start()
  }, 60_000)
  afterAll(() => cluster?.stop())

  it('a worker claims what another process starts, and what a third one gives back', async () => {
    let attempts = 0
    const write = local('write', () => {
      attempts++
      // The first attempt lasts longer than its process.
      return attempts > 1 ? { text: 'done' } : new Promise(() => {})
    })
    const shared = { env: {}, store: cluster.url, capabilities: [write], pollMs }
    const api = await open({ ...shared, claim: 'none' })
    const started: string[] = []
    // Until a process listens, nothing wakes it.
    const startUntil = async (what: () => boolean) => {
      while (!what()) {
        started.push((await api.start(envelope, { draft })).id)
        await new Promise((next) => setTimeout(next, 20))
      }
    }

    const first = await createApp(shared)
    await startUntil(() => attempts > 0)
    const second = await open(shared)
    let isListening = false
    second.store.onChange(() => {
      isListening = true
    })
    await startUntil(() => isListening)
    await first.close({ graceMs: 0 })
    for (const runId of started)
      expect((await (await second.attach(runId)).result()).status).toBe('completed')
  })
})
