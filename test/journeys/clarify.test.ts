/** Work that needs an answer first: it is asked for, the same node runs again with it, and nothing counts as a failure. */

import { describe, expect, it } from 'vitest'
import { type Dispatcher, defineCapability } from '../../src/index.ts'
import { ProvisoError } from '../../src/output/index.ts'
import { wrongly } from '../wrongly.ts'
import { answer, envelope, journal, listTypes, open, text } from './support.ts'

const node = { id: 'write', capabilityId: 'write', label: 'Writer' }
const one = { nodes: [node] }

/** A function that asks as long as it has fewer answers than it wants. */
function asker(questions: number, more: object = {}) {
  const received: (readonly unknown[])[] = []
  const keys: string[] = []
  const write = defineCapability({
    capabilityId: 'write',
    inputContract: { type: 'object' },
    outputContract: text,
    run(_, { clarifications, idempotencyKey }) {
      received.push(clarifications)
      keys.push(idempotencyKey)
      if (clarifications.length < questions)
        throw new ProvisoError('capability/unclear', `Which tea? (${clarifications.length + 1})`)
      return { text: `Tea: ${clarifications.join(', ')}` }
    },
    ...more,
  })
  return { write, received, keys }
}

describe('a function that needs an answer first', () => {
  it('is called again with it, under the same plan, without having failed', async () => {
    const { write, received } = asker(1)
    const app = await open({ capabilities: [write] })
    const waiting = await app.run(envelope(), { draft: one })
    expect(waiting).toMatchObject({ status: 'waiting', issues: [] })
    const [ask] = await app.store.asks({ runId: waiting.runId })
    expect(ask).toMatchObject({
      kind: 'clarify',
      nodeId: 'write',
      question: '"Writer" asks: Which tea? (1)',
      decisions: ['answer', 'reject'],
      status: 'pending',
    })
    await answer(app, waiting.runId, 'answer', 'green')
    expect(await app.result(waiting.runId)).toMatchObject({
      status: 'completed',
      output: { text: 'Tea: green' },
    })
    expect(received).toEqual([[], ['green']])
    const state = await app.state(waiting.runId)
    expect(state.planVersion).toBe(1)
    expect(state.nodes.get('write')).toMatchObject({ failures: 0, questions: 1, attempts: 2 })
    expect((await app.replay(waiting.runId)).differences).toEqual([])
    expect(listTypes(await journal(app, waiting.runId))).not.toContain('validation_error')
  })

  it('fails when a person will not answer, and takes no other decision', async () => {
    const { write } = asker(1)
    const app = await open({ capabilities: [write] })
    const { runId } = await app.run(envelope(), { draft: one })
    await expect(answer(app, runId, 'approve')).rejects.toMatchObject({ code: 'ask/invalid' })
    await expect(answer(app, runId, 'answer')).rejects.toMatchObject({ code: 'ask/invalid' })
    await answer(app, runId, 'reject')
    expect(await app.result(runId)).toMatchObject({ status: 'failed', failure: 'ask/rejected' })
  })

  it('fails without an answer in time', async () => {
    const { write } = asker(1)
    const app = await open({ capabilities: [write], askMs: 40 })
    const { id: runId } = await app.start(envelope(), { draft: one })
    for await (const event of app.watch(runId))
      if (event.type === 'complete') expect(event.payload.error?.code).toBe('ask/rejected')
  })

  it('is given up when it asks more than three questions, or more than the run may ask', async () => {
    for (const [maxAsks, asked, why] of [
      [10, 3, '"write" has asked 3 questions'],
      [2, 2, 'the run has asked 2 of at most 2 times'],
    ] as const) {
      const { write } = asker(9)
      const app = await open({ capabilities: [write] })
      const { runId } = await app.run(envelope(), { draft: { ...one, limits: { maxAsks } } })
      for (let nth = 0; nth < asked; nth++) {
        await answer(app, runId, 'answer', { nth })
        await app.result(runId)
      }
      const ended = await app.result(runId)
      expect(ended).toMatchObject({ status: 'failed', failure: 'ask/limit' })
      expect(ended.error?.message).toContain(why)
      expect((await app.state(runId)).asks.size).toBe(asked)
    }
  })

  it('has done nothing: what changes the world and must not be repeated is not asked about twice', async () => {
    const { write, keys } = asker(1, { sideEffect: true, idempotent: false })
    const app = await open({ capabilities: [write] })
    const { runId } = await app.run(envelope(), { draft: one })
    await answer(app, runId, 'answer', 'black')
    expect((await app.result(runId)).status).toBe('completed')
    expect((await app.state(runId)).asks.size).toBe(1)
    expect(new Set(keys).size).toBe(2)
  })
})

describe('a dispatcher of others', () => {
  const write = defineCapability({
    capabilityId: 'write',
    kind: 'odd',
    inputContract: { type: 'object' },
    outputContract: text,
  })
  const asking = (question: unknown): Dispatcher => ({
    kind: 'odd',
    remote: false,
    dispatch: async ({ bundle }) =>
      wrongly(
        bundle.clarifications.length === 0
          ? { outcome: 'unclear', question, issues: [], usage: { calls: 1 } }
          : {
              outcome: 'ok',
              output: { value: { text: bundle.clarifications.join() } },
              issues: [],
              usage: { calls: 1 },
            },
      ),
  })

  it('may say what the answer must be, and the answer is held to that', async () => {
    const schema = { type: 'integer', minimum: 1 }
    const app = await open({
      dispatchers: [asking({ text: 'How many cups?', schema })],
      capabilities: [write],
    })
    const { runId } = await app.run(envelope(), { draft: one })
    await expect(answer(app, runId, 'answer', 'many')).rejects.toMatchObject({
      code: 'ask/invalid',
      issues: [{ code: 'schema/type' }],
    })
    await answer(app, runId, 'answer', 2)
    expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: '2' } })
  })

  it.each([
    ['without a question', undefined, 'an object with a text'],
    ['with an empty one', { text: ' ' }, 'needs a text'],
    ['with a schema that cannot be used', { text: 'How?', schema: { type: 'tea' } }, 'schema'],
  ])('that asks %s fails its node', async (_name, question, why) => {
    const app = await open({ dispatchers: [asking(question)], capabilities: [write] })
    const done = await app.run(envelope(), { draft: one })
    expect(done).toMatchObject({ status: 'failed', failure: 'attempt/provider_error' })
    expect(done.issues[0]?.message).toContain(why)
  })
})
