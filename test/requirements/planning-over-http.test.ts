/** Planning as a client of the HTTP API sees it: what is planned without a draft, what a plan says of itself, how failures are met. */

import { describe, expect, it } from 'vitest'
import type { AppOptions, Draft } from '../../src/index.ts'
import { api, frames, local, type SseFrame, serve } from '../server/support.ts'
import { wrongly } from '../wrongly.ts'

const S = { type: 'string' } as const
const obj = (properties: object) => ({ type: 'object', properties, required: Object.keys(properties) })
const post = obj({ post: S })
const idea = obj({ idea: S })
const envelope = (more: object = {}) => ({
  objective: 'A post',
  inputs: {},
  outputContract: { schema: post },
  ...more,
})

const think = () => local('think', () => ({ idea: 'steam' }), { outputContract: idea })
const writer = (id: string, run: () => unknown, more: object = {}) =>
  local(id, wrongly(run), { inputContract: idea, outputContract: post, ...more })
const broken = () => {
  throw new Error('out of ink')
}

async function stream(options: AppOptions, body: object) {
  const served = await serve(options)
  const all = await frames(await served.call(`${api}/run.stream`, { body }))
  const of = (type: string) => all.filter((frame) => frame.type === type)
  const page = async () =>
    (await (await served.call(`${api}/runs/${all[0]?.runId}`)).json()) as unknown as Page
  return { all, of, end: all.at(-1)?.payload, page }
}

interface Page {
  readonly planVersions: readonly {
    readonly version: number
    readonly nodes: readonly {
      readonly nodeId: string
      readonly capabilityId: string
      readonly status: string
    }[]
  }[]
}

const planOf = (frame: SseFrame | undefined) =>
  frame?.payload as unknown as {
    readonly plan: { readonly nodes: readonly { readonly kind: string; readonly capabilityId: string }[] }
    readonly metadata: object
  }

describe('a run without a draft', () => {
  it('has a plan that ends with its fallback, used only where it is needed (FLEX-30, FLEX-35)', async () => {
    for (const [run, wrote] of [
      [() => ({ post: 'written' }), 'written'],
      [broken, 'copied'],
    ] as const) {
      const copy = writer('copy', () => ({ post: 'copied' }), { nodeKind: 'fallback' })
      const { of, end } = await stream({ capabilities: [think(), writer('write', run), copy] }, envelope())
      expect(planOf(of('plan_generated')[0]).plan.nodes.at(-1)).toMatchObject({
        kind: 'fallback',
        capabilityId: 'copy',
      })
      expect(end).toMatchObject({ status: 'completed', output: { post: wrote } })
    }
  })

  it('ends with a person where there is no substitute and the envelope asks for one (FLEX-30, FLEX-33)', async () => {
    const policies = { onNodeFail: 'ask' }
    const { of } = await stream({ capabilities: [think(), writer('write', broken)] }, envelope({ policies }))
    expect(of('hitl_request')).toMatchObject([{ payload: { kind: 'failure', nodeId: expect.any(String) } }])
    expect(of('complete')).toEqual([])
  })

  it('has a plan that says its version, its branches and what is derived in it (FLEX-32)', async () => {
    const { of } = await stream(
      { capabilities: [think(), writer('write', () => ({ post: 'written' }))] },
      envelope(),
    )
    expect(planOf(of('plan_generated')[0]).metadata).toMatchObject({
      planVersion: 1,
      planVersionTag: 'v1',
      branches: 0,
      derived: [],
      normalizationInjected: false,
      plannerRuntime: 'search',
    })
  })
})

describe('a planner that proposes what cannot be proved', () => {
  it('is asked three times, and nothing of it is executed (FLEX-34)', async () => {
    const draft: Draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
    const planner = { name: 'own', draft: async () => draft }
    const { of, end } = await stream(
      { capabilities: [writer('write', () => ({ post: 'written' }))], planner },
      envelope(),
    )
    expect(of('plan_requested').map(({ payload }) => payload['attempt'])).toEqual([1, 2, 3])
    expect(of('plan_rejected')).toHaveLength(3)
    expect([...of('plan_generated'), ...of('node_start')]).toEqual([])
    expect(end).toMatchObject({ status: 'failed', error: { type: 'PLAN_REJECTED' } })
  })
})

describe('failures of the six kinds (FLEX-36)', () => {
  const write = (more: object = {}) => ({ nodes: [{ id: 'write', capabilityId: 'write', ...more }] })
  const given = { inputs: { idea: 'steam' } }

  it.each([
    ['an unknown facet', { facets: { output: ['copyVariant'] } }, post, 'plan/facet-unknown'],
    [
      'an output contract that contradicts that of the capability',
      { contracts: { output: obj({ post: { type: 'integer' } }) } },
      {},
      'plan/output-contradiction',
    ],
    ['a schema that contradicts another', {}, obj({ post: { type: 'integer' } }), 'plan/output-mismatch'],
  ])('in the draft are met before anything runs: %s', async (_, more, schema, code) => {
    const capabilities = [writer('write', () => ({ post: 'written' }))]
    const wanted = envelope({ ...given, outputContract: { schema } })
    const { of, end } = await stream({ capabilities }, { envelope: wanted, draft: write(more) })
    expect(JSON.stringify(of('plan_rejected'))).toContain(code)
    expect(of('node_start')).toEqual([])
    expect(end).toMatchObject({ status: 'failed' })
  })

  it('in the input keep the capability from being called', async () => {
    let calls = 0
    const count = () => {
      calls++
      return { post: 'written' }
    }
    const vague = local('vague', () => ({ idea: 7 }), {
      outputContract: { type: 'object', anyOf: [obj({ idea: {} })] },
    })
    const draft = {
      nodes: [
        { id: 'vague', capabilityId: 'vague' },
        { id: 'write', capabilityId: 'write', inputs: { idea: { node: 'vague', pointer: '/idea' } } },
      ],
    }
    const { of, end } = await stream(
      { capabilities: [vague, writer('write', count)] },
      { envelope: envelope(), draft },
    )
    expect(of('validation_error')).toMatchObject([{ nodeId: 'write', payload: { scope: 'input:write' } }])
    expect(calls).toBe(0)
    expect(end).toMatchObject({ status: 'failed', error: { reason: 'input_validation_failure' } })
  })

  it('in the output are tried again, each with one frame, then another capability answers', async () => {
    const capabilities = [
      writer('write', () => ({ title: 'x' })),
      writer('spare', () => ({ post: 'spared' })),
    ]
    const draft = write({ retry: { max: 1 }, alternates: ['spare'] })
    const { of, end } = await stream({ capabilities }, { envelope: envelope(given), draft })
    expect(of('validation_error')).toHaveLength(2)
    expect(of('attempt_start').map(({ payload }) => payload['capabilityId'])).toEqual([
      'write',
      'write',
      'spare',
    ])
    expect(end).toMatchObject({ status: 'completed', output: { post: 'spared' } })
  })

  it('in what was wanted order a new plan, and every version keeps its rows and facets', async () => {
    const variants = obj({ copyVariants: { type: 'array', items: { type: 'object' } } })
    const copy = [{ headline: 'Tea', body: 'Warm.', callToAction: 'Sip' }]
    const made = (id: string) =>
      local(id, () => ({ copyVariants: copy }), { outputContract: ['copyVariants'] })
    // The first plan and the third have a node of the same id.
    const drafts: Draft[] = [
      { nodes: [{ id: 'rewrite', capabilityId: 'second' }] },
      { nodes: [{ id: 'write', capabilityId: 'third' }] },
    ]
    const planner = { name: 'own', draft: async () => drafts.shift() ?? { nodes: [] } }
    const again = {
      id: 'again',
      maxAttempts: 2,
      trigger: { kind: 'onNodeComplete', condition: { '==': [1, 1] } },
      action: { type: 'replan' },
    }
    const { of, end, page } = await stream(
      { capabilities: [made('first'), made('second'), made('third')], planner },
      {
        envelope: envelope({ outputContract: { schema: variants }, policies: { runtime: [again] } }),
        draft: { nodes: [{ id: 'write', capabilityId: 'first' }] },
      },
    )
    expect(end).toMatchObject({ status: 'completed' })
    const { planVersions } = await page()
    expect(
      planVersions.map(({ version, nodes }) => [version, nodes.map((node) => node.capabilityId)]),
    ).toEqual([
      [1, ['first']],
      [2, ['second']],
      [3, ['third']],
    ])
    expect(planVersions[0]?.nodes).toMatchObject([{ nodeId: 'write', status: 'completed' }])
    const provenance = [...of('plan_requested').slice(1), ...of('plan_generated'), ...of('plan_updated')]
    expect(provenance).toHaveLength(7)
    for (const frame of provenance)
      expect(frame, frame.type).toMatchObject({
        facetProvenance: { output: [{ facet: 'copyVariants' }] },
      })
  })
})
