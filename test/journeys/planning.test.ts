/** From an envelope to an answer without a draft: who plans, how diagnostics change the next draft, and what goes wrong. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { modelPlanner } from 'proviso/plan'
import { describe, expect, it } from 'vitest'
import { type Draft, defineCapability, type Json, type Planner, type Provider } from '../../src/index.ts'
import { marketingCapabilities } from '../../src/presets/marketing/index.ts'
import type { DraftRequest, EventPayloads } from '../../src/types.ts'
import { root } from '../support.ts'
import { answer, envelope, journal, listTypes, local, open, says, text } from './support.ts'

/** A model that answers every call with what the function says of the schema that is wanted. */
function model(
  reply: (prompt: string, system: string) => Json | string,
): Provider & { readonly prompts: string[] } {
  const prompts: string[] = []
  return {
    name: 'test',
    prompts,
    async generate({ prompt, system }) {
      prompts.push(prompt)
      const said = reply(prompt, system)
      return {
        kind: 'text',
        text: typeof said === 'string' ? said : JSON.stringify(said),
        finish: 'stop',
        usage: { inputTokens: 1, outputTokens: 1 },
      }
    },
  }
}

const payloads = async <T extends keyof EventPayloads>(
  app: Awaited<ReturnType<typeof open>>,
  runId: string,
  type: T,
): Promise<EventPayloads[T][]> =>
  (await journal(app, runId)).flatMap((event) =>
    event.type === type ? [event.payload as EventPayloads[T]] : [],
  )

const scored = {
  type: 'object',
  properties: { score: { type: 'number', minimum: 0, maximum: 1 } },
  required: ['score'],
} as const
const textIn = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const topicIn = { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] } as const

describe('a run without a draft', () => {
  it('is planned by search and done by the open answer, through the provider', async () => {
    const provider = model(() => ({ text: 'Tea' }))
    const app = await open({ providers: [provider], defaultModel: 'test/m' })
    const done = await app.run(envelope())
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect(done.provenance[0]).toMatchObject({ nodeId: 'answer', capabilityId: 'proviso.answer' })
    expect(provider.prompts[0]).toContain('"topic":"tea"')
    const [generated] = await payloads(app, done.runId, 'plan_generated')
    expect(generated?.metadata).toMatchObject({
      plannerRuntime: 'search',
      planVersionTag: 'v1',
      normalizationInjected: false,
    })
  })

  it('chains capabilities from the inputs to the contract', async () => {
    const app = await open({
      capabilities: [
        local('polish', ({ text: raw }) => ({ final: `${raw as string}!` }), {
          inputContract: textIn,
          outputContract: { type: 'object', properties: { final: { type: 'string' } }, required: ['final'] },
        }),
        local('write', ({ topic }) => ({ text: `On ${topic as string}` }), { inputContract: topicIn }),
      ],
    })
    const schema = { type: 'object', properties: { final: { type: 'string' } }, required: ['final'] }
    const done = await app.run(envelope({ outputContract: { schema } }))
    expect(done).toMatchObject({ status: 'completed', output: { final: 'On tea!' } })
  })

  it('evaluates at a check what several nodes supply, and fails where it does not hold', async () => {
    const number = (name: string, value: number) =>
      local(name, () => ({ [name]: value }), {
        outputContract: { type: 'object', properties: { [name]: { type: 'number' } }, required: [name] },
      })
    const schema = {
      type: 'object',
      properties: { low: { type: 'number' }, high: { type: 'number' } },
      required: ['low', 'high'],
    }
    const constraints = [
      { constraintId: 'order', level: 'hard', expr: { '<': [{ var: 'low' }, { var: 'high' }] } },
    ]
    const contract = envelope({ outputContract: { schema, constraints } })
    const good = await open({ capabilities: [number('low', 1), number('high', 2)] })
    expect(await good.run(contract)).toMatchObject({ status: 'completed', output: { low: 1, high: 2 } })
    const bad = await open({ capabilities: [number('low', 3), number('high', 2)] })
    const ended = await bad.run(contract)
    expect(ended.status).toBe('failed')
    expect(ended.issues[0]?.message).toContain('"order"')
  })

  it('asks the node again that breaks a constraint, with what was wrong', async () => {
    let asked = 0
    const provider = model((prompt) => {
      asked++
      return { text: prompt.includes('not accepted') ? 'Tea is ready' : 'Tea' }
    })
    const app = await open({ providers: [provider], defaultModel: 'test/m' })
    const constraints = [{ constraintId: 'long', level: 'hard', expr: { '!=': [{ var: 'text' }, 'Tea'] } }]
    const done = await app.run(envelope({ outputContract: { schema: text, constraints } }))
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea is ready' } })
    expect(asked).toBe(2)
  })

  it('asks at the end for a label that no node has', async () => {
    const app = await open({ capabilities: [local('write', () => ({ text: 'Tea' }))] })
    const { runId, status } = await app.run(envelope({ policies: { hitlRequiredFor: ['final_publish'] } }))
    expect(status).toBe('waiting')
    await answer(app, runId, 'approve')
    expect((await app.result(runId)).status).toBe('completed')
  })

  it('says what is missing when there is no plan', async () => {
    const app = await open({})
    const planner = { selection: { forbid: ['proviso.answer'] } }
    const ended = await app.run(envelope({ policies: { planner } }))
    expect(ended).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    const rejections = await payloads(app, ended.runId, 'plan_rejected')
    expect(rejections).toHaveLength(1)
    expect(rejections[0]?.diagnostics.failures[0]?.constraint).toBe('"text" of the answer has a producer')
  })

  it('is drafted by a model where one is given', async () => {
    const draft = { nodes: [{ id: 'mine', capabilityId: 'write' }] }
    const planner = modelPlanner({ provider: model(() => draft), model: 'm' })
    const app = await open({ planner, capabilities: [local('write', () => ({ text: 'Tea' }))] })
    const done = await app.run(envelope())
    expect(done.provenance[0]?.nodeId).toBe('mine')
    const [generated] = await payloads(app, done.runId, 'plan_generated')
    expect(generated?.metadata).toMatchObject({ plannerRuntime: 'model', plannerModel: 'test/m' })
  })
})

describe('the sample envelopes of the specification', () => {
  const outputs: { readonly [facet: string]: Json } = {
    objectiveBrief: { objective: 'Promote' },
    audienceProfile: { persona: 'marketer' },
    assetBundle: [],
    writerBrief: { angle: 'calm', keyPoints: ['audit trail'] },
    planKnobs: { variantCount: 2 },
    copyVariants: [1, 2].map((n) => ({ headline: `H${n}`, body: 'B', callToAction: 'C' })),
  }
  /** Gives exactly what it is asked for, as a model would that reads the schema. */
  const obliging: Provider = {
    name: 'test',
    async generate({ schema }) {
      const { required = [] } = JSON.parse(JSON.stringify(schema)) as { required?: string[] }
      const value = Object.fromEntries(required.map((name) => [name, outputs[name] ?? null]))
      return { kind: 'text', text: JSON.stringify(value), finish: 'stop', usage: {} }
    },
  }

  it.each([
    { name: 'linkedin-variants', inventory: true },
    { name: 'linkedin-variants', inventory: false },
    { name: 'compliance-launch', inventory: true },
    { name: 'compliance-launch', inventory: false },
  ])('$name runs from the envelope to the answer, inventory: $inventory', async ({ name, inventory }) => {
    const given = JSON.parse(readFileSync(join(root, `examples/envelopes/${name}.json`), 'utf8'))
    const capabilities = inventory ? marketingCapabilities : []
    const app = await open({ capabilities, providers: [obliging], defaultModel: 'test/m' })
    const first = await app.run(given)
    if (first.status === 'waiting') await answer(app, first.runId, 'approve')
    const done = await app.result(first.runId)
    expect(done).toMatchObject({ status: 'completed', output: { copyVariants: outputs['copyVariants'] } })
    expect(done.provenance[0]?.nodeId).toBe(inventory ? 'linkedinVariants' : 'answer')
  })
})

describe('the loop', () => {
  const capabilities = [
    local('write', () => ({ text: 'Tea' })),
    local('review', () => ({ score: 0.9 }), {
      inputContract: textIn,
      outputContract: scored,
      nodeKind: 'validation',
    }),
  ]
  const constraints = [{ constraintId: 'good', level: 'hard', expr: { '>=': [{ var: 'score' }, 0.8] } }]

  it('diagnostics-fix-draft-two: what the prover says makes the planner fix its next draft', async () => {
    const seen: (DraftRequest['diagnostics'] | undefined)[] = []
    const planner: Planner = {
      name: 'scripted',
      async draft({ diagnostics }): Promise<Draft> {
        seen.push(diagnostics)
        const lacking = diagnostics?.failures.find(({ cause }) => cause === 'missing_producer')
        const able = /Add a node with (\S+?),/.exec(lacking?.suggestion ?? '')?.[1]
        return {
          nodes: [
            { id: 'write', capabilityId: 'write' },
            ...(able === undefined ? [] : [{ id: 'fixed', capabilityId: able }]),
          ],
        }
      },
    }
    const app = await open({ planner, capabilities })
    const done = await app.run(envelope({ outputContract: { schema: text, constraints } }))
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    expect(seen).toHaveLength(2)
    expect(seen[1]?.failures[0]).toMatchObject({ constraintId: 'good', cause: 'missing_producer' })
    const order = listTypes(await journal(app, done.runId)).filter((type) => type.startsWith('plan_'))
    expect(order).toEqual(['plan_requested', 'plan_rejected', 'plan_requested', 'plan_generated'])
  })

  it('is bounded: a planner that learns nothing is asked three times', async () => {
    let drafts = 0
    const planner = {
      name: 'stubborn',
      draft: async () => ({ nodes: [{ id: `n${++drafts}`, capabilityId: 'gone' }] }),
    }
    const app = await open({ planner, capabilities })
    const ended = await app.run(envelope())
    expect(ended).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    expect(drafts).toBe(3)
  })

  it('ends with a draft of the search when the model is rejected twice', async () => {
    const provider = model(() => ({ nodes: [{ id: 'x', capabilityId: 'gone' }] }))
    const app = await open({ planner: modelPlanner({ provider, model: 'm' }), capabilities })
    const done = await app.run(envelope())
    expect(done.status).toBe('completed')
    expect(provider.prompts).toHaveLength(2)
    expect(provider.prompts[1]).toContain('previousDiagnostics')
    const [generated] = await payloads(app, done.runId, 'plan_generated')
    expect(generated?.metadata).toMatchObject({
      plannerRuntime: 'search',
      plannerFallback: expect.any(String),
    })
  })
})

describe('failure modes (FLEX-36)', () => {
  const write = local('write', () => ({ text: 'Tea' }))

  it('invalid-facet-combination: the draft is rejected, and its diagnostics go to the planner', async () => {
    const seen: string[] = []
    const planner: Planner = {
      name: 'mixer',
      async draft({ diagnostics }) {
        seen.push(...(diagnostics?.failures ?? []).map(({ details }) => String(details?.['code'])))
        const facets = diagnostics ? undefined : { output: ['toneOfVoice', 'noSuchFacet'] }
        return { nodes: [{ id: 'write', capabilityId: 'write', ...(facets && { facets }) }] }
      },
    }
    const app = await open({ planner, capabilities: [write] })
    expect((await app.run(envelope())).status).toBe('completed')
    expect(seen.sort()).toEqual(['plan/facet-direction', 'plan/facet-unknown'])
  })

  it('schema-compilation-conflict: facets that contradict each other are refused before anything runs', async () => {
    const facet = (name: string, type: string) => ({
      name,
      title: name,
      description: name,
      schema: { type },
      semantics: { instruction: '' },
      metadata: { version: '1', direction: 'bidirectional' as const, propertyKey: 'text' },
    })
    const planner: Planner = {
      name: 'mixer',
      draft: async ({ attempt }) => ({
        nodes: [
          {
            id: 'write',
            capabilityId: 'write',
            ...(attempt === 1 && { facets: { output: ['words', 'digits'] } }),
          },
        ],
      }),
    }
    const app = await open({
      planner,
      capabilities: [write],
      facets: [facet('words', 'string'), facet('digits', 'number')],
    })
    const done = await app.run(envelope())
    expect(done.status).toBe('completed')
    const [rejected] = await payloads(app, done.runId, 'plan_rejected')
    expect(rejected?.diagnostics.failures[0]).toMatchObject({
      cause: 'schema_incompatible',
      details: { code: 'plan/facet-conflict' },
    })
  })

  it('input-validation-failure: the capability is not called, and the run says why', async () => {
    let calls = 0
    const strict = local(
      'strict',
      () => {
        calls++
        return { text: 'Tea' }
      },
      { inputContract: { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] } },
    )
    const sized = { properties: { size: { type: 'number' } }, required: ['size'] }
    const guess = says('guess', ['{"size": 1.5}'], { outputContract: { type: 'object', ...sized } })
    const vague = says('vague', ['{"size": 1.5}'], { outputContract: { type: 'object', anyOf: [sized] } })
    const draft = (capabilityId: string) => ({
      nodes: [
        { id: 'guess', capabilityId },
        { id: 'strict', capabilityId: 'strict', inputs: { size: { node: 'guess', pointer: '/size' } } },
      ],
    })
    const app = await open({ capabilities: [strict, guess, vague] })
    // What the proof can refute never starts; what it cannot is held back before the call.
    const refuted = await app.run(envelope(), { draft: draft('guess') })
    expect(refuted).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    const stopped = await app.run(envelope(), { draft: draft('vague') })
    expect(stopped).toMatchObject({ status: 'failed', failure: 'node/input-invalid' })
    expect(calls).toBe(0)
    expect((await app.run(envelope({ inputs: { size: 3 } }))).status).toBe('completed')
    expect(calls).toBe(1)
  })

  it('output-validation-failure: tried again, then with another capability', async () => {
    const first = says('a.write', ['no JSON at all', 'still none'], {
      inputContract: topicIn,
      cost: { tier: 'free' },
    })
    const second = says('b.write', ['{"text": "Tea"}'], { inputContract: topicIn, cost: { tier: 'premium' } })
    const app = await open({ capabilities: [first, second] })
    const done = await app.run(envelope())
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
    const starts = await payloads(app, done.runId, 'attempt_start')
    expect(starts.map(({ capabilityId }) => capabilityId)).toEqual([
      'a.write',
      'a.write',
      'a.write',
      'b.write',
    ])
  })

  it('agent-crash: a fallback node takes over', async () => {
    const crashing = defineCapability({
      capabilityId: 'write',
      inputContract: topicIn,
      outputContract: text,
      run: () => {
        throw new Error('segmentation fault')
      },
    })
    const provider = model(() => ({ text: 'Plain tea' }))
    const app = await open({ capabilities: [crashing], providers: [provider], defaultModel: 'test/m' })
    const planner = { topology: { requiredKinds: ['fallback'] } }
    const done = await app.run(envelope({ policies: { planner } }))
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Plain tea' } })
    expect(done.provenance[0]?.nodeId).toBe('write_fallback')
  })

  it('constraint-drift: a low score in the run orders a new plan that does again what was judged', async () => {
    let wrote = 0
    const writer = local('write', () => ({ text: `Tea ${++wrote}` }), { inputContract: topicIn })
    const review = local('review', ({ text: said }) => ({ score: said === 'Tea 1' ? 0.2 : 0.9 }), {
      inputContract: textIn,
      outputContract: scored,
      nodeKind: 'validation',
    })
    const runtime = [
      {
        id: 'low',
        trigger: {
          kind: 'onNodeComplete',
          selector: { kind: 'validation' },
          condition: { '<': [{ var: 'score' }, 0.6] },
        },
        action: { type: 'replan', rationale: 'Low score' },
      },
    ]
    const policies = { planner: { topology: { requiredKinds: ['validation'] } }, runtime }
    const app = await open({ capabilities: [writer, review] })
    const done = await app.run(envelope({ policies }))
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Tea 2' } })
    const plans = await payloads(app, done.runId, 'plan_generated')
    expect(plans.map(({ plan }) => plan?.nodes.map(({ id }) => id))).toEqual([
      ['write', 'review'],
      ['write_2', 'review_2'],
    ])
    expect(plans.map(({ planVersion }) => planVersion)).toEqual([1, 2])
  })
})
