/**
 * A stand-in that cannot be carried out here (an alternate, a fallback node, the fallback of a step) does not cost the
 * rest of the plan: it is left out, and a finding says why. A node's own capability is needed: without it the draft is
 * rejected.
 */

import { createApp, defineCapability } from 'proviso'
import { rehearsal } from 'proviso/testing'
import { describe, expect, it, vi } from 'vitest'
import { createMemoryStore } from '../../../src/adapters/stores/memory/memory.ts'
import type { Json } from '../../../src/base/json.ts'
import type { DraftInput } from '../../../src/domain/envelope/envelope-input.ts'
import type { JsonSchema } from '../../../src/index.ts'
import { api, copyVariants, listen, serveAgents, wanted, writer } from '../../agents/support.ts'
import { frames } from '../../server/support.ts'
import { runOnServer } from '../pipelines/on-server.ts'

const text = { type: 'string' } as const
const schema = { type: 'object', properties: { text }, required: ['text'] } as const
const envelope = { objective: 'One line', outputContract: { schema } }
const model = (capabilityId: string, preferred: string) =>
  defineCapability({
    capabilityId,
    kind: 'model',
    preferredModels: [preferred],
    inputContract: { type: 'object' },
    outputContract: schema,
  })
const local = (capabilityId: string, run: () => Json) =>
  defineCapability({
    capabilityId,
    inputContract: { type: 'object' },
    outputContract: schema as JsonSchema,
    idempotent: true,
    run,
  })
const fails = () => {
  throw new Error('no')
}
const claude = model('claude', 'anthropic/claude-haiku-4-5')

interface Found {
  readonly nodeId?: string
  readonly capabilityId?: string
  readonly suggestion?: string
  readonly details?: { readonly code?: string }
}

async function run(draft: DraftInput, capabilities: readonly ReturnType<typeof model>[]) {
  const app = await createApp({
    capabilities: [...capabilities],
    providers: [rehearsal({ name: 'test' })],
    env: {},
    pollMs: 50,
  })
  try {
    const done = await app.run(envelope, { draft })
    const events = await app.store.read(done.runId, 0)
    const planned = events.find(({ type }) => type === 'plan_generated')
    const bundle = (planned?.payload as { plan?: { diagnostics?: { infos: readonly Found[] } } } | undefined)
      ?.plan?.diagnostics
    const left = (bundle?.infos ?? []).filter(({ details }) => details?.code === 'plan/stand-in-inactive')
    return { done, events, left, types: events.map(({ type }) => type) }
  } finally {
    await app.close()
  }
}

describe('an alternate without a provider', () => {
  it('is left out with the reason, and the rest of the plan runs', async () => {
    const draft = { nodes: [{ id: 'write', capabilityId: 'own', alternates: ['claude', 'spare'] }] }
    const { done, left } = await run(draft, [
      local('own', fails),
      claude,
      local('spare', () => ({ text: 'spare' })),
    ])
    expect(left).toEqual([
      expect.objectContaining({
        nodeId: 'write',
        capabilityId: 'claude',
        suggestion: expect.stringContaining('ANTHROPIC_API_KEY'),
      }),
    ])
    expect(done).toMatchObject({ status: 'completed', output: { text: 'spare' } })
  })

  it('is left out in the body of a map, named by its place', async () => {
    const list = { type: 'object', properties: { texts: { type: 'array', items: schema } } }
    const app = await createApp({
      capabilities: [claude, local('own', () => ({ text: 'one' }))],
      env: {},
      pollMs: 50,
    })
    const draft: DraftInput = {
      nodes: [
        {
          id: 'each',
          map: {},
          inputs: { items: { value: [1, 2] } },
          body: { nodes: [{ id: 'write', capabilityId: 'own', alternates: ['claude'] }] },
        },
      ],
      output: { properties: { texts: { node: 'each' } } },
    }
    const done = await app.run({ ...envelope, outputContract: { schema: list } }, { draft: draft })
    expect(done).toMatchObject({ status: 'completed', output: { texts: [{ text: 'one' }, { text: 'one' }] } })
    const said = JSON.stringify(await app.store.read(done.runId, 0))
    expect(said).toContain('plan/stand-in-inactive')
    expect(said).toContain('each[].write')
    await app.close()
  })

  it('that is not known at all still rejects: the name may be misspelled', async () => {
    const draft = { nodes: [{ id: 'write', capabilityId: 'own', alternates: ['clade'] }] }
    const { done, events } = await run(draft, [local('own', () => ({ text: 'own' })), claude])
    expect(done).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    expect(JSON.stringify(events)).toContain('plan/capability-unknown')
  })
})

it("a node's own capability without a provider rejects, whatever its alternates are", async () => {
  const draft = { nodes: [{ id: 'write', capabilityId: 'claude', alternates: ['own'] }] }
  const { done, types, events } = await run(draft, [claude, local('own', () => ({ text: 'own' }))])
  expect(done).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
  expect(types).not.toContain('attempt_start')
  expect(JSON.stringify(events)).toContain('ANTHROPIC_API_KEY')
})

describe('a fallback node without a provider', () => {
  const own = local('own', () => ({ text: 'own' }))
  const shapes: [string, DraftInput][] = [
    [
      'on a fail edge',
      {
        nodes: [
          { id: 'write', capabilityId: 'own' },
          { id: 'spare', capabilityId: 'claude' },
        ],
        edges: [{ from: 'write', to: 'spare', when: 'fail' }],
        output: [{ node: 'write' }, { node: 'spare' }],
      },
    ],
    [
      'of kind fallback, without edges',
      {
        nodes: [
          { id: 'write', capabilityId: 'own' },
          { id: 'spare', kind: 'fallback', capabilityId: 'claude' },
        ],
      },
    ],
    [
      'that others read from and follow',
      {
        nodes: [
          { id: 'write', capabilityId: 'own' },
          { id: 'spare', capabilityId: 'claude' },
          { id: 'after', capabilityId: 'tidy' },
          { id: 'last', capabilityId: 'tidy', inputs: { text: [{ node: 'write' }, { node: 'spare' }] } },
        ],
        edges: [
          { from: 'write', to: 'spare', when: 'fail' },
          { from: 'spare', to: 'after' },
        ],
        output: { node: 'last' },
      },
    ],
  ]
  it.each(shapes)('%s is left out with the reason', async (_, draft) => {
    const { done, left, events } = await run(draft, [own, claude, local('tidy', () => ({ text: 'own' }))])
    expect(done).toMatchObject({ status: 'completed', output: { text: 'own' } })
    expect(left[0]).toMatchObject({
      nodeId: 'spare',
      capabilityId: 'claude',
      suggestion: expect.stringContaining('ANTHROPIC_API_KEY'),
    })
    const planned = events.find(({ type }) => type === 'plan_generated')?.payload as {
      plan: { nodes: { id: string }[] }
    }
    const ids = planned.plan.nodes.map(({ id }) => id)
    expect(ids).toContain('write')
    expect(ids).not.toContain('spare')
    expect(ids).not.toContain('after')
  })

  it('rejects where something can be had from it alone', async () => {
    const draft: DraftInput = {
      nodes: [
        { id: 'write', capabilityId: 'own' },
        { id: 'spare', capabilityId: 'claude' },
      ],
      edges: [{ from: 'write', to: 'spare', when: 'fail' }],
      output: { node: 'spare' },
    }
    const { done, events } = await run(draft, [own, claude])
    expect(done).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
    expect(JSON.stringify(events)).toContain('ANTHROPIC_API_KEY')
  })

  it('on the other branch of a route rejects: the route may lead there', async () => {
    const draft: DraftInput = {
      nodes: [
        {
          id: 'gate',
          inputs: { kind: { envelope: '/objective' } },
          routing: {
            routes: [{ condition: { '==': [{ var: 'kind' }, 'x'] }, to: 'spare' }],
            elseTo: 'write',
          },
        },
        { id: 'write', capabilityId: 'own' },
        { id: 'spare', kind: 'fallback', capabilityId: 'claude' },
      ],
      output: [{ node: 'write' }, { node: 'spare' }],
    }
    const { done } = await run(draft, [own, claude])
    expect(done).toMatchObject({ status: 'failed', failure: 'plan/rejected' })
  })
})

it('the fallback agent of a pipeline step without a provider is left out, and the step runs', async () => {
  const pipeline = `agents:
  writer: { model: compatible/writer, system_prompt: "Write." }
  spare: { model: anthropic/claude-haiku-4-5, system_prompt: "Write." }
name: tea
steps:
  - { name: write, agent: writer, fallback: agents.spare, input: "Write about tea" }
`
  const done = await runOnServer(pipeline, { answer: () => 'Tea.' })
  expect(done).toMatchObject({ status: 'completed', output: 'Tea.' })
})

describe('over HTTP', () => {
  it('an agent that fell silent is left out as an alternate, with since when, by the proof and by the run', async () => {
    let later = 0
    const store = createMemoryStore({ clock: { now: () => Date.now() + later } })
    const own = defineCapability({
      capabilityId: 'own',
      inputContract: { type: 'object' },
      outputContract: ['copyVariants'],
      run: () => ({ copyVariants }),
    })
    const { register, agentToken, call, app } = await serveAgents({
      store,
      capabilities: [own],
      http: { cacheTtlMs: 5 },
    })
    const agent = await listen((_, response) => response.end())
    const heartbeat = { intervalSeconds: 10, timeoutSeconds: 20 }
    await register(writer(agent.url, { heartbeat }), await agentToken())
    later = 21_000
    await vi.waitUntil(() => app.inactive().has('writer.en'), { timeout: 20_000 })
    const body = {
      envelope: wanted(),
      draft: { nodes: [{ id: 'write', capabilityId: 'own', alternates: ['writer.en'] }] },
    }
    const proof = await (await call(`${api}/prove`, { body })).json()
    expect(proof).toMatchObject({
      accepted: true,
      infos: [
        {
          nodeId: 'write',
          capabilityId: 'writer.en',
          suggestion: expect.stringContaining('no heartbeat since'),
          details: { code: 'plan/stand-in-inactive' },
        },
      ],
    })
    const seen = await frames(await call(`${api}/run.stream`, { body }))
    expect(seen.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'completed' } })
  })
})
