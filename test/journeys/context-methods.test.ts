/** What a function of a capability can say besides its result: that the inputs never succeed, or that it needs an answer. */
import { expect, it } from 'vitest'
import { defineCapability, type Json, type JsonSchema } from '../../src/index.ts'
import type { LocalFunction } from '../../src/types.ts'
import { answer, envelope, open, text } from './support.ts'

const draft = { nodes: [{ id: 'write', capabilityId: 'write', label: 'Writer', retry: { max: 3 } }] }

function writer(run: LocalFunction) {
  return defineCapability({
    capabilityId: 'write',
    inputContract: { type: 'object' },
    outputContract: text as JsonSchema,
    run: (inputs, context) => run(inputs as Json, context),
  })
}

it('reject ends the run at once with the message and the hint, without a retry', async () => {
  let calls = 0
  const write = writer((_, context) => {
    calls++
    return context.reject('There is no tea', { hint: 'Order tea first', at: { pointer: '/tea' } })
  })
  const app = await open({ capabilities: [write] })
  const done = await app.run(envelope(), { draft })
  expect(done.status).toBe('failed')
  expect(done.issues).toMatchObject([
    {
      code: 'capability/refused',
      message: 'There is no tea',
      hint: 'Order tea first',
      at: { pointer: '/tea' },
    },
  ])
  expect(calls).toBe(1)
})

it('ask puts a question to a person, and the next call has an answer that satisfies its schema', async () => {
  const write = writer((_, { clarifications: [tea], ask }) =>
    tea === undefined ? ask('Which tea?', { schema: { enum: ['green', 'black'] } }) : { text: tea },
  )
  const app = await open({ capabilities: [write] })
  const { runId, status } = await app.run(envelope(), { draft })
  expect(status).toBe('waiting')
  expect(await app.store.asks({ runId })).toMatchObject([
    { kind: 'clarify', question: '"Writer" asks: Which tea?' },
  ])
  await expect(answer(app, runId, 'answer', 'coffee')).rejects.toMatchObject({ code: 'ask/invalid' })
  await answer(app, runId, 'answer', 'green')
  expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'green' } })
})

it('an answer is a value of the schema of its question: no to a payment is false', async () => {
  const received: Json[] = []
  const write = writer((_, { clarifications: [pay], ask }) => {
    if (pay === undefined) return ask('Pay 5?', { schema: { type: 'boolean' } })
    received.push(pay)
    return { text: pay ? 'paid' : 'not paid' }
  })
  const app = await open({ capabilities: [write] })
  const { runId } = await app.run(envelope(), { draft })
  await answer(app, runId, 'answer', false)
  expect(await app.result(runId)).toMatchObject({ status: 'completed', output: { text: 'not paid' } })
  expect(received).toEqual([false])
})
