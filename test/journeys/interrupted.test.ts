/** Attempts whose end was lost or is of no use: what they are charged, and under which key they are called again. */
import { describe, expect, it } from 'vitest'
import { compatible } from '../../src/adapters/providers/compatible.ts'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { type App, defineCapability, type JournalEvent } from '../../src/index.ts'
import type { EventPayloads, EventType } from '../../src/types.ts'
import type { Reply } from '../models/openai-server.ts'
import { serveModel } from '../models/serve-model.ts'
import { answer, envelope, journal, local, open, text } from './support.ts'

const write = defineCapability({
  capabilityId: 'write',
  kind: 'model',
  inputContract: { type: 'object' },
  outputContract: text,
  preferredModels: ['compatible/test-model'],
})
const prices = [{ model: 'compatible/*', inputPerMillion: 1000, outputPerMillion: 1000 }]

/** A process stops while the second call of the ladder is under way, and another one carries on. */
async function interrupted(limits: object, node: object = {}) {
  const store = createMemoryStore()
  let underWay = () => {}
  const second = new Promise<void>((resolve) => {
    underWay = resolve
  })
  const replies: Reply[] = [{ text: 'no idea' }, { hang: true }]
  const server = await serveModel((_, index) => {
    if (index === 1) underWay()
    return replies[index] ?? { text: '{"text":"Tea"}' }
  })
  const options = {
    store,
    capabilities: [write],
    providers: [compatible({ baseURL: server.url, apiKey: 'k' })],
    prices,
  }
  const before = await open(options)
  const draft = { nodes: [{ id: 'write', capabilityId: 'write', ...node }], limits }
  const { id: runId } = await before.start(envelope(), { draft })
  await second
  await before.close({ graceMs: 0 })
  const after = await open(options)
  const done = await after.result(runId)
  const events = await journal(after, runId)
  return { done, events, state: await after.state(runId), calls: server.seen.length }
}

function payloads<T extends EventType>(events: readonly JournalEvent[], type: T): EventPayloads[T][] {
  return events.filter((event) => event.type === type).map(({ payload }) => payload as EventPayloads[T])
}

describe('a model attempt that a crash cut off in the middle of its ladder', () => {
  it('is charged the calls and tokens that were set aside, and the node continues', async () => {
    const { done, events, state, calls } = await interrupted({ maxCalls: 9, maxTokens: 40_000 })
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    const [lost] = payloads(events, 'attempt_end')
    const [held] = payloads(events, 'budget_reserved')
    expect(held).toMatchObject({ attempt: 1, calls: 4 })
    // Four answers of 2,000 tokens, and their prompts.
    expect(held?.tokens).toBeGreaterThan(8000)
    expect(lost).toMatchObject({
      outcome: 'outcome_unknown',
      usage: { calls: 4, outputTokens: held?.tokens ?? 0 },
    })
    // Every attempt has a budget of its own.
    expect(payloads(events, 'budget_reserved')[1]).toMatchObject({ attempt: 2, calls: 4 })
    expect(calls).toBe(3)
    expect(state.budget).toMatchObject({ calls: 5, reservedCalls: 0, reservedTokens: 0, reservedCostUsd: 0 })
  })

  it('is charged the cost that was set aside: a limit of cost holds, and what ends the run is said', async () => {
    const { done, events, state } = await interrupted({ maxCostUsd: 1 })
    expect(payloads(events, 'attempt_end')[0]).toMatchObject({ usage: { calls: 4, costUsd: 1 } })
    expect(done).toMatchObject({ status: 'failed', failure: 'budget/exhausted' })
    expect(state.budget).toMatchObject({ costUsd: 1, reservedCostUsd: 0 })
  })

  it('sets aside no more cost than its node may have, so that the run continues after a crash', async () => {
    const { done, events, state } = await interrupted({ maxCostUsd: 5 }, { costBudgetUsd: 1 })
    expect(payloads(events, 'budget_reserved')[0]).toMatchObject({ costUsd: 1 })
    expect(done.status).toBe('completed')
    expect(state.budget.costUsd).toBeLessThanOrEqual(2)
    expect(state.budget.reservedCostUsd).toBe(0)
  })

  it('is charged one call where the run has no limits', async () => {
    const { done, events } = await interrupted({})
    expect(payloads(events, 'attempt_end')[0]).toMatchObject({ usage: { calls: 1 } })
    expect(done.status).toBe('completed')
  })
})

/** A change of the world that keeps the keys it was called under, and answers the nth call in this way. */
function paying(answer: (nth: number) => unknown, more: object = {}) {
  const keys: string[] = []
  const pay = defineCapability({
    capabilityId: 'pay',
    inputContract: { type: 'object' },
    outputContract: text,
    idempotent: true,
    sideEffect: true,
    ...more,
    run: (_, { idempotencyKey }) => {
      keys.push(idempotencyKey)
      return answer(keys.length) as never
    },
  })
  return { pay, keys }
}

describe('a change of the world whose answer is of no use', () => {
  /** Pays once per key, and answers in these ways. */
  async function paid(answers: readonly unknown[], more: object = {}) {
    const { pay, keys } = paying((nth) => answers[nth - 1], more)
    const app: App = await open({ capabilities: [pay] })
    const nodes = [{ id: 'pay', capabilityId: 'pay', retry: { max: 2 } }]
    const done = await app.run(envelope(), { draft: { nodes } })
    return { done, keys }
  }

  it('is called again under the same key when the answer cannot be read', async () => {
    const { done, keys } = await paid([{ txt: 'paid' }, 7, { text: 'paid' }])
    expect(done.status).toBe('completed')
    expect(keys).toHaveLength(3)
    expect(new Set(keys).size).toBe(1)
  })

  it('is called again under the same key when a condition does not hold', async () => {
    const postConditions = [{ '==': [{ var: 'text' }, 'paid'] }]
    const { done, keys } = await paid([{ text: 'perhaps' }, { text: 'paid' }], { postConditions })
    expect(done.status).toBe('completed')
    expect(new Set(keys).size).toBe(1)
  })

  it('has another key with every answer where nothing outside is changed', async () => {
    const { keys } = await paid([{ txt: 'paid' }, { text: 'paid' }], { sideEffect: false })
    expect(new Set(keys).size).toBe(2)
  })
})

describe('a change of the world that one plan does without, and the next has again', () => {
  /** Its answer is of no use under the first plan; the second is without it, the third has it back. */
  async function comesBack(more: object = {}) {
    const { pay, keys } = paying((nth) => (nth === 1 ? { txt: 'paid' } : { text: 'paid' }), more)
    const [payNode, writeNode] = [
      { id: 'pay', capabilityId: 'pay' },
      { id: 'write', capabilityId: 'write' },
    ]
    const plans = [[payNode], [writeNode], [writeNode, payNode]]
    let drafts = 0
    const planner = {
      name: 'changing',
      draft: async () => ({ nodes: plans[drafts++] ?? [], output: { node: drafts === 2 ? 'write' : 'pay' } }),
    }
    const replan = (id: string, kind: string, capabilityId: string) => ({
      id,
      trigger: { kind, selector: { capabilityId } },
      action: { type: 'replan' },
      maxAttempts: 1,
    })
    const runtime = [replan('without', 'onValidationFail', 'pay'), replan('with', 'onNodeComplete', 'write')]
    const app = await open({ planner, capabilities: [pay, local('write', () => ({ text: 'Tea' }))] })
    const done = await app.run(envelope({ policies: { runtime } }))
    return { app, done, keys, state: await app.state(done.runId) }
  }

  it('is called under the key that it had', async () => {
    const { done, keys, state } = await comesBack()
    expect([done.status, state.planVersion]).toEqual(['completed', 3])
    expect(keys).toHaveLength(2)
    expect(new Set(keys).size).toBe(1)
  })

  it('is not called again before a person says so where that is not safe', async () => {
    const { app, done, keys, state } = await comesBack({ idempotent: false })
    expect([done.status, state.planVersion, keys.length]).toEqual(['waiting', 3, 1])
    const [ask] = await app.store.asks({ runId: done.runId, status: 'pending' })
    expect(ask).toMatchObject({ kind: 'unknown_outcome', nodeId: 'pay' })
    await answer(app, done.runId, 'approve')
    expect((await app.result(done.runId)).status).toBe('completed')
    expect(new Set(keys).size).toBe(1)
  })
})
