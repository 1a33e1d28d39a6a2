/** People in the run: what they are asked, what their answers lead to, and that one answer counts. */

import { describe, expect, it } from 'vitest'
import type { Reply } from '../../src/index.ts'
import { wrongly } from '../wrongly.ts'
import { answer, envelope, journal, listTypes, local, open, rao, says, text } from './support.ts'

const reviewed = { nodes: [{ id: 'write', capabilityId: 'write', data: { contract: true } }] }
const unsure = () => [says('write', [rao({ text: 'Tea is warm' }, 0.7)])]

describe('approvals', () => {
  it('low-confidence-asks: a confidence in the review band pauses the run at a person', async () => {
    const app = await open({ capabilities: unsure() })
    const waiting = await app.run(envelope(), { draft: reviewed })
    expect(waiting).toMatchObject({ status: 'waiting', issues: [] })
    const [ask] = await app.store.asks({ runId: waiting.runId })
    expect(ask).toMatchObject({
      kind: 'approval',
      nodeId: 'write',
      value: { text: 'Tea is warm' },
      status: 'pending',
    })
    expect(app.active).toBe(0)
  })

  it('approve-then-resume: the approved value is used, and the answer says who approved it', async () => {
    const app = await open({ capabilities: unsure() })
    const { runId } = await app.run(envelope(), { draft: reviewed })
    await answer(app, runId, 'approve')
    const done = await app.result(runId)
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea is warm' } })
    expect(done.provenance).toMatchObject([{ nodeId: 'write', person: 'ann', attempt: 1 }])
  })

  it('edit-then-approve: an edited value is held to the contract, and replaces what the model wrote', async () => {
    const app = await open({ capabilities: unsure() })
    const { runId } = await app.run(envelope(), { draft: reviewed })
    await expect(answer(app, runId, 'edit', { text: 7 })).rejects.toMatchObject({
      code: 'ask/invalid',
      issues: [{ at: { pointer: '/text' } }],
    })
    await answer(app, runId, 'edit', { text: 'Tea is hot' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea is hot' } })
  })

  it('who edited a node and who approved the answer are both named', async () => {
    const app = await open({ capabilities: unsure() })
    const policies = { planner: { directives: { askBeforeFinish: true } } }
    const { runId } = await app.run(envelope({ policies }), { draft: reviewed })
    await answer(app, runId, 'edit', { text: 'Tea is hot' })
    await app.result(runId)
    const [final] = await app.store.asks({ runId, status: 'pending' })
    const { requestId, valueHash } = final!
    await app.reply(runId, { requestId, valueHash, decision: 'approve', by: 'bob' })
    const { status, provenance } = await app.result(runId)
    expect(status).toBe('completed')
    expect(provenance).toMatchObject([{ nodeId: 'write', person: 'ann', approvedBy: 'bob' }])
  })

  it('a rejection fails the node, and the run says who said no', async () => {
    const app = await open({ capabilities: unsure() })
    const { runId } = await app.run(envelope(), { draft: reviewed })
    await answer(app, runId, 'reject')
    expect(await app.result(runId)).toMatchObject({ status: 'failed', failure: 'ask/rejected' })
  })

  it('one decision counts: of eight people who answer at once, one is accepted and the others are refused', async () => {
    const app = await open({ capabilities: unsure() })
    const { runId } = await app.run(envelope(), { draft: reviewed })
    const [ask] = await app.store.asks({ runId })
    const { requestId, valueHash } = ask!
    const replies = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) =>
        app.reply(runId, {
          requestId,
          valueHash,
          decision: index % 2 ? 'approve' : 'reject',
          by: `p${index}`,
        }),
      ),
    )
    expect(replies.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const reply of replies)
      if (reply.status === 'rejected') expect(reply.reason.code).toBe('ask/resolved')
    await app.result(runId)
    expect(listTypes(await journal(app, runId)).filter((type) => type === 'hitl_resolved')).toHaveLength(1)
  })

  it('a reply to another value than the one shown is refused', async () => {
    const app = await open({ capabilities: unsure() })
    const { runId } = await app.run(envelope(), { draft: reviewed })
    const [ask] = await app.store.asks({ runId })
    const reply = app.reply(runId, {
      requestId: ask!.requestId,
      valueHash: 'x',
      decision: 'approve',
      by: 'ann',
    })
    await expect(reply).rejects.toMatchObject({ code: 'ask/stale' })
  })

  it.each([
    ['edit without a value', { decision: 'edit' }, '/value', '"edit" needs a value'],
    ['a value with a yes', { decision: 'approve', value: {} }, '/value', '"approve" takes no value'],
    ['a decision of other asks', { decision: 'answer', value: {} }, '/decision', '"answer" is no answer'],
    ['an unknown decision', { decision: 'maybe', valueHash: 'x' }, '/decision', '"maybe" is no answer'],
    ['no decision', {}, '/decision', 'Nothing is no answer'],
  ])('%s is refused with its location and the possible decisions', async (_, given, pointer, message) => {
    const app = await open({ capabilities: unsure() })
    const { runId } = await app.run(envelope(), { draft: reviewed })
    const [ask] = await app.store.asks({ runId })
    const { requestId, valueHash } = ask!
    const reply = app.reply(runId, { requestId, valueHash, by: 'ann', ...given } as Reply)
    const hint = 'Decide one of: approve, edit with a value, reject'
    await expect(reply).rejects.toMatchObject({
      code: 'ask/invalid',
      message: expect.stringContaining(message),
      hint,
      issues: [{ code: 'ask/invalid', at: { pointer }, hint }],
    })
    expect((await app.store.asks({ runId, status: 'pending' })).length).toBe(1)
  })

  it('the value of a person is copied as plain data: nothing else is accepted, and later changes have no effect', async () => {
    const app = await open({ capabilities: unsure() })
    const { runId } = await app.run(envelope(), { draft: reviewed })
    const [ask] = await app.store.asks({ runId })
    const { requestId, valueHash } = ask!
    const reply = (given: object) =>
      app.reply(runId, { requestId, valueHash, decision: 'edit', by: 'ann', ...given } as Reply)
    const endless: unknown[] = []
    endless.length = 2 ** 32 - 1
    for (const odd of [1n, new Date(), () => 1, endless])
      await expect(reply({ value: { text: odd } })).rejects.toMatchObject({
        code: 'ask/invalid',
        at: { pointer: odd === endless ? '/value' : '/value/text' },
      })
    const value = { text: 'Mine' }
    await expect(reply({ value, note: 5 })).rejects.toMatchObject({ code: 'option/invalid' })
    await expect(app.cancel(runId, { by: 'ann', reason: wrongly({}) })).rejects.toMatchObject({
      code: 'option/invalid',
    })
    const replied = reply({ value })
    value.text = 'Yours'
    await replied
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Mine' } })
  })

  it('a person can be the one who does the work', async () => {
    const writer = {
      ...local('write', () => null),
      capability: { ...local('write', () => null).capability, kind: 'human' },
    }
    const app = await open({ capabilities: [writer] })
    const { runId } = await app.run(envelope(), {
      draft: { nodes: [{ id: 'write', capabilityId: 'write' }] },
    })
    await answer(app, runId, 'answer', { text: 'By hand' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'By hand' } })
  })

  it('an answer that must be approved waits before the end', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    const given = envelope({ policies: { requiresHitlApproval: true } })
    const { runId, status } = await app.run(given, {
      draft: { nodes: [{ id: 'write', capabilityId: 'write' }] },
    })
    expect(status).toBe('waiting')
    await answer(app, runId, 'approve')
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  })

  it('an approval is for the answer that was shown: under a new plan the next one is asked for anew', async () => {
    let drafts = 0
    const planner = {
      name: 'new',
      draft: async () => ({ nodes: [{ id: `write${++drafts}`, capabilityId: 'write' }] }),
    }
    const app = await open({ planner, capabilities: [local('write', () => ({ text: `Tea ${drafts}` }))] })
    const byHand = (id: string, type: string) => ({ id, trigger: { kind: 'manual' }, action: { type } })
    const { runId } = await app.run(
      envelope({
        policies: {
          planner: { directives: { askBeforeFinish: true } },
          runtime: [byHand('again', 'replan'), byHand('hold', 'pause')],
        },
      }),
    )
    await app.trigger(runId, { policyId: 'hold', by: 'ann' })
    await answer(app, runId, 'approve')
    await app.trigger(runId, { policyId: 'again', by: 'ann' })
    await app.resume(runId, { by: 'ann' })
    expect((await app.result(runId)).status).toBe('waiting')
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    expect(ask?.value).toEqual({ text: 'Tea 2' })
    // A new plan withdraws the question about the old answer, and does not wait for a reply.
    await app.trigger(runId, { policyId: 'again', by: 'ann' })
    expect((await app.result(runId)).status).toBe('waiting')
    const [next] = await app.store.asks({ runId, status: 'pending' })
    expect(next?.value).toEqual({ text: 'Tea 3' })
    await answer(app, runId, 'approve')
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Tea 3' } })
  })

  it('an answer can be edited to null where the contract allows it', async () => {
    const schema = { ...text, type: ['object', 'null'] }
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    const { runId } = await app.run(
      envelope({ outputContract: { schema }, policies: { requiresHitlApproval: true } }),
      { draft: { nodes: [{ id: 'write', capabilityId: 'write' }], output: { node: 'write' } } },
    )
    await answer(app, runId, 'edit', null)
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: null })
  })

  it('a side effect after content that no person has checked needs a yes', async () => {
    let sent = 0
    const send = local('send', () => ({ text: `sent ${++sent}` }), { sideEffect: true, idempotent: false })
    const app = await open({ capabilities: [says('write', ['{"text":"Buy tea"}']), send] })
    const draft = {
      nodes: [
        { id: 'write', capabilityId: 'write' },
        { id: 'send', capabilityId: 'send', inputs: { text: { node: 'write', pointer: '/text' } } },
      ],
      output: { node: 'send' },
    }
    const { runId, status } = await app.run(envelope(), { draft })
    expect([status, sent]).toEqual(['waiting', 0])
    await answer(app, runId, 'approve')
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'sent 1' } })
  })
})
