/** Tasks of people in the library: typed, assigned, claimed, and completed by the person that they are for. */
import { expect, it } from 'vitest'
import { defineCapability } from '../../src/index.ts'
import { envelope, open } from './support.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const

it('a capability with `human` is of kind human, and its tasks are for its people', async () => {
  const review = defineCapability({
    id: 'review',
    input: { type: 'object' },
    output: text,
    human: { assignee: ['Ann', 'ben'], dueSeconds: 3_600 },
  })
  expect(review.capability.kind).toBe('human')
  const app = await open({ capabilities: [review] })
  const draft = { nodes: [{ id: 'write', capabilityId: 'review' }] }
  const run = await app.start(envelope(), { draft })
  const asks = run.asks()
  const { value: ask } = await asks.next()
  expect(ask).toMatchObject({ kind: 'task', assignment: { assignee: 'Ann', next: ['ben'] } })
  await ask!.claim({ by: 'ann' })
  await expect(ask!.claim({ by: 'ben' })).rejects.toMatchObject({ code: 'task/forbidden' })
  await ask!.decline({ by: 'ann', note: 'Busy' })
  await expect(ask!.answer({ by: 'ann', value: { text: 'x' } })).rejects.toMatchObject({
    code: 'task/forbidden',
  })
  await ask!.claim({ by: 'ben' })
  await expect(ask!.answer({ by: 'cleo', value: { text: 'x' } })).rejects.toMatchObject({
    code: 'task/forbidden',
  })
  await expect(ask!.answer({ by: 'ben', value: { text: 1 } })).rejects.toMatchObject({ code: 'ask/invalid' })
  await ask!.answer({ by: 'ben', value: { text: 'Tea' } })
  expect(await run.output()).toEqual({ text: 'Tea' })
  expect((await app.replay(run.id)).differences).toEqual([])
})

it('only tasks can be claimed, and `human` belongs to kind human', async () => {
  const app = await open({
    capabilities: [
      defineCapability({
        id: 'write',
        input: { type: 'object' },
        output: text,
        run: () => ({ text: 'Tea' }),
      }),
    ],
  })
  const run = await app.start(envelope({ policies: { requiresHitlApproval: true } }), {
    draft: { nodes: [{ id: 'write', capabilityId: 'write' }] },
  })
  const { value: ask } = await run.asks().next()
  await expect(ask!.claim({ by: 'ann' })).rejects.toMatchObject({ code: 'ask/invalid' })
  await ask!.approve({ by: 'ann' })
  expect(() =>
    defineCapability({
      id: 'a',
      input: { type: 'object' },
      output: text,
      kind: 'model',
      human: { role: 'x' },
    }),
  ).toThrow(/kind "human"/)
})
