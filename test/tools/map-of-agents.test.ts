/** Agents in the items of a map: whether a person is asked does not depend on how many items run at once. */
import { describe, expect, it } from 'vitest'
import { journal, local } from '../journeys/support.ts'
import { resultsIn } from './chat-server.ts'
import { agent, done, makeTools, openWith, serve } from './support.ts'

const people = ['ann', 'bob', 'eve', 'zoe']

const publish = local('publish', () => ({ text: 'Done' }), { sideEffect: true })

/** Each item's agent sends once; its answer is a model's, which no person has checked. */
async function sendToAll(concurrency: number, last: { readonly send?: true } = {}) {
  const tools = makeTools()
  const server = await serve((_turn, seen) => {
    if (resultsIn(seen).length > 0) return done
    const to = people.find((name) => JSON.stringify(seen).includes(name)) ?? ''
    return { calls: [{ name: 'send', input: { to, amount: 5 } }] }
  })
  const app = await openWith(server, [agent([tools.send]), publish])
  const each = {
    id: 'each',
    inputs: { items: { envelope: '/inputs/people' } },
    map: { concurrency },
    body: {
      nodes: [{ id: 'one', capabilityId: 'researcher', inputs: { question: { input: '/item' } } }],
      output: { node: 'one' },
    },
  }
  const after = { id: 'after', capabilityId: 'publish' }
  const draft = {
    nodes: last.send ? [each, after] : [each],
    ...(last.send && { edges: [{ from: 'each', to: 'after' }] }),
    output: { properties: { all: { node: 'each' } } },
  }
  const output = { type: 'object', properties: { all: { type: 'array' } }, required: ['all'] } as const
  const run = await app.run({ objective: 'Send', inputs: { people }, output }, { draft: draft as never })
  return { app, run, tools }
}

describe('agents with a side effect in a map', () => {
  it.each([1, 2, 4])(
    'act alike with %i at once: answers of other items are not theirs',
    async (concurrency) => {
      const { run, tools } = await sendToAll(concurrency)
      expect(run.status).toBe('completed')
      expect(tools.called.map(({ inputs }) => (inputs as { readonly to: string }).to).sort()).toEqual(people)
    },
  )

  it('are content from outside for what comes after the map', async () => {
    const { app, run } = await sendToAll(4, { send: true })
    expect(run.status).toBe('waiting')
    const asks = (await journal(app, run.runId)).filter(({ type }) => type === 'hitl_request')
    expect(asks.map(({ payload }) => (payload as { readonly kind: string }).kind)).toEqual(['side_effect'])
  })
})
