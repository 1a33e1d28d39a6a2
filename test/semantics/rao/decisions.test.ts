/** RAO contracts: the decision is an event, the reviewer sees the reasoning, and a misspelled field is an error. */
import { expect, it } from 'vitest'
import { answer, envelope, journal, open, says, text } from '../../journeys/support.ts'

const answered = (confidence: number, more: object = {}) =>
  JSON.stringify({
    primary_output: 'Tea is warm',
    confidence,
    confidence_type: 'verbalized',
    escalate: false,
    reasoning: 'Steam is in the picture',
    ...more,
  })

const draft = (data: object = {}) => ({
  nodes: [{ id: 'write', capabilityId: 'write', data: { contract: true, ...data } }],
})

async function decided(confidence: number, more: object = {}) {
  const app = await open({ capabilities: [says('write', [answered(confidence, more)])] })
  const run = await app.run(envelope(), { draft: draft() })
  const decisions = (await journal(app, run.runId)).filter(({ type }) => type === 'rao_decision')
  return { app, run, decision: decisions[0]?.payload, decisions }
}

const thresholds = { autoApproveAbove: 0.85, reviewLow: 0.5, reviewHigh: 0.85, suppressBelow: 0.5 }

it.each([
  [0.95, 'auto_approve', 'completed'],
  [0.6, 'human_review', 'waiting'],
  [0.2, 'suppress', 'failed'],
])('a confidence of %d is journalled as %s', async (confidence, decision, status) => {
  const seen = await decided(confidence)
  expect(seen.run.status).toBe(status)
  expect(seen.decisions).toHaveLength(1)
  expect(seen.decision).toEqual({
    attempt: 1,
    thresholds,
    confidence,
    type: 'verbalized',
    escalate: false,
    decision,
    reasoning: 'Steam is in the picture',
  })
  expect((await seen.app.replay(seen.run.runId)).differences).toEqual([])
})

it('the reviewer sees the decision and the reasoning, and plain text is the one text that the node wants', async () => {
  const { app, run } = await decided(0.6, { escalate: true })
  const [ask] = await app.store.asks({ runId: run.runId, status: 'pending' })
  expect(ask?.question).toContain('escalated. Reasoning: Steam is in the picture')
  expect(ask?.value).toEqual({ text: 'Tea is warm' })
  expect(ask?.rao).toEqual({
    thresholds,
    confidence: 0.6,
    type: 'verbalized',
    escalate: true,
    decision: 'human_review',
    reasoning: 'Steam is in the picture',
  })
})

it('a misspelled field refuses the draft, with the field that was meant', async () => {
  const app = await open({ capabilities: [says('write', [answered(0.95)])] })
  const run = app.run(envelope(), { draft: draft({ autoAproveAbove: 0.99 }) })
  await expect(run).rejects.toMatchObject({
    code: 'draft/invalid',
    issues: [{ hint: expect.stringContaining('Did you mean "autoApproveAbove"?') }],
  })
})

it('a suppressed text stays hidden when a person replaced it and the whole answer fails', async () => {
  const app = await open({ capabilities: [says('write', [answered(0.2)])] })
  const short = { ...text, properties: { text: { type: 'string', maxLength: 5 } } }
  const look = { id: 'look', trigger: { kind: 'onValidationFail' }, action: { type: 'hitl' } }
  const given = envelope({
    outputContract: { schema: short },
    policies: { onNodeFail: 'ask', runtime: [look] },
  })
  const { runId } = await app.run(given, { draft: draft() })
  await answer(app, runId, 'answer', { text: 'By hand' })
  await app.result(runId)
  const [ask] = await app.store.asks({ runId, status: 'pending' })
  expect(ask).toMatchObject({ kind: 'failure', value: { text: 'By hand' }, producers: ['write'] })
  expect(JSON.stringify(ask)).not.toContain('Tea is warm')
})
