/** A run that may not ask any more says so wherever it would have asked, with the setting that allows more. */
import { expect, it } from 'vitest'
import type { Json } from '../../../src/base/json.ts'
import { envelope, journal, local, open, rao, says } from '../../journeys/support.ts'

const limit = /asked 0 of at most 0 times \(constraints\.maxAsks\)/
const none = { limits: { maxAsks: 0 } }

it('about a call whose outcome is unknown', async () => {
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  let calls = 0
  const pay = local(
    'pay',
    () => {
      calls++
      begin()
      return new Promise<Json>(() => {})
    },
    { idempotent: false, sideEffect: true },
  )
  const app = await open({ capabilities: [pay] })
  const policies = {
    planner: { directives: { sideEffects: 'allow' } },
    runtime: [{ id: 'hold', trigger: { kind: 'manual' }, action: { type: 'pause', reason: 'Not now' } }],
  }
  const draft = { nodes: [{ id: 'pay', capabilityId: 'pay' }], ...none }
  const { id: runId } = await app.start(envelope({ policies }), { draft })
  await begun
  await app.trigger(runId, { policyId: 'hold', by: 'ann' })
  await app.result(runId)
  await app.resume(runId, { by: 'ann' })
  const done = await app.result(runId)
  expect(done).toMatchObject({ status: 'failed', failure: 'attempt/outcome_unknown' })
  expect(done.error?.message).toMatch(limit)
  expect(calls).toBe(1)
  const error = (await journal(app, runId)).find(({ type }) => type === 'node_error')
  expect(error?.payload).toMatchObject({ error: { details: { setting: 'constraints.maxAsks', most: 0 } } })
})

it('about an answer that was suppressed', async () => {
  const app = await open({ capabilities: [says('write', [rao({ text: 'Nonsense' }, 0.2)])] })
  const node = { id: 'write', capabilityId: 'write', onFail: 'ask', data: { contract: true } } as const
  const done = await app.run(envelope(), { draft: { nodes: [node], ...none } })
  expect(done).toMatchObject({ status: 'failed', failure: 'rao/suppressed' })
  expect(done.error?.message).toMatch(limit)
  expect(JSON.stringify(done)).not.toContain('Nonsense')
  const error = (await journal(app, done.runId)).find(({ type }) => type === 'node_error')
  expect(error?.payload).toMatchObject({
    outcome: 'suppressed',
    error: { details: { setting: 'constraints.maxAsks', most: 0 } },
  })
})
