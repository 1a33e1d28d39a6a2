/** A new plan while items or rounds wait for people: what is done and approved stays, and what waits keeps waiting. */

import { describe, expect, it } from 'vitest'
import type { DraftInput, EnvelopeInput } from '../../src/domain/envelope/envelope-input.ts'
import type { App, Json } from '../../src/index.ts'
import type { Decision } from '../../src/types.ts'
import { journal, open } from '../journeys/support.ts'
import { envelope, loopDraft, mapDraft, working } from './support.ts'

const manual = { id: 'again', trigger: { kind: 'manual' }, action: { type: 'replan' }, maxAttempts: 5 }
const labelled = (more: object = {}) => ({
  policies: { planner: { directives: { hitlRequiredFor: ['work'] } }, runtime: [manual] },
  ...more,
})

const pending = (app: App, runId: string) => app.store.asks({ runId, status: 'pending' })

async function reply(app: App, runId: string, nodeId: string, decision: Decision, more: object = {}) {
  const ask = (await pending(app, runId)).find((each) => each.nodeId === nodeId)
  const { requestId = '', valueHash = '' } = ask ?? {}
  await app.reply(runId, { requestId, valueHash, decision, by: 'ann', ...more })
  return app.result(runId)
}

async function started(draft: DraftInput, given: EnvelopeInput, more: object = {}) {
  const calls: unknown[] = []
  const work = working(
    'work',
    (value: number) => {
      calls.push(value)
      return value * 10
    },
    more,
  )
  const app = await open({
    capabilities: [work],
    planner: { name: 'same', draft: async () => draft as never },
  })
  const { runId } = await app.run(given, { draft: draft })
  return { app, runId, calls }
}

describe.each(['fail', 'skip', 'collect'] as const)(
  'a map whose items wait for approval (%s)',
  (onItemFail) => {
    const listed = (values: readonly number[]): Json =>
      onItemFail === 'collect' ? values.map((value) => ({ status: 'completed', value })) : [...values]

    it.each(['by hand', 'by rejecting an item'])('is planned anew %s', async (how) => {
      const { app, runId, calls } = await started(
        mapDraft('work', { onItemFail }),
        // Asks that are raised again for the same value do not count twice.
        envelope({ items: [1, 2, 3] }, labelled({ constraints: { maxAsks: 4 } })),
      )
      const shown = await pending(app, runId)
      await reply(app, runId, 'each[0].work', 'approve')
      if (how === 'by hand') await app.trigger(runId, { policyId: 'again', by: 'ann' })
      else await reply(app, runId, 'each[1].work', 'reject', { rejectAction: 'replan' })
      expect((await app.result(runId)).status).toBe('waiting')
      const again = await pending(app, runId)
      expect(again.map(({ nodeId }) => nodeId).toSorted()).toEqual(['each[1].work', 'each[2].work'])
      const hashOf = (asks: typeof again, id: string) => asks.find(({ nodeId }) => nodeId === id)?.valueHash
      expect(hashOf(again, 'each[2].work')).toBe(hashOf(shown, 'each[2].work'))
      expect(calls).toEqual(how === 'by hand' ? [1, 2, 3] : [1, 2, 3, 2])
      for (const { nodeId = '' } of again) await reply(app, runId, nodeId, 'approve')
      const done = await app.result(runId)
      expect(done).toMatchObject({ status: 'completed', output: { out: listed([10, 20, 30]) } })
      const ends = (await journal(app, runId)).filter(({ type }) => type === 'node_error')
      expect(ends).toEqual([])
      expect((await app.store.asks({ runId })).map(({ decision }) => decision)).not.toContain('expired')
      expect((await app.replay(runId)).differences).toEqual([])
    })
  },
)

it('a person who does the items keeps the finished ones, and is asked for the others again', async () => {
  const { app, runId } = await started(
    mapDraft('work', { onItemFail: 'collect' }),
    envelope({ items: [1, 2] }, { policies: { planner: {}, runtime: [manual] } }),
    { kind: 'human', run: undefined },
  )
  await reply(app, runId, 'each[0].work', 'answer', { value: { value: 'one' } })
  await app.trigger(runId, { policyId: 'again', by: 'ann' })
  expect((await app.result(runId)).status).toBe('waiting')
  expect(await pending(app, runId)).toMatchObject([{ kind: 'task', nodeId: 'each[1].work' }])
  const done = await reply(app, runId, 'each[1].work', 'answer', { value: { value: 'two' } })
  const completed = (value: string) => ({ status: 'completed', value })
  expect(done).toMatchObject({ status: 'completed', output: { out: [completed('one'), completed('two')] } })
})

it('a loop that waits in its second round continues there', async () => {
  const { app, runId, calls } = await started(
    loopDraft('work', { maxRounds: 2 }),
    envelope({ first: { value: 1 } }, labelled({ constraints: { maxAsks: 2 } })),
  )
  await reply(app, runId, 'each#1.work', 'edit', { value: { value: 7 } })
  await app.trigger(runId, { policyId: 'again', by: 'ann' })
  expect((await app.result(runId)).status).toBe('waiting')
  expect(await pending(app, runId)).toMatchObject([{ nodeId: 'each#2.work', value: { value: 70 } }])
  const done = await reply(app, runId, 'each#2.work', 'approve')
  expect(done.status).toBe('completed')
  expect(calls).toEqual([1, 7])
  expect((await app.replay(runId)).differences).toEqual([])
})

it('outside of maps, a node that waits for approval is not called again either', async () => {
  const { app, runId, calls } = await started(
    {
      nodes: [{ id: 'work', capabilityId: 'work', inputs: { value: { value: 1 } } }],
      output: { properties: { out: { node: 'work', pointer: '/value' } } },
    },
    envelope({}, labelled({ constraints: { maxAsks: 1 } })),
  )
  await app.trigger(runId, { policyId: 'again', by: 'ann' })
  expect((await app.result(runId)).status).toBe('waiting')
  const done = await reply(app, runId, 'work', 'approve')
  expect(done).toMatchObject({ status: 'completed', output: { out: 10 } })
  expect(calls).toEqual([1])
})
