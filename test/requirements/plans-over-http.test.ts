/** Plans and their node rows as a client of the HTTP API and a reader of the tables see them. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { AppOptions } from '../../src/index.ts'
import { rehearsal } from '../../src/testing/index.ts'
import { leave } from '../journeys/support.ts'
import { openLibsql } from '../seams/stores.ts'
import { api, frames, local, type SseFrame, serve } from '../server/support.ts'
import { wrongly } from '../wrongly.ts'

const folder = mkdtempSync(join(tmpdir(), 'proviso-plans-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const S = { type: 'string' } as const
const N = { type: 'number' } as const
const obj = (properties: object) => ({ type: 'object', properties, required: Object.keys(properties) })

const envelope = (schema: object, more: object = {}) => ({
  objective: 'Two prices',
  inputs: {},
  outputContract: { schema },
  ...more,
})

interface PlannedNode {
  readonly id: string
  readonly capabilityId: string
}

interface Planned {
  readonly plan: { readonly nodes: readonly PlannedNode[]; readonly edges: readonly object[] }
  readonly metadata: { readonly [key: string]: unknown }
}

interface Rejected {
  readonly diagnostics: { readonly failures: readonly object[] }
}

async function stream(options: AppOptions, body: object) {
  const served = await serve(options)
  const all = await frames(await served.call(`${api}/run.stream`, { body }))
  const of = (type: string): readonly SseFrame[] => all.filter((frame) => frame.type === type)
  const planned = of('plan_generated')[0]?.payload as unknown as Planned | undefined
  return { served, of, planned, runId: all[0]?.runId ?? '', end: all.at(-1)?.payload }
}

describe('a plan is a graph (FLEX-19)', () => {
  const low = local('low', () => ({ low: 1 }), { outputContract: obj({ low: N }) })
  const high = (received: unknown[] = []) =>
    local(
      'high',
      (inputs) => {
        received.push(inputs)
        return { high: 2 }
      },
      { inputContract: obj({ low: N }), outputContract: obj({ high: N }) },
    )

  it('of bound nodes, with a check node as the guard of a constraint that reads both', async () => {
    const expr = { '<': [{ var: 'low' }, { var: 'high' }] }
    const constraints = [{ constraintId: 'order', level: 'hard', expr }]
    const wanted = envelope(obj({ low: N, high: N }))
    const { planned, end } = await stream(
      { capabilities: [low, high()] },
      { ...wanted, outputContract: { ...wanted.outputContract, constraints } },
    )
    const { nodes = [], edges = [] } = planned?.plan ?? {}
    const idOf = (id: string) => nodes.find(({ capabilityId }) => capabilityId === id)?.id
    const [first, second] = [idOf('low'), idOf('high')]
    expect(first).toBeDefined()
    expect(edges).toContainEqual(expect.objectContaining({ from: first, to: second }))
    expect(nodes.find(({ id }) => id === second)).toMatchObject({
      inputs: { low: [{ node: first, pointer: '/low' }] },
    })
    expect(nodes.find(({ capabilityId }) => capabilityId === 'proviso.check')).toMatchObject({
      kind: 'validation',
      guards: [{ constraintId: 'order' }],
    })
    expect(end).toMatchObject({ status: 'completed', output: { low: 1, high: 2 } })
  })

  it('without cycles: a draft that has one is rejected before anything runs', async () => {
    const received: unknown[] = []
    const draft = {
      nodes: [
        { id: 'low', capabilityId: 'low' },
        { id: 'high', capabilityId: 'high' },
      ],
      edges: [
        { from: 'low', to: 'high' },
        { from: 'high', to: 'low' },
      ],
    }
    const body = { envelope: envelope(obj({ high: N })), draft }
    const { of, end } = await stream({ capabilities: [low, high(received)] }, body)
    const rejected = of('plan_rejected')[0]?.payload as unknown as Rejected | undefined
    expect(rejected?.diagnostics.failures[0]).toMatchObject({
      details: { code: 'plan/cycle', nodes: ['low', 'high'] },
    })
    expect(of('attempt_start')).toEqual([])
    expect(received).toEqual([])
    expect(end).toMatchObject({ status: 'failed', error: { type: 'PLAN_REJECTED' } })
  })
})

describe('the metadata of a plan (FLEX-32)', () => {
  const models = { providers: [rehearsal()], defaultModel: 'openai/m' }
  const copyVariants = { type: 'array', items: { type: 'object' } }
  const writer = local('writer', () => ({ copyVariants: [] }), {
    inputContract: ['toneOfVoice'],
    outputContract: ['copyVariants'],
  })
  const none = { branches: 0, derived: [], normalizationInjected: false }
  const toned = { inputs: { toneOfVoice: 'calm' } }

  it('counts the branches', async () => {
    const wanted = envelope(obj({ copyVariants }), { ...toned, policies: { branchVariants: 2 } })
    const { planned } = await stream({ ...models, capabilities: [writer] }, wanted)
    expect(planned?.metadata).toMatchObject({ ...none, branches: 2, planVersion: 1, planVersionTag: 'v1' })
  })

  it('lists the derived nodes', async () => {
    const agent = local('writer', () => ({ rationaleSummary: 'calm' }), {
      inputContract: ['toneOfVoice'],
      outputContract: ['copyVariants'],
      metadata: { supportedFacets: { output: ['rationaleSummary'] } },
    })
    const wanted = envelope(obj({ rationaleSummary: S }), toned)
    const { planned, end } = await stream({ ...models, capabilities: [agent] }, wanted)
    expect(planned?.metadata).toMatchObject({ ...none, derived: ['writer'] })
    expect(end).toMatchObject({ status: 'completed' })
  })

  it('says that a value is converted', async () => {
    const price = local('price', () => ({ price: '7' }), { outputContract: obj({ price: S }) })
    const { planned } = await stream({ ...models, capabilities: [price] }, envelope(obj({ price: N })))
    expect(planned?.plan.nodes).toMatchObject([{ kind: 'execution' }, { kind: 'transformation' }])
    expect(planned?.metadata).toMatchObject({ ...none, normalizationInjected: true })
  })

  it('is the same for a draft of the caller, which cannot set it', async () => {
    const price = local('price', () => ({ price: '7' }), { outputContract: obj({ price: S }) })
    const draft = {
      nodes: [{ id: 'price', capabilityId: 'price' }],
      metadata: { normalizationInjected: true, own: 1 },
    }
    const body = { envelope: envelope(obj({ price: S })), draft }
    const { planned, end } = await stream({ capabilities: [price] }, body)
    expect(planned?.metadata).toMatchObject({ ...none, own: 1, planVersion: 1, planVersionTag: 'v1' })
    expect(end).toMatchObject({ status: 'completed' })
  })

  it('is the same for the plan of another planner', async () => {
    const price = local('price', () => ({ price: '7' }), { outputContract: obj({ price: S }) })
    const planner = { name: 'own', draft: async () => ({ nodes: [{ id: 'price', capabilityId: 'price' }] }) }
    const { planned } = await stream({ capabilities: [price], planner }, envelope(obj({ price: S })))
    expect(planned?.metadata).toMatchObject(none)
  })
})

describe('what a retried node leaves (FLEX-33)', () => {
  const [idea, post] = [obj({ idea: S }), obj({ post: S })]

  /** `think` answers in turn with what is given; `write` records what it receives. */
  async function retried(name: string, answers: readonly object[]) {
    const left = [...answers]
    const received: unknown[] = []
    const think = local('think', () => wrongly(left.shift() ?? {}), { outputContract: idea })
    const write = local(
      'write',
      (inputs) => {
        received.push(inputs)
        return { post: `about ${inputs['idea']}` }
      },
      { inputContract: idea, outputContract: post },
    )
    const store = join(folder, `${name}.db`)
    const draft = {
      nodes: [
        { id: 'think', capabilityId: 'think', retry: { max: 1 } },
        { id: 'write', capabilityId: 'write', inputs: { idea: { node: 'think', pointer: '/idea' } } },
      ],
    }
    const { served, runId, of, end } = await stream(
      { store: `sqlite:${store}`, capabilities: [think, write] },
      { envelope: envelope(post), draft },
    )
    const page = (await (await served.call(`${api}/runs/${runId}`)).json()) as unknown as {
      readonly nodes: readonly object[]
    }
    await served.server.close({ graceMs: 0 })
    await leave(served.app)
    const db = openLibsql(store)
    const rows = db.execute('select * from flex_plan_nodes order by position') as readonly {
      readonly [column: string]: unknown
    }[]
    db.close()
    return { page, rows, received, of, end }
  }

  it('is its second output, valid, which the next node receives', async () => {
    const { page, rows, received, of, end } = await retried('second', [{ thought: 1 }, { idea: 'steam' }])
    expect(of('validation_error')).toHaveLength(1)
    expect(received).toEqual([{ idea: 'steam' }])
    expect(of('attempt_start').at(-1)).toMatchObject({
      nodeId: 'write',
      payload: { inputs: { idea: 'steam' } },
    })
    expect(page.nodes).toMatchObject([
      {
        nodeId: 'think',
        status: 'completed',
        attempts: 2,
        validation: 'valid',
        output: { idea: 'steam' },
      },
      { nodeId: 'write', status: 'completed', attempts: 1, validation: 'valid' },
    ])
    expect(page.nodes[0]).not.toHaveProperty('error')
    expect(rows).toMatchObject([
      {
        node_id: 'think',
        status: 'completed',
        attempts: 2,
        validation_status: 'valid',
        output: '{"idea":"steam"}',
        error: null,
        context_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
      { node_id: 'write', status: 'completed', attempts: 1, validation_status: 'valid', error: null },
    ])
    expect(end).toMatchObject({ status: 'completed', output: { post: 'about steam' } })
  })

  it('is its error after the last attempt, and the next node is not called', async () => {
    const { page, rows, received, of, end } = await retried('none', [{ thought: 1 }, { thought: 2 }])
    expect(of('validation_error')).toHaveLength(2)
    expect(received).toEqual([])
    expect(page.nodes[0]).toMatchObject({
      nodeId: 'think',
      status: 'error',
      attempts: 2,
      validation: 'invalid',
      error: { type: 'TASK_FAILURE', reason: 'output_format_failure' },
    })
    expect(page.nodes[0]).not.toHaveProperty('output')
    expect(rows[0]).toMatchObject({
      node_id: 'think',
      status: 'error',
      attempts: 2,
      validation_status: 'invalid',
      output: null,
    })
    expect(JSON.parse(String(rows[0]?.['error']))).toMatchObject({ code: 'attempt/invalid' })
    expect(end).toMatchObject({ status: 'failed' })
  })
})
