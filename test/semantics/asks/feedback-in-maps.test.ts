/** Feedback inside maps and loops reaches the item or the rounds that it is about, and a rejected item is made again. */
import { describe, expect, it } from 'vitest'
import type { App } from '../../../src/app.ts'
import type { Json } from '../../../src/base/json.ts'
import type { Reply } from '../../../src/domain/ask.ts'
import type { Feedback } from '../../../src/domain/feedback.ts'
import type { DraftNode } from '../../../src/domain/plan.ts'
import { journal, local, open } from '../../journeys/support.ts'

const S = { type: 'string' } as const
const obj = (properties: { readonly [name: string]: unknown }) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})

/** The feedback that each attempt received, by node. */
type Seen = { [nodeId: string]: (readonly Feedback[])[] }

/** Answers with its topic; `bad` is an answer that does not satisfy the contract. */
function liner(seen: Seen, more: object = {}) {
  return local('one', () => ({}), {
    inputContract: obj({ topic: S }),
    outputContract: obj({ line: S }),
    ...more,
    run: (inputs: { topic: string }, context: { nodeId: string; feedback: readonly Feedback[] }) => {
      const received = seen[context.nodeId] ?? []
      seen[context.nodeId] = received
      received.push(context.feedback)
      return inputs.topic === 'bad' ? { lin: 1 } : { line: `${inputs.topic} ${received.length}` }
    },
  } as never)
}

const body = {
  nodes: [{ id: 'k', capabilityId: 'one', inputs: { topic: { input: '/item' } } }],
  output: { node: 'k', pointer: '/line' },
}
const mapping = (map: object, more: object = {}) => ({
  nodes: [
    { id: 'm', inputs: { items: { envelope: '/inputs/ts' } }, map, body, ...more } as unknown as DraftNode,
  ],
  output: { properties: { xs: { node: 'm' } } },
})
const list = (ts: readonly string[], more: object = {}) => ({
  objective: 'Lines',
  inputs: { ts: [...ts] },
  outputContract: { schema: obj({ xs: { type: 'array' } }) },
  constraints: { maxAsks: 10 },
  ...more,
})

async function say(app: App, runId: string, nodeId: string, more: Partial<Reply> = {}) {
  const asks = await app.store.asks({ runId, status: 'pending' })
  const ask = asks.find((each) => each.nodeId === nodeId)
  if (!ask) throw new Error(`Nothing is asked about ${nodeId}`)
  const { requestId, valueHash } = ask
  await app.reply(runId, { requestId, valueHash, by: 'ann', decision: 'reject', ...more })
  return app.result(runId)
}

const notes = (received: readonly Feedback[] = []) => received.map(({ note }) => note)
const approveEach = { policies: { planner: { directives: { hitlRequiredFor: ['k'] } } } }

describe('feedback about an item of a map', () => {
  it('of a failed item reaches no item that comes after it', async () => {
    const seen: Seen = {}
    const app = await open({ capabilities: [liner(seen)] })
    const draft = mapping({ onItemFail: 'collect', concurrency: 1 })
    const done = await app.run(list(['a', 'bad', 'c', 'd']), { draft })
    expect(done.status).toBe('completed')
    expect([seen['m[2].k'], seen['m[3].k']]).toEqual([[[]], [[]]])
  })

  it('reaches the next attempt of that item, and none of another', async () => {
    const seen: Seen = {}
    const app = await open({ capabilities: [liner(seen)] })
    const draft = mapping({ onItemFail: 'collect' })
    const { runId } = await app.run(list(['a', 'b', 'c'], approveEach), { draft })
    await say(app, runId, 'm[2].k', { rejectAction: 'fail', note: 'about item 2' })
    await say(app, runId, 'm[0].k', { note: 'about item 0' })
    expect(seen['m[0].k']?.map(notes)).toEqual([[], ['about item 0']])
    expect(seen['m[1].k']?.map(notes)).toEqual([[]])
  })

  it('about the whole answer of the map reaches every item', async () => {
    const seen: Seen = {}
    const app = await open({ capabilities: [liner(seen)] })
    const policies = { planner: { directives: { askBeforeFinish: true } } }
    const { runId } = await app.run(list(['a', 'b'], { policies }), { draft: mapping({}) })
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    const { requestId, valueHash } = ask!
    await app.reply(runId, { requestId, valueHash, by: 'ann', decision: 'reject', note: 'Shorter' })
    await app.result(runId)
    for (const id of ['m[0].k', 'm[1].k']) expect(seen[id]?.map(notes)).toEqual([[], ['Shorter']])
  })
})

describe('feedback about a round of a loop', () => {
  const loop = (output: object) => ({
    nodes: [
      {
        id: 'l',
        inputs: { state: { envelope: '/inputs/first' } },
        loop: { maxRounds: 3, onMaxRounds: 'accept', state: S },
        body: {
          nodes: [
            { id: 'k', capabilityId: 'one', inputs: { topic: { input: '/state' } } },
            { id: 'note', capabilityId: 'one', inputs: { topic: { node: 'k', pointer: '/line' } } },
          ],
          output,
        },
      } as unknown as DraftNode,
    ],
    output: { properties: { x: { node: 'l' } } },
  })
  const looping = {
    objective: 'Refine',
    inputs: { first: 'a' },
    outputContract: { schema: obj({ x: S }) },
    constraints: { maxAsks: 10 },
    ...approveEach,
  }
  const approve = { decision: 'approve' } as const

  it('reaches later rounds where a person spoke about the state', async () => {
    const seen: Seen = {}
    const app = await open({ capabilities: [liner(seen)] })
    const { runId } = await app.run(looping, { draft: loop({ node: 'k', pointer: '/line' }) })
    await say(app, runId, 'l#1.k', { note: 'Keep it short' })
    await say(app, runId, 'l#1.k', approve)
    expect(seen['l#1.k']?.map(notes)).toEqual([[], ['Keep it short']])
    expect(seen['l#2.k']?.map(notes)).toEqual([['Keep it short']])
    expect(seen['l#1.note']?.map(notes)).toEqual([[]])
  })

  it('stays in its round where it is about something else', async () => {
    const seen: Seen = {}
    const app = await open({ capabilities: [liner(seen)] })
    const { runId } = await app.run(looping, { draft: loop({ node: 'note', pointer: '/line' }) })
    await say(app, runId, 'l#1.k', { note: 'Not this one' })
    await say(app, runId, 'l#1.k', approve)
    expect(seen['l#2.k']?.map(notes)).toEqual([[]])
  })
})

describe('a policy that asks about a node of an item, and wants it made again after a rejection', () => {
  const asks = (more: object = {}) => ({
    policies: {
      runtime: [
        {
          id: 'look',
          trigger: { kind: 'onNodeComplete', selector: { capabilityId: 'one' } },
          action: { type: 'hitl', rejectAction: { type: 'retry' } },
          maxAttempts: 2,
          ...more,
        },
      ],
    },
  })

  it('has the item run again, with what was said, and all that comes after the node in it', async () => {
    const seen: Seen = {}
    const later: Json[] = []
    const upper = local(
      'upper',
      (inputs) => {
        later.push(inputs['line'] ?? null)
        return { up: String(inputs['line']).toUpperCase() }
      },
      { inputContract: obj({ line: S }), outputContract: obj({ up: S }) },
    )
    const app = await open({ capabilities: [liner(seen), upper] })
    const deep = {
      nodes: [
        ...body.nodes,
        { id: 'u', capabilityId: 'upper', inputs: { line: { node: 'k', pointer: '/line' } } },
      ],
      output: { node: 'u', pointer: '/up' },
    }
    const draft = mapping({ concurrency: 1 }, { body: deep })
    const { runId } = await app.run(list(['a', 'b'], asks()), { draft })
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    expect(ask).toMatchObject({ kind: 'policy', nodeId: 'm[0].k', rejectAction: { type: 'retry' } })
    await say(app, runId, 'm[0].k', { note: 'Once more' })
    await say(app, runId, 'm[0].k', { decision: 'approve' })
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { xs: ['A 2', 'B 1'] } })
    expect(seen['m[0].k']?.map(notes)).toEqual([[], ['Once more']])
    expect(later).toEqual(['a 2', 'b 1'])
    expect((await app.replay(runId)).differences).toEqual([])
  })

  it('does so for the last node of an item, which does not end before the reply', async () => {
    const seen: Seen = {}
    const app = await open({ capabilities: [liner(seen)] })
    const { runId } = await app.run(list(['a', 'b'], asks({ maxAttempts: 1 })), {
      draft: mapping({ concurrency: 1 }),
    })
    const types = (await journal(app, runId)).map(({ type }) => type)
    expect(types).not.toContain('iteration_end')
    const done = await say(app, runId, 'm[0].k', { note: 'Once more' })
    expect(done).toMatchObject({ status: 'completed', output: { xs: ['a 2', 'b 1'] } })
    expect((await app.replay(runId)).differences).toEqual([])
  })
})
