/** The `message` of frames (FLEX-56): one sentence where something failed, was rejected or is asked. */

import { expect, it } from 'vitest'
import { api, frames, local, type SseFrame, serve, start } from '../server/support.ts'
import { wrongly } from '../wrongly.ts'

type Frame = SseFrame & { readonly message?: string }

async function stream(run: () => unknown, body: object) {
  const served = await serve({ capabilities: [local('write', wrongly(run))] })
  const all = (await frames(await served.call(`${api}/run.stream`, { body }))) as readonly Frame[]
  const messagesOf = (type: string) => all.flatMap((frame) => (frame.type === type ? [frame.message] : []))
  return { served, all, messagesOf }
}

it('says what is wrong with an output, why the node failed and why the run did', async () => {
  const { all, messagesOf } = await stream(() => ({ title: 'Tea' }), start())
  const errors = all.find(({ type }) => type === 'validation_error')?.payload['errors'] as
    | readonly { readonly message: string }[]
    | undefined
  expect(errors?.[0]?.message).toEqual(expect.any(String))
  expect(messagesOf('validation_error')).toEqual([errors?.[0]?.message])
  for (const type of ['node_error', 'complete']) {
    const error = all.find((frame) => frame.type === type)?.payload['error'] as { readonly message: string }
    expect(error.message, type).not.toBe('')
    expect(messagesOf(type), type).toEqual([error.message])
  }
})

it('is redacted like the payload', async () => {
  const fail = () => {
    throw new Error('Cannot reach https://ann:hunter2hunter2@example.com')
  }
  const { all, messagesOf } = await stream(fail, start())
  expect(messagesOf('node_error')).toEqual([expect.stringContaining('Cannot reach')])
  expect(JSON.stringify(all)).not.toContain('hunter2hunter2')
})

it('is the question of an ask, also on a page', async () => {
  const policies = { requiresHitlApproval: true }
  const { served, all, messagesOf } = await stream(() => ({ text: 'Tea' }), start({ policies }))
  const ask = all.find(({ type }) => type === 'hitl_request')
  expect(ask?.payload['question']).toEqual(expect.any(String))
  expect(messagesOf('hitl_request')).toEqual([ask?.payload['question']])
  const { events } = await (await served.call(`${api}/runs/${ask?.runId}/events`)).json()
  expect(events).toContainEqual(ask)
})

it('says why a draft was rejected, and is absent where all is well', async () => {
  const draft = { nodes: [{ id: 'write', capabilityId: 'missing' }] }
  const rejected = await stream(() => ({ text: 'Tea' }), start({}, draft))
  expect(rejected.messagesOf('plan_rejected')).toEqual([expect.stringContaining('missing')])
  const { all } = await stream(() => ({ text: 'Tea' }), start())
  expect(all.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'completed' } })
  expect(all.filter((frame) => 'message' in frame)).toEqual([])
})
