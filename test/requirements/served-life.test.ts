/**
 * One run on a server of its own, over HTTP: an agent registers, works, a person is asked, the process is killed, another
 * continues. What the specification says of frames, endpoints and tables is checked on what came out and what is stored.
 */

import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { brief, copyVariants } from '../agents/support.ts'
import { openAiServer } from '../models/openai-server.ts'
import { openLibsql } from '../seams/stores.ts'
import { type Served, serve, useServeProcesses } from '../semantics/settings/serve-process.ts'
import { frames, type SseFrame } from '../server/support.ts'

const api = '/api/v1/flex'
const wantedSchema = {
  type: 'object',
  properties: { copyVariants: { type: 'array', items: { type: 'object' } } },
  required: ['copyVariants'],
}

interface Frame extends SseFrame {
  readonly timestamp: string
  readonly planVersion?: number
  readonly correlationId?: string
  readonly facetProvenance?: { readonly output: readonly { readonly facet: string }[] }
}

type Row = { readonly [column: string]: unknown }

/** The capability of an agent that a model carries out. */
const writer = (url: string) => ({
  capabilityId: 'writer.en',
  version: '1.0.0',
  displayName: 'Writer',
  summary: 'Writes variants of copy for a brief',
  inputContract: ['writerBrief'],
  outputContract: ['copyVariants'],
  preferredModels: [`compatible/${url}#writer`],
  heartbeat: { intervalSeconds: 60 },
})

const models = new Set<Awaited<ReturnType<typeof openAiServer>>>()
afterEach(async () => {
  for (const model of models) await model.close()
  models.clear()
})

async function writingModel() {
  const model = await openAiServer(() => ({ text: JSON.stringify({ copyVariants }) }))
  models.add(model)
  return model
}

useServeProcesses()

describe('a run on a server that is killed and started again', () => {
  it('is what the specification says, in its frames, its answers and its tables', async () => {
    const working = await writingModel()
    const first = await serve({ args: ['--preset', 'marketing'] })

    // FLEX-90: registration, heartbeat by PATCH.
    const registration = writer(working.url)
    const registered = await first.call(`${api}/capabilities/register`, registration)
    expect(registered.status, await registered.clone().text()).toBe(201)
    const beat = await first.call(`${api}/capabilities/writer.en`, {}, 'PATCH')
    expect(await beat.json()).toMatchObject({ status: 'active' })

    // FLEX-87: bearer token needed, then server-sent events.
    const bare = await fetch(`${first.address}${api}/run.stream`, { method: 'POST', body: '{}' })
    expect(bare.status).toBe(401)
    const envelope = {
      objective: 'Copy about tea',
      inputs: {
        writerBrief: brief,
        audienceProfile: { persona: 'founder' },
        apiKey: 'sk-never-shown-to-anyone',
      },
      outputContract: { schema: wantedSchema },
      policies: {
        requiresHitlApproval: true,
        variantCount: 1,
        runtime: [
          { id: 'note', trigger: { kind: 'onNodeComplete' }, action: { type: 'emit', event: 'written' } },
        ],
      },
    }
    const draft = {
      nodes: [
        {
          id: 'write',
          capabilityId: 'writer.en',
          inputs: { writerBrief: { envelope: '/inputs/writerBrief' } },
        },
      ],
    }
    const begun = (await first.run({ envelope, draft, correlationId: 'desk-7' })) as readonly Frame[]
    const { runId } = begun[0] as Frame
    framesAsSpecified(begun)
    expect(begun.map(({ type }) => type)).toEqual(
      expect.arrayContaining([
        'start',
        'plan_requested',
        'plan_generated',
        'node_start',
        'node_complete',
        'policy_triggered',
        'hitl_request',
      ]),
    )
    // FLEX-19: the plan is a graph of nodes with their agent, bundle and contracts.
    expect(begun.find(({ type }) => type === 'plan_generated')?.payload).toMatchObject({
      plan: {
        nodes: [
          {
            id: 'write',
            capabilityId: 'writer.en',
            contracts: { input: expect.anything(), output: expect.anything() },
            facetProvenance: { output: [{ facet: 'copyVariants' }] },
            guards: expect.any(Array),
          },
        ],
        edges: expect.any(Array),
      },
    })
    await first.kill()

    const second = await serve({ args: ['--preset', 'marketing'], folder: first.folder })
    // FLEX-91 and FLEX-80: what was there is there again, from the snapshot and the outputs, without another call.
    const waiting = await page(second, runId)
    expect(waiting).toMatchObject({
      run: { status: 'awaiting_hitl', planVersion: 1 },
      planVersions: [{ version: 1 }],
      latestSnapshot: { metadata: { planVersion: 1 }, facets: { copyVariants: { value: copyVariants } } },
      nodes: [{ nodeId: 'write', status: 'completed' }],
    })
    expect(JSON.stringify(waiting)).not.toContain('sk-never-shown-to-anyone')
    expect((await fetch(`${second.address}${api}/runs/${runId}`)).status).toBe(401)

    // FLEX-88: another version of the plan is refused.
    const stale = await second.call(`${api}/run.resume`, { runId, expectedPlanVersion: 7 })
    expect(stale.status).toBe(409)

    // FLEX-89: the decision, once.
    const ask = begun.find(({ type }) => type === 'hitl_request')?.payload as {
      requestId: string
      valueHash: string
    }
    const reply = { requestId: ask.requestId, valueHash: ask.valueHash, decision: 'approve', note: 'Fine' }
    expect((await second.call(`${api}/hitl/resolve`, reply)).status).toBe(200)
    expect((await second.call(`${api}/hitl/resolve`, reply)).status).toBe(409)
    const rest = (await framesAfter(second, runId, begun.at(-1)?.id ?? 0)) as readonly Frame[]
    framesAsSpecified(rest)
    expect(rest.at(-1)).toMatchObject({
      type: 'complete',
      payload: { status: 'completed', output: { copyVariants } },
    })
    expect(working.seen).toHaveLength(1)

    // FLEX-85: while it is registered it has a row; FLEX-90: deregistration takes it away.
    expect(capabilityRows(first.folder)).toMatchObject([
      {
        capability_id: 'writer.en',
        status: 'active',
        registered_at: expect.any(Number),
        last_seen_at: expect.any(Number),
      },
    ])
    expect(JSON.stringify(capabilityRows(first.folder))).toContain('copyVariants')
    expect((await second.call(`${api}/capabilities/writer.en`, undefined, 'DELETE')).status).toBe(204)
    expect(capabilityRows(first.folder)).toEqual([])
    await second.stop()
    tablesAsSpecified(join(first.folder, 'proviso.db'), runId)
  })

  it('continues a paused run after a restart, and says that it was resumed', async () => {
    const working = await writingModel()
    const first = await serve({ args: ['--preset', 'marketing'] })
    await first.call(`${api}/capabilities/register`, writer(working.url))
    const envelope = {
      objective: 'Copy about tea',
      inputs: { writerBrief: brief },
      outputContract: { schema: wantedSchema },
      policies: {
        runtime: [
          { id: 'wait', trigger: { kind: 'onStart' }, action: { type: 'pause', reason: 'Not before noon' } },
        ],
      },
    }
    const begun = await first.run({
      envelope,
      draft: { nodes: [{ id: 'write', capabilityId: 'writer.en' }] },
    })
    const { runId } = begun[0] as SseFrame
    expect(working.seen).toHaveLength(0)
    await first.kill()
    const second = await serve({ args: ['--preset', 'marketing'], folder: first.folder })
    expect(await page(second, runId)).toMatchObject({
      run: { status: expect.stringMatching(/paused|awaiting/) },
    })
    const resumed = await second.call(`${api}/run.resume`, {
      runId,
      expectedPlanVersion: (await page(second, runId)).run.planVersion,
    })
    expect(resumed.status).toBe(200)
    const seen = await frames(resumed)
    expect(seen.find(({ type }) => type === 'plan_generated')?.payload).toMatchObject({
      metadata: { resumed: true },
    })
    expect(seen.at(-1)).toMatchObject({ payload: { status: 'completed', output: { copyVariants } } })
    expect(working.seen).toHaveLength(1)
  })
})

it.each(['FLEX_CAPABILITY_SELF_REGISTER_REFRESH_MS', 'FLEX_CAPABILITY_REFRESH_INTERVAL_MS'])(
  'the capabilities of the server itself are renewed as often as %s says (FLEX-95)',
  async (name) => {
    const server = await serve({ args: ['--preset', 'marketing'], env: { [name]: '50' } })
    const seenAt = async () => {
      const { capabilities } = (await (await server.call(`${api}/capabilities`)).json()) as {
        capabilities: { capabilityId: string; lastSeenAt: string }[]
      }
      const id = 'ContentGeneratorAgent.linkedinVariants'
      return capabilities.find(({ capabilityId }) => capabilityId === id)?.lastSeenAt ?? ''
    }
    const first = await seenAt()
    expect(first).not.toBe('')
    await vi.waitUntil(async () => (await seenAt()) > first, { timeout: 20_000, interval: 100 })
  },
)

async function page(server: Served, runId: string) {
  return (await (await server.call(`${api}/runs/${runId}`)).json()) as {
    run: { status: string; planVersion: number }
    output: unknown
  }
}

async function framesAfter(server: Served, runId: string, after: number): Promise<readonly SseFrame[]> {
  return vi.waitUntil(
    async () => {
      const answer = await server.call(`${api}/runs/${runId}/events?after=${after}`)
      const { events } = (await answer.json()) as { events: SseFrame[] }
      return events.at(-1)?.type === 'complete' && events
    },
    { timeout: 60_000, interval: 100 },
  )
}

function capabilityRows(folder: string): readonly Row[] {
  const db = openLibsql(join(folder, 'proviso.db'))
  const rows = db.execute(
    "select * from flex_capabilities where capability_id = 'writer.en'",
  ) as readonly Row[]
  db.close()
  return rows
}

/** FLEX-56. */
function framesAsSpecified(all: readonly Frame[]): void {
  const reportedTypes = /^(plan_|node_|policy_|hitl_|validation_|complete)/
  for (const frame of all) {
    expect(frame, frame.type).toMatchObject({
      type: expect.any(String),
      id: expect.any(Number),
      runId: all[0]?.runId,
    })
    expect(new Date(frame.timestamp).toISOString()).toBe(frame.timestamp)
    expect(frame.correlationId, frame.type).toBe('desk-7')
    expect(frame.planVersion, frame.type).toEqual(expect.any(Number))
    if (/^node_/.test(frame.type)) expect(frame.nodeId).toBe('write')
    // Before there is a plan there are no facets in it.
    if (reportedTypes.test(frame.type) && frame.type !== 'plan_requested')
      expect(
        frame.facetProvenance?.output.map(({ facet }) => facet),
        frame.type,
      ).toEqual(['copyVariants'])
  }
}

function tablesAsSpecified(path: string, runId: string): void {
  const db = openLibsql(path)
  const all = (table: string, where = 'run_id') =>
    db.execute(`select * from ${table} where ${where} = '${runId}'`) as readonly Row[]
  try {
    // FLEX-81
    expect(all('flex_runs')).toMatchObject([
      {
        objective: 'Copy about tea',
        schema_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        persona: 'founder',
        variant_policy: expect.stringContaining('"variantCount":1'),
        status: 'completed',
        plan_version: 1,
        satisfaction_score: 1,
      },
    ])
    // FLEX-82
    expect(all('flex_plan_nodes')).toMatchObject([
      {
        node_id: 'write',
        plan_version: 1,
        capability_id: 'writer.en',
        status: 'completed',
        context_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
        validation_status: 'valid',
      },
    ])
    // FLEX-83: the graph with its contracts and provenance, pending nodes and facets, at the plan and at the ask.
    const snapshots = all('flex_plan_snapshots')
    expect(snapshots.length).toBeGreaterThanOrEqual(2)
    for (const { plan_version, plan, pending_node_ids, facets } of snapshots) {
      expect(plan_version).toBe(1)
      expect(JSON.parse(String(plan))).toMatchObject({
        nodes: [{ id: 'write', contracts: expect.anything(), facetProvenance: expect.anything() }],
      })
      expect(Array.isArray(JSON.parse(String(pending_node_ids)))).toBe(true)
      expect(JSON.parse(String(facets))).toBeTypeOf('object')
    }
    expect(JSON.parse(String(snapshots[0]?.['pending_node_ids']))).toEqual(['write'])
    // FLEX-84
    const [output] = all('flex_run_outputs')
    expect(output).toMatchObject({
      status: 'completed',
      schema_hash: all('flex_runs')[0]?.['schema_hash'],
      plan_version: 1,
      at: expect.any(Number),
    })
    expect(JSON.parse(String(output?.['output']))).toEqual({ copyVariants })
    expect(JSON.parse(String(output?.['facets']))).toEqual({ copyVariants })
    expect(output?.['provenance']).toEqual(expect.stringContaining('write'))
    // FLEX-86: joined by flex_run_id.
    expect(all('hitl_requests', 'flex_run_id')).toMatchObject([
      { status: 'resolved', decision: 'approve', note: 'Fine' },
    ])
    expect(all('hitl_events', 'flex_run_id').length).toBeGreaterThanOrEqual(1)
    const said = all('agent_messages', 'flex_run_id').map(({ role }) => role)
    expect(said).toEqual(['agent', 'operator'])
  } finally {
    db.close()
  }
}
