/** Runs that need what only another process has: they wait for it, and do not fail. */
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import type { Store } from '../../src/index.ts'
import { answer, envelope, journal, listTypes, local, open } from './support.ts'

const two = {
  nodes: [
    { id: 'first', capabilityId: 'first' },
    { id: 'second', capabilityId: 'second', inputs: { text: { node: 'first', pointer: '/text' } } },
  ],
  output: { node: 'second' },
}
const first = local('first', () => ({ text: 'one' }))
const second = local('second', () => ({ text: 'two' }))
const askAtFirst = { policies: { planner: { directives: { hitlRequiredFor: ['first'] } } } }

/** A run that waits for a person after its first node; the process that proved it is gone. */
async function waiting(store: Store) {
  const app = await open({ store, capabilities: [first, second] })
  const { runId, status } = await app.run(envelope(askAtFirst), { draft: two })
  expect(status).toBe('waiting')
  await app.close()
  return runId
}

/** Records the notices about missing capabilities. */
function recordNotices() {
  const notices: (readonly string[])[] = []
  let wake = () => {}
  const next = new Promise<void>((resolve) => {
    wake = resolve
  })
  return {
    notices,
    next,
    onMissing: (_runId: string, ids: readonly string[]) => {
      notices.push(ids)
      wake()
    },
  }
}

describe('a process that lacks a capability', () => {
  it('releases the run, says so, and a process that has it continues', async () => {
    const store = createMemoryStore()
    const runId = await waiting(store)
    const unable = recordNotices()
    const lacking = await open({ store, capabilities: [first], onMissing: unable.onMissing })
    await answer(lacking, runId, 'approve')
    await unable.next
    expect(unable.notices).toEqual([['second']])
    expect((await store.head(runId))?.status).toBe('running')
    expect(listTypes(await journal(lacking, runId))).not.toContain('node_error')
    const able = await open({ store, capabilities: [first, second] })
    expect(await able.result(runId)).toMatchObject({ status: 'completed', output: { text: 'two' } })
    expect(await lacking.result(runId)).toMatchObject({ status: 'completed' })
    const starts = (await journal(able, runId)).filter(({ type }) => type === 'attempt_start')
    expect(starts.map(({ nodeId }) => nodeId)).toEqual(['first', 'second'])
  })

  it('does not play ping-pong with another that lacks it too', async () => {
    const real = createMemoryStore()
    const runId = await waiting(real)
    let claimed = 0
    let looks = 0
    let enough = () => {}
    const looked = new Promise<void>((resolve) => {
      enough = resolve
    })
    const claim: Store['claim'] = async (request) => {
      const claims = await real.claim(request)
      claimed += claims.length
      looks += 1
      if (looks === 60) enough()
      return claims
    }
    const store = { ...real, claim }
    const one = await open({ store, capabilities: [first], pollMs: 5 })
    await open({ store, capabilities: [first], pollMs: 5 })
    await answer(one, runId, 'approve')
    await looked
    // 5, 10, 20, 40 ms and so on for each, however often they look.
    expect(claimed).toBeLessThan(30)
    expect(await real.nextWake(), 'no process holds it').toBeGreaterThan(0)
    const taken = async () => (await real.claim({ owner: 'able', leaseMs: 60_000, limit: 1, runId })).length
    await expect.poll(taken).toBe(1)
  })

  it('continues with what it can do, and ends a run that is cancelled', async () => {
    const store = createMemoryStore()
    const runId = await waiting(store)
    const unable = recordNotices()
    const lacking = await open({ store, capabilities: [], onMissing: unable.onMissing })
    await answer(lacking, runId, 'approve')
    await unable.next
    await lacking.cancel(runId, { by: 'ann' })
    expect(await lacking.result(runId)).toMatchObject({ status: 'cancelled' })
  })

  it('says beforehand what a run needs, by what is about to be decided', async () => {
    const store = createMemoryStore()
    const runId = await waiting(store)
    const lacking = await open({ store, capabilities: [], claim: 'own' })
    const [ask] = await store.asks({ runId, status: 'pending' })
    const { requestId } = ask ?? { requestId: '' }
    expect(await lacking.missingCapabilities(runId)).toEqual(['first', 'second'])
    expect(await lacking.missingCapabilities(runId, { requestId, decision: 'approve' })).toEqual(['second'])
  })

  it('records runs and leaves them alone where it executes none', async () => {
    const store = createMemoryStore()
    const runId = await waiting(store)
    const recorder = await open({ store, capabilities: [first, second], claim: 'none' })
    await answer(recorder, runId, 'approve')
    expect(recorder.active).toBe(0)
    expect((await store.claim({ owner: 'x', leaseMs: 1, limit: 1, runId })).length).toBe(1)
    // It stores new runs for the processes that execute them.
    const started = await recorder.start(envelope(), { draft: two })
    expect(recorder.active).toBe(0)
    expect((await store.claim({ owner: 'x', leaseMs: 1, limit: 1, runId: started.id })).length).toBe(1)
  })
})
