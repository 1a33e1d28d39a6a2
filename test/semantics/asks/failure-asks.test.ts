/** A person who is asked about a failure sees what failed, and can give the value. */
import { describe, expect, it } from 'vitest'
import { answer, envelope, journal, listTypes, local, open, rao, says } from '../../journeys/support.ts'

const wrong = () => local('write', () => ({ text: 7 }))
const draft = (more: object = {}) => ({ nodes: [{ id: 'write', capabilityId: 'write', ...more }] })

describe('an ask about a failure', () => {
  it('shows the value, the issues and the contract, and comes before the node is final', async () => {
    const app = await open({ capabilities: [wrong()] })
    const { runId } = await app.run(envelope(), { draft: draft({ onFail: 'ask' }) })
    const [ask] = await app.store.asks({ runId })
    expect(ask).toMatchObject({
      kind: 'failure',
      value: { text: 7 },
      issues: [{ at: { pointer: '/text' } }],
      schema: { required: ['text'] },
      decisions: ['edit', 'answer', 'reject'],
    })
    expect(listTypes(await journal(app, runId))).not.toContain('node_error')
    await expect(answer(app, runId, 'edit', { text: 8 })).rejects.toMatchObject({ code: 'ask/invalid' })
    await answer(app, runId, 'edit', { text: 'Tea' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  })

  it('shows the text from which no value could be read, and nothing to approve', async () => {
    const app = await open({ capabilities: [says('write', ['Let me think.'])] })
    const { runId } = await app.run(envelope(), { draft: draft({ onFail: 'ask' }) })
    expect(await app.store.asks({ runId })).toMatchObject([
      { kind: 'failure', value: null, raw: 'Let me think.', decisions: ['edit', 'answer', 'reject'] },
    ])
  })

  it('says which condition the last output broke where the inputs do not fit the last alternate', async () => {
    const shouting = { '==': [{ var: 'text' }, 'TEA'] }
    const other = local('other', () => ({ text: 'Never' }), {
      inputContract: {
        type: 'object',
        properties: { topic: { type: 'string', minLength: 5 } },
        required: ['topic'],
      },
    })
    const first = local('write', () => ({ text: 'Tea' }))
    // Only when the run has it, the text turns out to be too short.
    const topic = local('topic', () => ({ text: 'tea' }))
    const app = await open({ capabilities: [topic, first, other] })
    const { runId } = await app.run(envelope(), {
      draft: {
        nodes: [
          { id: 'topic', capabilityId: 'topic' },
          {
            id: 'write',
            capabilityId: 'write',
            inputs: { topic: { node: 'topic', pointer: '/text' } },
            alternates: ['other'],
            postConditions: [shouting],
            onFail: 'ask',
          },
        ],
      },
    })
    const [ask] = await app.store.asks({ runId })
    expect(ask).toMatchObject({ value: { text: 'Tea' }, issues: [{ code: 'output/post-condition' }] })
    expect(ask?.question).toContain('failed (invalid)')
  })

  it('leads to another attempt where the rejection says retry', async () => {
    let calls = 0
    const write = local('write', () => (++calls === 1 ? { text: 7 } : { text: 'Tea' }))
    const app = await open({ capabilities: [write] })
    const { runId } = await app.run(envelope(), { draft: draft({ onFail: 'ask' }) })
    const [ask] = await app.store.asks({ runId })
    const { requestId = '', valueHash = '' } = ask ?? {}
    await app.reply(runId, { requestId, valueHash, decision: 'reject', rejectAction: 'retry', by: 'ann' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  })

  it('is raised for every node where the envelope says onNodeFail: ask', async () => {
    const app = await open({ capabilities: [wrong()] })
    const asking = await app.run(envelope({ policies: { onNodeFail: 'ask' } }), { draft: draft() })
    expect(asking.status).toBe('waiting')
    expect((await app.run(envelope(), { draft: draft() })).status).toBe('failed')
    await expect(app.run(envelope({ policies: { onNodeFial: 'ask' } }), { draft: draft() })).rejects.toThrow(
      /onNodeF/,
    )
  })

  it('is raised for an answer that was suppressed, without showing it', async () => {
    const app = await open({ capabilities: [says('write', [rao({ text: 'Nonsense' }, 0.2)])] })
    const { runId } = await app.run(envelope(), { draft: draft({ onFail: 'ask', data: { contract: true } }) })
    const [ask] = await app.store.asks({ runId })
    expect(ask).toMatchObject({ kind: 'failure', value: null, issues: [{ code: 'rao/suppressed' }] })
    expect(JSON.stringify(ask)).not.toContain('Nonsense')
    await answer(app, runId, 'answer', { text: 'Tea' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  })
})
