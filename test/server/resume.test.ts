/** Promises about `run.resume` with the payload of an operator: what a node waits for, given or declined. */
import { describe, expect, it } from 'vitest'
import { defineCapability } from '../../src/index.ts'
import { api, frames, local, rao, type SseFrame, says, serve, start, text } from './support.ts'

const person = defineCapability({
  capabilityId: 'person',
  kind: 'human',
  inputContract: { type: 'object' },
  outputContract: text,
})
const capabilities = [
  person,
  local('write', () => ({ text: 'Tea' })),
  says('unsure', [rao({ text: 'Tea' }, 0.7)]),
]
const byHand = { nodes: [{ id: 'taste', capabilityId: 'person' }] }
const reviewed = { nodes: [{ id: 'taste', capabilityId: 'unsure', data: { contract: true } }] }

async function waiting(draft: object = byHand) {
  const served = await serve({ capabilities })
  const stream = await frames(await served.call(`${api}/run.stream`, { body: start({}, draft) }))
  const [{ runId }] = stream as [SseFrame]
  const resume = (payload: unknown, more: object = {}) =>
    served.call(`${api}/run.resume`, { body: { runId, ...more, payload } })
  return { ...served, runId, stream, resume }
}

const payloadOf = (stream: readonly SseFrame[], type: string) =>
  stream.find((frame) => frame.type === type)?.payload

describe('run.resume with a payload', () => {
  it('gives a node that a person does its output, and streams what follows from there', async () => {
    const { resume, stream, tokenFor, call, runId } = await waiting()
    expect(payloadOf(stream, 'hitl_request')).toMatchObject({ kind: 'task', nodeId: 'taste' })
    const token = await tokenFor('operator', 'default', 'ann')
    const body = {
      runId,
      expectedPlanVersion: 1,
      operator: { displayName: 'Bo' },
      note: 'Second pot',
      payload: { nodeId: 'taste', output: { text: 'Fine' } },
    }
    const after = await frames(await call(`${api}/run.resume`, { token, body }))
    expect(after[0]?.id).toBe((stream.at(-1)?.id ?? 0) + 1)
    expect(payloadOf(after, 'hitl_resolved')).toMatchObject({
      decision: 'answer',
      value: { text: 'Fine' },
      by: expect.stringMatching(/^ann \(tok_/),
      note: 'for Bo: Second pot',
    })
    expect(after.at(-1)).toMatchObject({
      type: 'complete',
      payload: { status: 'completed', output: { text: 'Fine' } },
    })
    expect((await resume({ nodeId: 'taste', output: { text: 'Again' } })).status).toBe(409)
  })

  it('declines with a reason, and the run says who said no and why', async () => {
    const { resume } = await waiting()
    const after = await frames(
      await resume({ nodeId: 'taste', decline: { reason: 'No time', note: 'Ask Bo' } }),
    )
    expect(payloadOf(after, 'hitl_resolved')).toMatchObject({ decision: 'reject', note: 'No time: Ask Bo' })
    expect(after.at(-1)?.payload).toMatchObject({
      status: 'failed',
      error: { reason: 'execution_halted', details: { code: 'ask/rejected' } },
    })
  })

  it('replaces what a model wrote where a person was to approve it', async () => {
    const { resume } = await waiting(reviewed)
    const after = await frames(await resume({ nodeId: 'taste', output: { text: 'Better tea' } }))
    expect(payloadOf(after, 'hitl_resolved')).toMatchObject({ decision: 'edit' })
    expect(after.at(-1)?.payload).toMatchObject({ status: 'completed', output: { text: 'Better tea' } })
  })

  it.each<[what: string, payload: object, status: number, said: object]>([
    [
      'an output that breaks the contract',
      { nodeId: 'taste', output: { text: 7 } },
      422,
      { code: 'ask/invalid', issues: [{ pointer: '/text' }] },
    ],
    [
      'a node that nothing is asked about',
      { nodeId: 'pour', output: { text: 'x' } },
      409,
      { code: 'run/state', detail: expect.stringContaining('"pour"'), hint: expect.stringContaining('hitl') },
    ],
    [
      'neither output nor decline',
      { nodeId: 'taste' },
      422,
      {
        code: 'request/invalid',
        issues: [{ pointer: '/payload' }],
        hint: expect.stringContaining('decline'),
      },
    ],
    [
      'both at once',
      { nodeId: 'taste', output: {}, decline: {} },
      422,
      { code: 'request/invalid', issues: [{ pointer: '/payload' }] },
    ],
    ['no node', { output: {} }, 422, { code: 'request/invalid', issues: [{ pointer: '/payload/nodeId' }] }],
    [
      'a name that is not known',
      { nodeId: 'taste', output: {}, approve: true },
      422,
      { code: 'request/invalid', issues: [{ pointer: '/payload/approve' }] },
    ],
  ])('refuses %s, and nothing is decided', async (_what, payload, status, said) => {
    const { resume, app, runId } = await waiting()
    const response = await resume(payload)
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject(said)
    expect((await app.store.head(runId))?.status).toBe('awaiting_hitl')
  })

  it('refuses another version of the plan', async () => {
    const { resume } = await waiting()
    const stale = await resume({ nodeId: 'taste', output: { text: 'x' } }, { expectedPlanVersion: 9 })
    expect([stale.status, (await stale.json()).code]).toEqual([409, 'plan/stale-version'])
  })

  it('gives no answer that a question does not take', async () => {
    const served = await serve({ capabilities })
    const policy = {
      id: 'look',
      trigger: { kind: 'onNodeComplete', selector: { capabilityId: 'write' } },
      action: { type: 'hitl', rationale: 'Look' },
    }
    const body = start({ policies: { runtime: [policy] } })
    const stream = await frames(await served.call(`${api}/run.stream`, { body }))
    const ask = payloadOf(stream, 'hitl_request')
    expect(ask).toMatchObject({ kind: 'policy', nodeId: 'write' })
    const payload = { nodeId: 'write', output: { text: 'Other' } }
    const response = await served.call(`${api}/run.resume`, { body: { runId: stream[0]?.runId, payload } })
    expect(response.status).toBe(422)
    expect((await response.json()).detail).toContain('approve, reject')
  })
})
