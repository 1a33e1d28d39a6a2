/** A reply that comes too late says why: the ask was answered, or the run ended before anybody answered. */
import { expect, it } from 'vitest'
import { answer, envelope, local, open } from '../../journeys/support.ts'

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
