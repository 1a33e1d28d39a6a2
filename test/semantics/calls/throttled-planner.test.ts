/**
 * A planner model that throttles or cannot be reached is tried five times with growing pauses, like every other call. Then
 * the search drafts and the plan says why, or, where there is no search behind it, the run fails and says what happened.
 */
import { describe, expect, it } from 'vitest'
import { compatible } from '../../../src/adapters/providers/compatible.ts'
import { listen } from '../../agents/support.ts'
import { envelope, journal, local, open } from '../../journeys/support.ts'
import type { openAiServer, Reply } from '../../models/openai-server.ts'
import { serveModel } from '../../models/serve-model.ts'
import { createQuickClock, patient } from '../../quick-clock.ts'

const throttled: Reply = { status: 429, body: { error: { message: 'slow down' } } }
const overloaded: Reply = { status: 503, body: { error: { message: 'overloaded' } } }
const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
const alwaysHalf = () => 0.5
/** Half of 0.5, 1, 2 and 4 seconds. */
const growing = [250, 500, 1_000, 2_000]

async function plan(mode: 'auto' | 'model', url: string) {
  const clock = createQuickClock()
  const app = await open({
    ...patient,
    clock,
    random: alwaysHalf,
    providers: [compatible({ baseURL: url })],
    planner: { mode, model: 'compatible/planner' },
    capabilities: [local('write', () => ({ text: 'Tea' }))],
  })
  const done = await app.run(envelope())
  const events = await journal(app, done.runId)
  const generated = events.find(({ type }) => type === 'plan_generated')?.payload as
    | { metadata: { plannerRuntime?: string; plannerFallback?: string } }
    | undefined
  return { done, events, metadata: generated?.metadata, waits: clock.waits.filter((ms) => ms >= 100) }
}

async function serve(replies: Parameters<typeof openAiServer>[0]) {
  const server = await serveModel(replies)
  return server
}

describe('a planner model that throttles for ever', () => {
  it.each([
    ['429', throttled, 'slow down'],
    ['503', overloaded, 'overloaded'],
  ] as const)(
    'with %s is tried five times with growing pauses, then the search drafts and says why',
    async (_, reply, said) => {
      const server = await serve(() => reply)
      const { done, metadata, waits } = await plan('auto', server.url)
      expect(server.seen).toHaveLength(5)
      expect(waits.slice(0, 4).map(Math.round)).toEqual(growing)
      expect(metadata).toMatchObject({
        plannerRuntime: 'search',
        plannerFallback: expect.stringMatching(new RegExp(`did not answer in 5 tries: .*${said}`)),
      })
      expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    },
  )

  it('fails the run after five tries where there is no search behind it, and says so once', async () => {
    const server = await serve(() => throttled)
    const { done, events } = await plan('model', server.url)
    expect(server.seen).toHaveLength(5)
    expect(events.filter(({ type }) => type === 'plan_requested')).toHaveLength(1)
    expect(done).toMatchObject({
      status: 'failed',
      failure: 'planner/throttled',
      error: {
        type: 'TASK_FAILURE',
        details: {
          outcome: 'throttled',
          provider: 'compatible',
          model: 'planner',
          tries: 5,
          hint: expect.stringContaining('planner.mode'),
        },
      },
    })
    expect(done.issues[0]?.message).toMatch(
      /^Cannot plan: the planner model "planner" of provider "compatible" is throttled: no answer in 5 tries: .*slow down/,
    )
  })

  it('costs no calls of the run', async () => {
    const server = await serve(() => throttled)
    const { events } = await plan('auto', server.url)
    const generated = events.find(({ type }) => type === 'plan_generated')?.payload
    expect(generated).toMatchObject({ usage: { calls: 0 } })
  })
})

it('a planner model that recovers drafts after the pauses', async () => {
  const server = await serve([throttled, overloaded, { text: JSON.stringify(draft) }])
  const { done, metadata, waits } = await plan('auto', server.url)
  expect(metadata).toMatchObject({ plannerRuntime: 'model' })
  expect(waits.slice(0, 2).map(Math.round)).toEqual(growing.slice(0, 2))
  expect(done.status).toBe('completed')
})

it.each([
  ['auto', 'completed'],
  ['model', 'failed'],
] as const)('a planner model that refuses connections is tried five times: %s', async (mode, status) => {
  const { url, server } = await listen(() => {})
  await new Promise((resolve) => server.close(resolve))
  const { done, metadata, waits } = await plan(mode, url)
  expect(waits.slice(0, 4).map(Math.round)).toEqual(growing)
  expect(done.status).toBe(status)
  if (mode === 'auto') expect(metadata?.plannerFallback).toContain('in 5 tries')
  else
    expect(done).toMatchObject({
      failure: 'planner/unavailable',
      error: { details: { outcome: 'unavailable', provider: 'compatible', model: 'planner', tries: 5 } },
    })
})

it('a planner model whose key is refused is not tried again', async () => {
  const server = await serve(() => ({ status: 401, body: { error: { message: 'bad key' } } }))
  const { done } = await plan('model', server.url)
  expect(server.seen).toHaveLength(1)
  expect(done.failure).toBe('plan/rejected')
  expect(JSON.stringify(done.error)).toContain('API key')
})
