/** A reply that comes too late says why: the ask was answered, or the run ended before anybody answered. */
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../../src/adapters/stores/memory/memory.ts'
import { answer, envelope, leave, local, open } from '../../journeys/support.ts'

const asked = { policies: { planner: { directives: { hitlRequiredFor: ['write'] } } } }
const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }

it('after the end of the run it says that the run ended', async () => {
  const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
  const { runId } = await app.run(envelope(asked), { draft })
  const [ask] = await app.store.asks({ runId })
  await app.cancel(runId, { by: 'bob', reason: 'no need' })
  await app.result(runId)
  const { requestId = '', valueHash = '' } = ask ?? {}
  const reply = app.reply(runId, { requestId, valueHash, decision: 'approve', by: 'ann' })
  await expect(reply).rejects.toMatchObject({
    code: 'ask/resolved',
    message: expect.stringMatching(/before the run ended: it is cancelled/),
  })
})

it('after a decision it says that it was answered', async () => {
  const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
  const { runId } = await app.run(envelope(asked), { draft })
  const [ask] = await app.store.asks({ runId })
  await answer(app, runId, 'approve')
  const { requestId = '', valueHash = '' } = ask ?? {}
  const reply = app.reply(runId, { requestId, valueHash, decision: 'approve', by: 'bob' })
  await expect(reply).rejects.toThrow('has been answered already')
})

it('after a cancellation it says who cancelled, although no process has ended the run yet', async () => {
  const store = createMemoryStore()
  const capabilities = [local('write', () => ({ text: 'Tea' }))]
  const first = await open({ store, capabilities })
  const { runId } = await first.run(envelope(asked), { draft })
  await leave(first)
  const api = await open({ store, capabilities, claim: 'none' })
  const [ask] = await api.store.asks({ runId })
  await api.cancel(runId, { by: 'bob' })
  const { requestId = '', valueHash = '' } = ask ?? {}
  const reply = api.reply(runId, { requestId, valueHash, decision: 'approve', by: 'ann' })
  await expect(reply).rejects.toMatchObject({
    code: 'ask/resolved',
    message: expect.stringMatching(/bob has cancelled the run/),
  })
})
