/** Maps and loops that are done again: what a person rejected is made by new calls, what failed beside it is not. */
import { describe, expect, it } from 'vitest'
import type { DraftInput } from '../../src/domain/envelope/envelope-input.ts'
import type { Json } from '../../src/index.ts'
import type { Decision } from '../../src/types.ts'
import { journal, open } from '../journeys/support.ts'
import { verifyHistory } from '../seams/engine.ts'
import { envelope, loopDraft, mapDraft, working } from './support.ts'

/** A run that changes the world once per item or round, with the keys of its calls by their inputs. */
async function start(
  draft: DraftInput,
  given: { readonly [name: string]: Json },
  { policies = {}, answer = (value: number): unknown => value + 1 } = {},
) {
  const keys: { readonly value: number; readonly key: string }[] = []
  const work = working(
    'work',
    (value: number, { idempotencyKey: key }) => {
      keys.push({ value, key })
      return answer(value)
    },
    { sideEffect: true },
  )
  const app = await open({ capabilities: [work] })
  const { runId } = await app.run(envelope(given, { policies }), { draft })
  const reply = async (decision: Decision, more: object = {}) => {
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    const { requestId = '', valueHash = '' } = ask ?? {}
    await app.reply(runId, { requestId, valueHash, decision, by: 'ann', ...more })
    return app.result(runId)
  }
  const check = async () => {
    expect(verifyHistory(await journal(app, runId))).toEqual([])
    expect((await app.replay(runId)).differences).toEqual([])
  }
  return { app, runId, keys, reply, check }
}

const isAsked = { planner: { directives: { hitlRequiredFor: ['each'], sideEffects: 'allow' } }, runtime: [] }

describe.each([
  ['a map', mapDraft('work'), { items: [1, 2] }],
  ['a loop', loopDraft('work', { maxRounds: 2, onMaxRounds: 'accept' }), { first: { value: 1 } }],
])('%s with side effects whose output is rejected', (_, draft, given) => {
  it('makes new calls, each time', async () => {
    const { keys, reply, check } = await start(draft, given, { policies: isAsked })
    await reply('reject', { rejectAction: 'retry' })
    await reply('reject', { rejectAction: 'retry' })
    expect(await reply('approve')).toMatchObject({ status: 'completed' })
    expect(keys.map(({ value }) => value)).toEqual([1, 2, 1, 2, 1, 2])
    expect(new Set(keys.map(({ key }) => key)).size).toBe(6)
    await check()
  })
})

it('a loop that comes back to the inputs of a rejected round makes a new call', async () => {
  let round = 0
  const draft = loopDraft('work', { maxRounds: 2, onMaxRounds: 'accept' })
  // The second round of the three passes is called with 10, 20 and 10.
  const answers = [10, 1, 20, 2, 10, 3]
  const { keys, reply, check } = await start(
    draft,
    { first: { value: 1 } },
    { policies: isAsked, answer: () => answers[round++] },
  )
  await reply('reject', { rejectAction: 'retry' })
  await reply('reject', { rejectAction: 'retry' })
  expect(await reply('approve')).toMatchObject({ status: 'completed' })
  expect(keys.map(({ value }) => value)).toEqual([1, 10, 1, 20, 1, 10])
  expect(new Set(keys.map(({ key }) => key)).size).toBe(6)
  await check()
})

it('a map whose list breaks its contract and is tried again repeats its calls under their keys', async () => {
  const { nodes, ...rest } = mapDraft('work', { concurrency: 1 })
  const withTen = { output: { type: 'array', contains: { const: 10 } } }
  const draft = { ...rest, nodes: nodes.map((node) => ({ ...node, contracts: withTen })) } as DraftInput
  const policies = { planner: { directives: { sideEffects: 'allow' } }, runtime: [], onNodeFail: 'ask' }
  const answers = [2, 3, 2, 10]
  let call = 0
  const { keys, reply, check } = await start(
    draft,
    { items: [1, 2] },
    { policies, answer: () => answers[call++] },
  )
  expect(await reply('reject', { rejectAction: 'retry' })).toMatchObject({ status: 'completed' })
  expect(keys.map(({ value }) => value)).toEqual([1, 2, 1, 2])
  expect(new Set(keys.map(({ key }) => key)).size).toBe(2)
  await check()
})
