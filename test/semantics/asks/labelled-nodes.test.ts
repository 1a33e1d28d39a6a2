/** `hitlRequiredFor` holds the result of a node of any kind until a person has approved it: nothing behind it runs before. */
import { describe, expect, it } from 'vitest'
import type { App } from '../../../src/app.ts'
import type { Json } from '../../../src/base/json.ts'
import type { Reply } from '../../../src/domain/ask.ts'
import { journal, listTypes, local, open } from '../../journeys/support.ts'

const S = { type: 'string' } as const
const obj = (properties: { readonly [name: string]: unknown }) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** Capabilities that note each call; `write` says how often it was called. */
function workers() {
  const calls: string[] = []
  const write = local('write', () => ({}), {
    inputContract: obj({ s: S }),
    outputContract: obj({ text: S }),
    run: ((inputs: { s: string }, { nodeId }: { nodeId: string }) => {
      calls.push(nodeId)
      const times = calls.filter((id) => id === nodeId).length
      return { text: inputs.s + '!'.repeat(times) }
    }) as never,
  })
  const send = local(
    'send',
    (inputs) => {
      calls.push('send')
      return { sent: JSON.stringify(inputs['what']) }
    },
    { inputContract: obj({ what: true }), outputContract: obj({ sent: S }) },
  )
  const hold = local(
    'hold',
    (inputs) => {
      calls.push('hold')
      return { sent: `held ${JSON.stringify(inputs['what'])}` }
    },
    { inputContract: obj({ what: true }), outputContract: obj({ sent: S }) },
  )
  return { calls, capabilities: [write, send, hold] }
}

const each = {
  id: 'each',
  inputs: { items: { envelope: '/inputs/list' } },
  map: {},
  body: {
    nodes: [{ id: 'w', capabilityId: 'write', inputs: { s: { input: '/item' } } }],
    output: { node: 'w', pointer: '/text' },
  },
}
const refine = {
  id: 'each',
  inputs: { state: { value: { text: 'a' } } },
  loop: { maxRounds: 2 },
  body: {
    nodes: [{ id: 'w', capabilityId: 'write', inputs: { s: { input: '/state/text' } } }],
    output: { node: 'w' },
  },
}
const first = { id: 'k', capabilityId: 'write', inputs: { s: { value: 'a' } } }
const gate = {
  id: 'each',
  contracts: { input: obj({ t: S }) },
  inputs: { t: { node: 'k', pointer: '/text' } },
  routing: {
    routes: [{ condition: { '==': [{ var: 't' }, 'a!'] }, to: 'send', label: 'once' }],
    elseTo: 'hold',
  },
}
const send = (source: object) => ({ id: 'send', capabilityId: 'send', inputs: { what: source } })
const routed = [
  first,
  gate,
  send({ node: 'each', pointer: '/t' }),
  { id: 'hold', capabilityId: 'hold', inputs: { what: { node: 'each', pointer: '/t' } } },
]

const drafts: { readonly [kind: string]: readonly object[] } = {
  'a plain node': [{ ...first, id: 'each' }, send({ node: 'each', pointer: '/text' })],
  'a map': [each, send({ node: 'each' })],
  'a map by its label': [{ ...each, id: 'm', label: 'each' }, send({ node: 'm' })],
  'a loop': [refine, send({ node: 'each', pointer: '/text' })],
  'a routing node': routed,
}

const wanted = (labels: readonly string[], more: object = {}) => ({
  objective: 'Send it',
  inputs: { list: ['a', 'b'] },
  outputContract: { schema: obj({ sent: S }) },
  policies: { planner: { directives: { hitlRequiredFor: [...labels] } } },
  ...more,
})

const answered = [
  { node: 'send', pointer: '/sent' },
  { node: 'hold', pointer: '/sent' },
]
const draftOf = (nodes: readonly object[]) =>
  ({
    nodes,
    ...(nodes === routed && { output: { properties: { sent: answered } } }),
  }) as never

async function reply(app: App, runId: string, said: Partial<Reply>) {
  const [ask] = await app.store.asks({ runId, status: 'pending' })
  if (!ask) throw new Error('Nothing is asked')
  const { requestId, valueHash } = ask
  await app.reply(runId, { requestId, valueHash, by: 'ann', decision: 'approve', ...said })
  return app.result(runId)
}

async function begin(kind: string, more: object = {}) {
  const { calls, capabilities } = workers()
  const app = await open({ capabilities })
  const begun = await app.run(wanted(['each'], more), { draft: draftOf(drafts[kind] ?? []) })
  return { app, calls, begun, runId: begun.runId }
}

describe.each(Object.keys(drafts))('%s that hitlRequiredFor names', (kind) => {
  it('is held for approval before what follows it runs', async () => {
    const { app, begun, calls, runId } = await begin(kind)
    expect(begun.status).toBe('waiting')
    const asks = await app.store.asks({ runId })
    expect(asks.map((ask) => ask.kind)).toEqual(['approval'])
    expect(calls).not.toContain('send')
    const done = await reply(app, runId, {})
    expect(done.status).toBe('completed')
    expect(calls.filter((id) => id === 'send')).toHaveLength(1)
    expect(await app.store.asks({ runId })).toHaveLength(1)
    expect(done.warnings).toBeUndefined()
  })

  it('is made again with the note after a rejection', async () => {
    const { app, calls, runId } = await begin(kind)
    const before = calls.length
    const again = await reply(app, runId, { decision: 'reject', note: 'longer' })
    expect(again.status).toBe('waiting')
    expect(calls.length).toBe(2 * before)
    expect(calls).not.toContain('send')
    const events = await journal(app, runId)
    expect(events.filter(({ type }) => type === 'nodes_reopened')).toHaveLength(1)
    expect((await reply(app, runId, {})).status).toBe('completed')
  })

  it('fails the run where the rejection says so', async () => {
    const { app, calls, runId } = await begin(kind)
    const done = await reply(app, runId, { decision: 'reject', rejectAction: 'fail' })
    expect(done).toMatchObject({ status: 'failed', failure: 'ask/rejected' })
    expect(calls).not.toContain('send')
  })

  it('fails where the run may not ask as often', async () => {
    const { begun, calls } = await begin(kind, { constraints: { maxAsks: 0 } })
    expect(begun).toMatchObject({ status: 'failed', failure: 'ask/limit' })
    expect(calls).not.toContain('send')
  })
})

describe('an edited value takes the place of the output', () => {
  it.each([
    ['a plain node', { text: 'mine' }, '"mine"'],
    ['a map', ['x', 'y'], '["x","y"]'],
    ['a loop', { text: 'mine' }, '"mine"'],
  ] as [string, Json, string][])('of %s', async (kind, value, sent) => {
    const { app, runId } = await begin(kind)
    expect(await reply(app, runId, { decision: 'edit', value })).toMatchObject({
      status: 'completed',
      output: { sent },
    })
  })

  it('of a map only if it satisfies the contract', async () => {
    const { app, runId } = await begin('a map')
    await expect(reply(app, runId, { decision: 'edit', value: [7] })).rejects.toMatchObject({
      code: 'ask/invalid',
    })
  })

  it('of a routing node, and its conditions choose the route', async () => {
    const { app, calls, runId } = await begin('a routing node')
    const [ask] = await app.store.asks({ runId })
    expect(ask).toMatchObject({
      question: 'Approve the route of "each" to "send"?',
      value: { t: 'a!', route: 'once' },
    })
    await expect(
      reply(app, runId, { decision: 'edit', value: { t: 'other', route: 'once' } }),
    ).rejects.toMatchObject({ code: 'ask/invalid' })
    const done = await reply(app, runId, { decision: 'edit', value: { t: 'other' } })
    expect(done).toMatchObject({ status: 'completed', output: { sent: 'held "other"' } })
    expect(calls).not.toContain('send')
  })
})

describe('a rejected routing node', () => {
  it('has the node that it reads from run again, once nothing else that reads it is in flight', async () => {
    const { calls, capabilities } = workers()
    const waiting: (() => void)[] = []
    const slow = local(
      'slow',
      () => new Promise((resolve) => waiting.push(() => resolve({ note: 'read' }))),
      { inputContract: obj({ s: S }), outputContract: obj({ note: S }) },
    )
    const app = await open({ capabilities: [...capabilities, slow] })
    const beside = { id: 'beside', capabilityId: 'slow', inputs: { s: { node: 'k', pointer: '/text' } } }
    const draft = { nodes: [...routed, beside], output: { properties: { sent: answered } } } as never
    const { id: runId } = await app.start(wanted(['each']), { draft })
    await expect.poll(() => app.store.asks({ runId })).toHaveLength(1)
    await expect.poll(() => waiting.length).toBe(1)
    const [ask] = await app.store.asks({ runId })
    const { requestId = '', valueHash = '' } = ask ?? {}
    await app.reply(runId, { requestId, valueHash, by: 'ann', decision: 'reject', note: 'no' })
    expect(listTypes(await journal(app, runId))).not.toContain('nodes_reopened')
    waiting[0]?.()
    await expect.poll(() => waiting.length).toBe(2)
    expect(calls).toEqual(['k', 'k'])
    waiting[1]?.()
    expect(await app.result(runId)).toMatchObject({ status: 'waiting' })
    // "a!!" now, so the other way is taken.
    expect(await reply(app, runId, {})).toMatchObject({
      status: 'completed',
      output: { sent: 'held "a!!"' },
    })
  })

  it('takes back what was asked about values that are made again', async () => {
    const { capabilities } = workers()
    const app = await open({ capabilities })
    const beside = { id: 'beside', capabilityId: 'write', inputs: { s: { node: 'k', pointer: '/text' } } }
    const draft = { nodes: [...routed, beside], output: { properties: { sent: answered } } } as never
    const { runId } = await app.run(wanted(['each', 'beside'], { constraints: { maxAsks: 9 } }), { draft })
    const asks = await app.store.asks({ runId, status: 'pending' })
    expect(asks.map(({ nodeId }) => nodeId).sort()).toEqual(['beside', 'each'])
    const stale = asks.find(({ nodeId }) => nodeId === 'beside')
    const route = asks.find(({ nodeId }) => nodeId === 'each')
    for (const { requestId = '', valueHash = '' } of [route ?? {}])
      await app.reply(runId, { requestId, valueHash, by: 'ann', decision: 'reject', note: 'no' })
    await app.result(runId)
    const { requestId = '', valueHash = '' } = stale ?? {}
    await expect(
      app.reply(runId, { requestId, valueHash, by: 'ann', decision: 'approve' }),
    ).rejects.toMatchObject({ code: 'ask/resolved' })
    expect(await app.store.asks({ runId, status: 'pending' })).toHaveLength(2)
  })

  it('ends the run where nothing made what it reads', async () => {
    const { capabilities } = workers()
    const app = await open({ capabilities })
    const own = { ...gate, inputs: { t: { value: 'a!' } } }
    const draft = {
      nodes: [own, send({ node: 'each', pointer: '/t' }), routed[3]],
      output: { properties: { sent: answered } },
    } as never
    const { runId } = await app.run(wanted(['each']), { draft })
    const [ask] = await app.store.asks({ runId })
    expect(ask?.rejectActions).not.toContain('retry')
    expect(await reply(app, runId, { decision: 'reject' })).toMatchObject({ failure: 'ask/rejected' })
  })
})

it('a rejected map is made again under a new plan: none of its items counts', async () => {
  const { app, calls, runId } = await begin('a map')
  expect(calls).toHaveLength(2)
  await reply(app, runId, { decision: 'reject', rejectAction: 'replan' })
  expect(listTypes(await journal(app, runId))).toContain('plan_requested')
  expect(calls.filter((id) => id.startsWith('each['))).toHaveLength(2)
})

describe('a label that no node has', () => {
  it('is a warning of the result with what was meant, and an ask about the answer', async () => {
    const { capabilities } = workers()
    const app = await open({ capabilities })
    const done = await app.run(wanted(['eahc']), { draft: draftOf(drafts['a map'] ?? []) })
    expect(done.status).toBe('waiting')
    expect(done.warnings).toEqual([
      expect.objectContaining({
        code: 'plan/policy-label',
        message: expect.stringContaining('"eahc"'),
        hint: expect.stringContaining('Did you mean "each"?'),
      }),
    ])
    const asks = await app.store.asks({ runId: done.runId })
    expect(asks.map(({ kind }) => kind)).toEqual(['final'])
  })
})
