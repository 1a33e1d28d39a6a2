/** Asking for a plan: what the request contains, who is asked again, what drafting costs, and what the plan says about its nodes. */
import { modelPlanner, promptLimits } from 'proviso/plan'
import { describe, expect, it } from 'vitest'
import { createApp, type Draft, type ModelRequest, type Planner, type Provider } from '../../src/index.ts'
import { rehearsal } from '../../src/testing/index.ts'
import type { DraftRequest, EventPayloads } from '../../src/types.ts'
import { createEngine } from '../seams/engine.ts'
import { answer, envelope, journal, listTypes, local, open, says, text } from './support.ts'

type App = Awaited<ReturnType<typeof open>>

async function readPayloads<T extends keyof EventPayloads>(
  app: App,
  runId: string,
  type: T,
): Promise<EventPayloads[T][]> {
  const events = await journal(app, runId)
  return events.flatMap((event) => (event.type === type ? [event.payload as EventPayloads[T]] : []))
}

const topicIn = { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] } as const
const write = local('team.write', () => ({ text: 'Tea' }), { inputContract: topicIn, displayName: 'Writer' })
const good: Draft = { nodes: [{ id: 'mine', capabilityId: 'team.write' }] }
const bad: Draft = { nodes: [{ id: 'mine', capabilityId: 'gone' }] }

describe('plan_requested', () => {
  it('lists the capabilities that come into question, with name and status', async () => {
    const off = local('team.paint', () => ({ image: 'x' }), {
      outputContract: { type: 'object', properties: { image: { type: 'string' } }, required: ['image'] },
    })
    const app = await open({ capabilities: [write, off], providers: [rehearsal()] })
    const { runId } = await app.run(envelope())
    const [request] = await readPayloads(app, runId, 'plan_requested')
    expect(request?.capabilities[0]).toEqual({ id: 'team.write', name: 'Writer', status: 'active' })
    const ids = request?.capabilities.map(({ id }) => id)
    expect(ids).toContain('proviso.answer')
    expect(ids).not.toContain('team.paint')
    expect(request?.crcs).toEqual({ total: 5, considered: 4, rowCap: 80, missing: [] })
  })

  it('passes the priced candidates to the planner, which need not price them again', async () => {
    let seen: DraftRequest['considered']
    const planner: Planner = {
      name: 'test/seen',
      draft: async ({ considered }) => {
        seen = considered
        return good
      },
    }
    const app = await open({ capabilities: [write], planner })
    await app.run(envelope())
    expect(seen?.capabilities[0]).toMatchObject({ capability: { capabilityId: 'team.write' } })
  })

  it('lists no more than there is room for, and says how many there were', async () => {
    const many = Array.from({ length: 120 }, (_, i) =>
      local(`w${i}`, () => ({ text: 'Tea' }), { inputContract: topicIn }),
    )
    const app = await open({ capabilities: many, providers: [rehearsal()] })
    const { runId } = await app.run(envelope())
    const [request] = await readPayloads(app, runId, 'plan_requested')
    expect(request?.capabilities).toHaveLength(promptLimits.capabilities)
    expect(request?.crcs).toMatchObject({ total: 123, considered: 123 })
  })

  it('names what the caller requires and no capability has, and what a draft names and no catalog has', async () => {
    const app = await open({ capabilities: [write] })
    const planner = { selection: { require: ['team.lost'] } }
    const searched = await app.run(envelope({ policies: { planner } }))
    const [asked] = await readPayloads(app, searched.runId, 'plan_requested')
    const lost = { id: 'team.lost', name: 'team.lost', status: 'unknown' }
    expect(asked?.capabilities).toContainEqual(lost)
    expect(asked?.crcs?.missing).toEqual(['team.lost'])
    const byHand = await app.run(envelope(), { draft: bad })
    const [handed] = await readPayloads(app, byHand.runId, 'plan_requested')
    expect(handed?.capabilities).toEqual([{ id: 'gone', name: 'gone', status: 'unknown' }])
  })

  it('contains the policies by their keys, and the number of variants', async () => {
    const runtime = [
      { id: 'late', trigger: { kind: 'onTimeout', ms: 60_000 }, action: { type: 'fail' } },
      { id: 'off', enabled: false, trigger: { kind: 'manual' }, action: { type: 'pause' } },
    ]
    const planner = { topology: { variantCount: 2 }, directives: { mood: 'calm' } }
    const app = await open({ capabilities: [write] })
    const { runId } = await app.run(envelope({ policies: { planner, runtime } }))
    const [request] = await readPayloads(app, runId, 'plan_requested')
    expect(request).toMatchObject({
      attempt: 1,
      phase: 'initial',
      policies: ['late', 'off'],
      variantCount: 2,
      policyMetadata: {
        planner: ['topology.variantCount', 'directives.mood'],
        runtime: [
          { id: 'late', enabled: true, trigger: 'onTimeout', action: 'fail' },
          { id: 'off', enabled: false, trigger: 'manual', action: 'pause' },
        ],
      },
    })
  })

  it('is decided the same again when the run is replayed', async () => {
    const app = await open({ capabilities: [write] })
    const { runId } = await app.run(envelope())
    expect((await app.replay(runId)).differences).toEqual([])
  })
})

describe('who is asked again', () => {
  it('not the search, where it would draft the same: one request, and the run says so', async () => {
    const app = await open({})
    const planner = { selection: { forbid: ['proviso.answer'] } }
    const ended = await app.run(envelope({ policies: { planner } }))
    expect(ended).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    expect(ended.issues[0]?.message).toContain('the planner "search" would draft the same again')
    const order = listTypes(await journal(app, ended.runId)).filter((type) => type.startsWith('plan_'))
    expect(order).toEqual(['plan_requested', 'plan_rejected'])
    expect((await app.replay(ended.runId)).differences).toEqual([])
  })

  it('a planner that always drafts alike, if diagnostics would change its draft', async () => {
    const drafts: DraftRequest[] = []
    const planner: Planner = {
      name: 'careful',
      deterministic: true,
      async draft(request) {
        drafts.push(request)
        return request.diagnostics ? good : bad
      },
    }
    const app = await open({ planner, capabilities: [write] })
    const done = await app.run(envelope())
    expect(done.status).toBe('completed')
    expect(await readPayloads(app, done.runId, 'plan_requested')).toHaveLength(2)
  })

  it('not a planner that always drafts alike and has failed', async () => {
    const planner: Planner = {
      name: 'broken',
      deterministic: true,
      draft: () => Promise.reject(new Error('no paper')),
    }
    const app = await open({ planner })
    const ended = await app.run(envelope())
    expect(ended.issues[0]?.message).toMatch(/no paper.*would fail again/)
    expect(await readPayloads(app, ended.runId, 'plan_requested')).toHaveLength(1)
  })

  it('a model, three times, whatever it drafted', async () => {
    const planner: Planner = { name: 'test/m', draft: async () => bad }
    const app = await open({ planner })
    const ended = await app.run(envelope())
    expect(await readPayloads(app, ended.runId, 'plan_requested')).toHaveLength(3)
    expect(ended.issues[0]?.message).not.toContain('again')
  })

  it('no planner, where there is none', async () => {
    const app = await createApp({ pollMs: 50 })
    const engine = createEngine({
      store: app.store,
      catalog: { facets: () => [], capabilities: () => [], capability: () => undefined },
      dispatchers: [],
      newId: () => 'alone',
      owner: 'test',
      claim: 'own',
    })
    const parsed = { ...envelope(), constraints: {}, specialInstructions: [], metadata: {} }
    const policies = { planner: {}, runtime: [] }
    await engine.start({ ...parsed, policies, outputContract: { schema: text, constraints: [] } })
    const { finished } = await engine.settled('alone')
    expect(finished?.error?.message).toContain('there is no planner to ask')
    await engine.close({ graceMs: 0 })
    await app.close({ graceMs: 0 })
  })
})

describe('what drafting costs', () => {
  const price = { inputPerMillion: 1, outputPerMillion: 2 }

  /** Drafts in turn; says as much as it may, as a model would that is cut off. */
  function drafting(drafts: readonly Draft[], tokens = { in: 100, out: 50 }) {
    const asked: ModelRequest[] = []
    const provider: Provider = {
      name: 'test',
      async generate(request) {
        asked.push(request)
        const draft = drafts[Math.min(asked.length, drafts.length) - 1]
        const outputTokens = Math.min(tokens.out, request.maxOutputTokens ?? tokens.out)
        return {
          kind: 'text',
          text: JSON.stringify(draft),
          finish: 'stop',
          usage: { inputTokens: tokens.in, outputTokens },
        }
      },
    }
    return { asked, provider }
  }

  it('is in the journal and in what the run has used', async () => {
    const { provider } = drafting([good])
    const planner = modelPlanner({ provider, model: 'm', price })
    const app = await open({ planner, capabilities: [write] })
    const { runId } = await app.run(envelope())
    const usage = { calls: 1, inputTokens: 100, outputTokens: 50, costUsd: 0.0002 }
    expect((await readPayloads(app, runId, 'plan_generated'))[0]?.usage).toEqual(usage)
    // The node itself is a local function, which is no call.
    expect((await readPayloads(app, runId, 'complete'))[0]?.usage).toEqual(usage)
  })

  it('counts for drafts that were rejected, too', async () => {
    const { provider } = drafting([bad, good])
    const app = await open({ planner: modelPlanner({ provider, model: 'm', price }), capabilities: [write] })
    const { runId } = await app.run(envelope())
    const [rejected] = await readPayloads(app, runId, 'plan_rejected')
    expect(rejected?.usage).toMatchObject({ calls: 1, inputTokens: 100 })
    expect((await readPayloads(app, runId, 'complete'))[0]?.usage).toMatchObject({
      inputTokens: 200,
      outputTokens: 100,
    })
  })

  it('counts for a planner that broke off after a call', async () => {
    const planner: Planner = {
      name: 'breaking',
      async draft({ onUsage }) {
        onUsage?.({ calls: 1, inputTokens: 7, outputTokens: 3 })
        throw new Error('hung up')
      },
    }
    const app = await open({ planner })
    const { runId } = await app.run(envelope())
    expect((await readPayloads(app, runId, 'complete'))[0]?.usage).toMatchObject({
      calls: 3,
      inputTokens: 21,
      outputTokens: 9,
    })
  })

  it('leaves less for the nodes: what the planner took, no node gets', async () => {
    const { provider } = drafting([good])
    const agent = says('team.write', ['{"text":"Tea"}'], { inputContract: topicIn })
    const app = await open({ planner: modelPlanner({ provider, model: 'm' }), capabilities: [agent] })
    const enough = await app.run(envelope({ constraints: { maxCalls: 2 } }))
    expect(enough.status).toBe('completed')
    const short = await app.run(envelope({ constraints: { maxCalls: 1 } }))
    expect(short).toMatchObject({ status: 'failed', failure: 'budget/exhausted' })
  })

  it.each([
    ['tokens', { maxTokens: 50 }, undefined, 'budget of tokens'],
    ['dollars', { maxCostUsd: 0.000001 }, price, 'budget of cost'],
    ['an unknown price', { maxCostUsd: 5 }, undefined, 'price of the model is unknown'],
  ])('is not spent where the run has no room for it: %s', async (_, constraints, known, why) => {
    const { provider, asked } = drafting([good])
    const planner = modelPlanner({ provider, model: 'm', ...(known && { price: known }) })
    const app = await open({ planner, capabilities: [write] })
    const { runId } = await app.run(envelope({ constraints }))
    expect(asked).toEqual([])
    const [generated] = await readPayloads(app, runId, 'plan_generated')
    expect(generated?.metadata).toMatchObject({ plannerRuntime: 'search' })
    expect(String(generated?.metadata['plannerFallback'])).toContain(why)
  })

  it('is not spent again when the first draft took the last call', async () => {
    const { provider, asked } = drafting([bad, good])
    const app = await open({ planner: modelPlanner({ provider, model: 'm' }), capabilities: [write] })
    const { runId } = await app.run(envelope({ constraints: { maxCalls: 1 } }))
    expect(asked).toHaveLength(1)
    const [generated] = await readPayloads(app, runId, 'plan_generated')
    expect(String(generated?.metadata['plannerFallback'])).toContain('budget of calls')
  })

  it('never goes over: 64 runs at once on limits from nothing to plenty', async () => {
    const { asked, provider } = drafting([bad, good], { in: 0, out: 4_000 })
    // A provider that reads what it is sent counts the prompt as we do.
    const honest: Provider = {
      name: 'test',
      async generate(request) {
        const given = await provider.generate(request)
        const inputTokens = Math.ceil((request.system.length + request.prompt.length) / 4)
        return given.kind === 'text' ? { ...given, usage: { ...given.usage, inputTokens } } : given
      },
    }
    const app = await open({ planner: modelPlanner({ provider: honest, model: 'm' }), capabilities: [write] })
    const limits = Array.from({ length: 64 }, (_, i) => 1 + i * 300)
    const runs = await Promise.all(
      limits.map(async (maxTokens) => ({
        maxTokens,
        ...(await app.run(envelope({ constraints: { maxTokens, maxCalls: 3 } }))),
      })),
    )
    for (const { runId, maxTokens } of runs) {
      const [end] = await readPayloads(app, runId, 'complete')
      const { calls = 0, inputTokens = 0, outputTokens = 0 } = end?.usage ?? {}
      expect(inputTokens + outputTokens).toBeLessThanOrEqual(maxTokens)
      expect(calls).toBeLessThanOrEqual(3)
      expect((await app.state(runId)).reserved.size).toBe(0)
    }
    expect(asked.length).toBeGreaterThan(0)
    expect(runs.some(({ status }) => status === 'completed')).toBe(true)
  })
})

describe('plan_generated', () => {
  it('lists its nodes under every name that clients know', async () => {
    const app = await open({ capabilities: [write] })
    const constraints = [
      { constraintId: 'short', level: 'hard', expr: { '!=': [{ var: 'text' }, 'Coffee'] } },
    ]
    const { runId } = await app.run(envelope({ outputContract: { schema: text, constraints } }))
    const [generated] = await readPayloads(app, runId, 'plan_generated')
    expect(generated).toMatchObject({ planVersion: 1, satisfactionScore: 1, plan: { version: 1 } })
    expect(generated?.nodes).toEqual([
      {
        id: 'write',
        nodeId: 'write',
        capabilityId: 'team.write',
        label: 'Writer',
        kind: 'execution',
        status: 'pending',
        provides: ['text'],
        enforces: ['short'],
        contracts: { inputMode: 'json_schema', outputMode: 'json_schema' },
        facets: { input: [], output: [] },
        derivedCapability: false,
      },
    ])
  })

  it('says which sides come from facets, and which nodes are done when the run is resumed', async () => {
    const tone = local(
      'team.tone',
      () => ({ copyVariants: [{ headline: 'H', body: 'B', callToAction: 'C' }] }),
      {
        inputContract: ['toneOfVoice'],
        outputContract: ['copyVariants'],
      },
    )
    const schema = {
      type: 'object',
      properties: { copyVariants: { type: 'array' } },
      required: ['copyVariants'],
    }
    const runtime = [
      { id: 'stop', trigger: { kind: 'onNodeComplete' }, action: { type: 'pause' }, maxAttempts: 1 },
    ]
    const app = await open({ capabilities: [tone] })
    const given = { inputs: { toneOfVoice: 'friendly' }, outputContract: { schema }, policies: { runtime } }
    const first = await app.run(envelope(given))
    expect(first).toMatchObject({ status: 'waiting', paused: {} })
    await app.resume(first.runId, { by: 'ann' })
    expect((await app.result(first.runId)).status).toBe('completed')
    const [planned, resumed] = await readPayloads(app, first.runId, 'plan_generated')
    expect(planned?.nodes?.[0]).toMatchObject({
      status: 'pending',
      contracts: { inputMode: 'facets', outputMode: 'facets' },
      facets: { input: ['toneOfVoice'], output: ['copyVariants'] },
    })
    expect(resumed?.metadata.resumed).toBe(true)
    expect(resumed?.nodes?.[0]?.status).toBe('completed')
  })
})

describe('constraints and policies', () => {
  const scored = local('team.score', () => ({ text: 'Tea', score: 0.4 }), {
    inputContract: topicIn,
    outputContract: {
      type: 'object',
      properties: { text: { type: 'string' }, score: { type: 'number' } },
      required: ['text', 'score'],
    },
  })
  const atLeast = (bound: number, level = 'hard') => ({
    constraintId: `at-least-${bound}`,
    level,
    expr: { '>=': [{ var: 'score' }, bound] },
  })
  const schema = {
    type: 'object',
    properties: { text: { type: 'string' }, score: { type: 'number' } },
    required: ['text', 'score'],
  }

  it('the contract wins at acceptance: an approval by policy does not make a false answer true', async () => {
    const runtime = [{ id: 'look', trigger: { kind: 'onNodeComplete' }, action: { type: 'hitl' } }]
    const app = await open({ capabilities: [scored] })
    const relaxed = await app.run(envelope({ outputContract: { schema }, policies: { runtime } }))
    expect(relaxed.status).toBe('waiting')
    await answer(app, relaxed.runId, 'approve')
    expect((await app.result(relaxed.runId)).status).toBe('completed')
    const strict = { outputContract: { schema, constraints: [atLeast(0.8)] }, policies: { runtime } }
    const held = await app.run(envelope(strict))
    const ended = held.status === 'waiting' ? await approved(app, held.runId) : held
    expect(ended.status).toBe('failed')
  })

  it('a new policy acts by being in the envelope, and only there', async () => {
    const below = (threshold: number) => [
      {
        id: `below-${threshold}`,
        trigger: { kind: 'onNodeComplete', condition: { '<': [{ var: 'score' }, threshold] } },
        action: { type: 'fail', message: `under ${threshold}` },
      },
    ]
    const app = await open({ capabilities: [scored] })
    const ends = await Promise.all(
      [0.3, 0.5].map((threshold) =>
        app.run(envelope({ outputContract: { schema }, policies: { runtime: below(threshold) } })),
      ),
    )
    expect(ends.map(({ status }) => status)).toEqual(['completed', 'failed'])
    expect(ends[1]?.issues[0]?.message).toBe('under 0.5')
    expect((await app.run(envelope({ outputContract: { schema } }))).status).toBe('completed')
  })

  it('the score of the plan is the weighted mean, and is kept with the run', async () => {
    const app = await open({ capabilities: [scored] })
    const tea = { constraintId: 'said', level: 'hard', expr: { '!': [{ missing: ['text'] }] } }
    const constraints = [tea, atLeast(0.9, 'soft'), atLeast(0.1, 'informational')]
    const { runId } = await app.run(envelope({ outputContract: { schema, constraints } }))
    const [generated] = await readPayloads(app, runId, 'plan_generated')
    expect(generated?.satisfactionScore).toBeCloseTo(1 / 1.5)
    expect((await app.store.head(runId))?.satisfactionScore).toBeCloseTo(1 / 1.5)
  })
})

async function approved(app: App, runId: string) {
  await answer(app, runId, 'approve')
  return app.result(runId)
}
