/** A node that fails before any attempt asks a person as others do; one whose capability is not here has not failed. */
import { describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../../src/adapters/stores/memory/memory.ts'
import type { Json } from '../../../src/base/json.ts'
import { verifyHistory } from '../../../src/engine/verify/verify.ts'
import { answer, envelope, journal, leave, listTypes, local, open, text } from '../../journeys/support.ts'

const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
const a = { a: { type: 'string' } }
const b = { b: { type: 'integer' } }

/** The reader takes one of two values that may both be there. */
const reading = (calls: Json[] = []) => [
  local('first', () => ({ a: 'x' }), { outputContract: object(a, { required: ['a'] }) }),
  local('second', () => ({ b: 1 }), { outputContract: object(b) }),
  local(
    'reader',
    (inputs) => {
      calls.push(inputs)
      return { text: 'read' }
    },
    { inputContract: object({ ...a, ...b }, { required: ['a'], maxProperties: 1 }) },
  ),
]
const draft = (more: object = {}) => ({
  nodes: [
    { id: 'first', capabilityId: 'first' },
    { id: 'second', capabilityId: 'second' },
    { id: 'reader', capabilityId: 'reader', ...more },
  ],
})
const asking = { policies: { onNodeFail: 'ask' } }

describe('a node whose input does not satisfy its contract', () => {
  it.each([
    ['the envelope', envelope(asking), {}],
    ['the node', envelope(), { onFail: 'ask' }],
  ])('asks for its value where %s says so, before it is final', async (_, given, node) => {
    const calls: Json[] = []
    const app = await open({ capabilities: reading(calls) })
    const { runId, status } = await app.run(given, { draft: draft(node) })
    expect(status).toBe('waiting')
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    expect(ask).toMatchObject({
      kind: 'failure',
      nodeId: 'reader',
      value: null,
      issues: [{ at: { pointer: '' } }],
      schema: text,
      decisions: ['edit', 'answer', 'reject'],
    })
    expect(listTypes(await journal(app, runId))).not.toContain('node_error')
    await answer(app, runId, 'answer', { text: 'By hand' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'By hand' } })
    expect(calls).toEqual([])
    expect((await app.replay(runId)).differences).toEqual([])
    expect(verifyHistory(await journal(app, runId))).toEqual([])
  })

  it('fails when the person rejects, and where the policy allows no ask', async () => {
    const app = await open({ capabilities: reading() })
    const { runId } = await app.run(envelope(asking), { draft: draft() })
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    const { requestId = '', valueHash = '' } = ask ?? {}
    await app.reply(runId, { requestId, valueHash, decision: 'reject', rejectAction: 'fail', by: 'ann' })
    expect(await app.result(runId)).toMatchObject({ status: 'failed', failure: 'ask/rejected' })
    expect(await app.run(envelope(), { draft: draft() })).toMatchObject({
      status: 'failed',
      failure: 'node/input-invalid',
    })
  })

  it('names the limit of asks where the run has asked enough', async () => {
    const app = await open({ capabilities: reading() })
    const done = await app.run(envelope(asking), { draft: { ...draft(), limits: { maxAsks: 0 } } })
    expect(done).toMatchObject({ status: 'failed', failure: 'node/input-invalid' })
    expect(done.error?.message).toMatch(/asked 0 of at most 0 times \(constraints\.maxAsks\)/)
  })
})

it('a node whose capability is gone waits for a process that has it, and no person is asked', async () => {
  const store = createMemoryStore()
  const policies = { onNodeFail: 'ask', planner: { directives: { hitlRequiredFor: ['write'] } } }
  const read = local('read', () => ({ text: 'Read' }), { inputContract: text })
  const write = local('write', () => ({ text: 'Tea' }))
  const nodes = [
    { id: 'write', capabilityId: 'write', label: 'write' },
    { id: 'read', capabilityId: 'read', inputs: { text: { node: 'write', pointer: '/text' } } },
  ]
  const app = await open({ store, capabilities: [write, read] })
  const { runId } = await app.run(envelope({ policies }), { draft: { nodes, output: { node: 'read' } } })
  await leave(app)
  const other = await open({ store, capabilities: [write] })
  await answer(other, runId, 'approve')
  expect(await store.asks({ runId, status: 'pending' })).toEqual([])
  await leave(other)
  expect((await store.head(runId))?.status).toBe('running')
  const back = await open({ store, capabilities: [write, read] })
  expect(await back.result(runId)).toMatchObject({ status: 'completed', output: { text: 'Read' } })
})
