/** Dispatchers and planners of other authors: for any result, the run comes to an end and says why. */

import { expect, it } from 'vitest'
import { type Dispatcher, defineCapability, type JsonSchema, type Planner } from '../../src/index.ts'
import { wrongly } from '../wrongly.ts'
import { envelope, local, open, text } from './support.ts'

const value = { text: 'Tea' }
const ok = (odd: object) => ({ outcome: 'ok', output: { value }, issues: [], usage: { calls: 1 }, ...odd })
const good = { outcome: 'ok', output: { value }, issues: [], usage: { calls: 1 } }
const results: readonly (readonly [string, unknown, string])[] = [
  ['nothing', undefined, 'returned no result'],
  ['null', null, 'returned no result'],
  ['an outcome of its own', { outcome: 'great', issues: [], usage: { calls: 1 } }, 'great'],
  ['no issues', { outcome: 'ok', output: { value }, usage: { calls: 1 } }, 'issues'],
  ['no usage', { outcome: 'ok', output: { value }, issues: [] }, 'usage.calls'],
  ['no issue', { outcome: 'invalid', issues: [null], usage: { calls: 1 } }, 'issue'],
  ['a word as an issue', { outcome: 'invalid', issues: ['bad'], usage: { calls: 1 } }, 'issue'],
  ['tokens that are no number', ok({ usage: { calls: 1, inputTokens: 1n } }), 'usage.inputTokens'],
  ['cost below nothing', ok({ usage: { calls: 1, costUsd: -1 } }), 'usage.costUsd'],
  ['a time to wait without end', ok({ outcome: 'throttled', retryAfterMs: 1 / 0 }), 'retryAfterMs'],
  ['invalid repairs', ok({ output: { value, repairs: 'many' } }), 'repairs'],
  ['an invalid raw text', ok({ output: { value, raw: 1n } }), 'raw'],
  ['an invalid model', ok({ model: 1n }), 'model'],
  [
    'calls that are no number',
    { outcome: 'ok', output: { value }, issues: [], usage: { calls: Number.NaN } },
    'usage.calls',
  ],
  ['tokens that are no number', { ...good, usage: { calls: 1, outputTokens: 'many' } }, 'usage.outputTokens'],
  ['invalid issues', { ...good, outcome: 'refused', issues: [null] }, 'issues'],
  ['a confidence in words', { ...good, output: { value, confidence: 'high' } }, 'confidence'],
  ['a confidence above one', { ...good, output: { value, confidence: 7 } }, 'confidence'],
  ['a confidence that is no number', { ...good, output: { value, confidence: Number.NaN } }, 'NaN'],
  ['an escalation in words', { ...good, output: { value, escalate: 'no' } }, 'escalate'],
  ['an invalid output', { ...good, output: 'Tea' }, 'output'],
  ['a function beside its output', { ...good, model: () => 'x' }, 'function'],
]

const around: { [name: string]: unknown } = { text: 'Tea' }
around['self'] = around
const values: readonly (readonly [string, unknown, string])[] = [
  ['a function', { text: 'Tea', more: () => 1 }, '/more'],
  ['a BigInt', { text: 'Tea', more: [1n] }, '/more/0'],
  ['itself', around, ''],
  ['a date', { text: 'Tea', more: new Date(0) }, '/more'],
  ['a hole', { text: 'Tea', more: [undefined] }, '/more/0'],
]

it.each(values)('a value with %s in it is invalid, and the issue says where', async (_name, bad, pointer) => {
  const done = await runWith({ ...good, output: { value: bad } })
  expect(done).toMatchObject({ status: 'failed', failure: 'attempt/invalid' })
  expect(done.issues).toMatchObject([{ code: 'json/unrepresentable', at: { pointer } }])
})

it('a value is copied when it is brought: getters are read once, classes leave their members, later changes have no effect', async () => {
  let reads = 0
  class Tea {
    text = 'Tea'
    get more() {
      return 1
    }
  }
  const brought = Object.defineProperty(new Tea(), 'cups', { enumerable: true, get: () => ++reads })
  const { runId, status, state } = await runWith({ ...good, output: { value: brought, confidence: 1 } })
  brought.text = 'Coffee'
  expect(status).toBe('completed')
  expect((await state(runId)).nodes.get('write')?.output).toEqual({
    value: { text: 'Tea', cups: 1 },
    confidence: 1,
  })
  expect(reads).toBe(1)
})

it('a dispatcher that reports what JSON cannot hold gets an error, and the usage that it reports must be a count', async () => {
  let reported: unknown
  const odd: Dispatcher = {
    kind: 'odd',
    remote: false,
    async dispatch({ onEvent, onUsage }) {
      onUsage?.({ calls: 2 })
      onUsage?.(wrongly({ calls: 'many' }))
      try {
        onEvent('odd', wrongly({ n: 1n }))
      } catch (cause) {
        reported = cause
      }
      throw new Error('That was it')
    },
  }
  const { status, runId, state } = await runBy(odd)
  expect(reported).toMatchObject({ code: 'json/unrepresentable', at: { pointer: '/n' } })
  expect(status).toBe('failed')
  expect((await state(runId)).budget.calls).toBe(2)
})

function runWith(brought: unknown) {
  return runBy({ kind: 'odd', remote: false, dispatch: async () => wrongly(brought) })
}

async function runBy(odd: Dispatcher) {
  const inputContract = { type: 'object' } as const
  const write = defineCapability({ capabilityId: 'write', kind: 'odd', inputContract, outputContract: text })
  const app = await open({ dispatchers: [odd], capabilities: [write] })
  const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
  return { ...(await app.run(envelope(), { draft })), state: app.state }
}

it.each(results)('a dispatcher that brings %s fails its node', async (_name, brought, why) => {
  const done = await runWith(brought)
  expect(done).toMatchObject({ status: 'failed', failure: 'attempt/provider_error' })
  expect(done.issues[0]?.message).toContain(why)
})

it('a dispatcher that reports nonsense is used as far as possible', async () => {
  const odd: Dispatcher = {
    kind: 'odd',
    remote: false,
    async dispatch({ onEvent, onUsage }) {
      onEvent(wrongly(1n))
      onUsage?.({ calls: 2 })
      for (const nonsense of [undefined, 'many', { calls: Number.NaN }]) onUsage?.(wrongly(nonsense))
      throw new Error('It was too much')
    },
  }
  const inputContract = { type: 'object' } as const
  const write = defineCapability({ capabilityId: 'write', kind: 'odd', inputContract, outputContract: text })
  const app = await open({ dispatchers: [odd], capabilities: [write] })
  const done = await app.run(envelope(), { draft: { nodes: [{ id: 'write', capabilityId: 'write' }] } })
  expect(done.issues[0]?.message).toBe('It was too much')
  expect((await app.state(done.runId)).budget.calls).toBe(2)
})

it('a function that changes its inputs changes nothing for others', async () => {
  const seen: string[] = []
  const spoil = defineCapability({
    capabilityId: 'write',
    inputContract: { type: 'object' },
    outputContract: text as JsonSchema,
    idempotent: true,
    run(_inputs, context) {
      seen.push(JSON.stringify(context.returns))
      const returns = context.returns as object
      for (const name of Object.keys(returns)) Reflect.deleteProperty(returns, name)
      return seen.length < 3 ? {} : value
    },
  })
  const app = await open({ capabilities: [spoil] })
  const draft = { nodes: [{ id: 'write', capabilityId: 'write', retry: { max: 2 } }] }
  expect(await app.run(envelope(), { draft })).toMatchObject({ status: 'completed', output: value })
  expect(new Set(seen)).toEqual(new Set([JSON.stringify(text)]))
  expect(app.capabilities().find(({ capabilityId }) => capabilityId === 'write')?.outputContract).toEqual(
    text,
  )
})

const endless: { nodes: unknown[] } = { nodes: [] }
endless.nodes.push({ id: 'write', capabilityId: 'write', data: endless })

it.each([
  ['that is nothing', undefined],
  ['without nodes', {}],
  ['without end', endless],
  ['with a function', { nodes: [{ id: 'write', capabilityId: 'write', data: { run: () => 1 } }] }],
])('a planner that drafts something %s is refused', async (_name, draft) => {
  const planner: Planner = { name: 'odd', draft: async () => wrongly(draft) }
  const app = await open({ planner, capabilities: [local('write', () => value)] })
  expect(await app.run(envelope())).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
})

const unspeakable = new Error()
Object.defineProperty(unspeakable, 'message', {
  get() {
    throw unspeakable
  },
})

it.each([
  ['nothing', undefined],
  ['an object without a prototype', Object.create(null)],
  ['an error that cannot be read', unspeakable],
  ['an error whose message is not a text', Object.assign(new Error(), { message: 1n })],
])('a function or planner that throws %s has failed, and the run says so', async (_name, thrown) => {
  const fail = () => {
    throw thrown
  }
  const app = await open({ capabilities: [local('write', fail)] })
  const done = await app.run(envelope(), { draft: { nodes: [{ id: 'write', capabilityId: 'write' }] } })
  expect(done).toMatchObject({ status: 'failed', failure: 'attempt/provider_error' })
  expect(typeof done.issues[0]?.message).toBe('string')
  const planless = await open({ planner: { name: 'odd', draft: fail } })
  expect(await planless.run(envelope())).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
})
