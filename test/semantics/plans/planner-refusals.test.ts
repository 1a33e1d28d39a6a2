/**
 * A planner model that refuses, by the provider's field or in words, is asked once and never repaired. The search drafts
 * and the plan says why; where there is no search behind it, the run fails at once with what the model said.
 */
import { describe, expect, it } from 'vitest'
import { compatible } from '../../../src/adapters/providers/compatible.ts'
import { envelope, journal, local, open } from '../../journeys/support.ts'
import type { Reply } from '../../models/openai-server.ts'
import { serveModel } from '../../models/serve-model.ts'

const inField: Reply = { refusal: 'I will not plan this.' }

const refusals: readonly (readonly [string, Reply, string])[] = [
  ['in two words', { text: "I'm sorry, I can't." }, "I'm sorry, I can't."],
  ['in a sentence', { text: 'I cannot assist with this request.' }, 'I cannot assist with this request.'],
  ['in the field of the provider', inField, 'I will not plan this.'],
]

async function plan(mode: 'auto' | 'model', reply: Reply) {
  const server = await serveModel(() => reply)
  const app = await open({
    providers: [compatible({ baseURL: server.url })],
    planner: { mode, model: 'compatible/planner' },
    capabilities: [local('write', () => ({ text: 'Tea' }))],
  })
  const done = await app.run(envelope())
  return { done, events: await journal(app, done.runId), calls: server.seen.length }
}

describe.each(refusals)('a planner model that refuses %s', (_, reply, said) => {
  it('is asked once; the search drafts and says why', async () => {
    const { done, events, calls } = await plan('auto', reply)
    expect(calls).toBe(1)
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect(events.find(({ type }) => type === 'plan_generated')?.payload).toMatchObject({
      metadata: {
        plannerRuntime: 'search',
        plannerFallback: `the model refused to draft: ${said}`,
      },
    })
  })

  it('is asked once; without a search behind it the run fails with its words', async () => {
    const { done, events, calls } = await plan('model', reply)
    expect(calls).toBe(1)
    expect(done).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    expect(done.issues[0]?.message).toContain(
      `Cannot plan: the planner "compatible/planner" failed: the model refused to draft: ${said}`,
    )
    const rejected = events.filter(({ type }) => type === 'plan_rejected')
    expect(rejected).toHaveLength(1)
    expect(rejected[0]?.payload).toMatchObject({
      diagnostics: {
        failures: [
          { suggestion: expect.stringContaining('`planner.model`'), details: { outcome: 'refused' } },
        ],
      },
    })
  })
})
