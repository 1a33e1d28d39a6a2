/**
 * The rows of nodes lag behind the events of runs under way. Readers do not notice: at any moment, in any process, the nodes
 * of a run are as in a store that has no rows, and so are the snapshots and outputs that are made from them.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import type { NewEvent } from '../../src/domain/event.ts'
import type { Lease, Store } from '../../src/domain/ports/store.ts'
import {
  logEvent,
  newRun,
  planEvent,
  runningHead,
  sampleAsk,
  sampleEvent,
  samplePlan,
} from '../../src/testing/stores/sample.ts'

const ids = ['a', 'b', 'c'] as const
const failure = { code: 'attempt/refused', message: 'No' } as const

/** Events as they may follow each other and as they may not: a projection has to take any. */
const anyEvent: fc.Arbitrary<(version: number) => NewEvent> = fc
  .record({
    nodeId: fc.constantFrom(...ids, 'each[3]'),
    attempt: fc.integer({ min: 1, max: 3 }),
    value: fc.constantFrom('x', 'y'.repeat(9_000)),
    at: fc.integer({ min: 1_000, max: 9_000 }),
    kind: fc.integer({ min: 0, max: 12 }),
  })
  .map(({ nodeId, attempt, value, at, kind }) => (version) => {
    const members = { nodeId, at, planVersion: version }
    const requestId = `q-${attempt}`
    const audit = { prev: '', subjectHash: 'v', hash: requestId }
    const kinds: readonly (() => NewEvent)[] = [
      () => planEvent(samplePlan(version + (attempt === 1 ? 1 : 0), ids), at),
      () => sampleEvent('node_start', { capabilityId: `cap.${nodeId}`, label: 'L' }, members),
      () =>
        sampleEvent(
          'attempt_start',
          { attempt, capabilityId: 'c', idempotencyKey: 'k', idempotent: true, inputs: { value } },
          members,
        ),
      () =>
        sampleEvent(
          'attempt_end',
          { attempt, outcome: 'ok', output: { value }, issues: [], usage: { calls: 1, inputTokens: 3 } },
          members,
        ),
      () => sampleEvent('node_complete', { output: { value }, attempt }, members),
      () => sampleEvent('node_error', { attempt, outcome: 'rejected', error: failure }, members),
      () =>
        sampleEvent(
          'nodes_reopened',
          { nodes: [nodeId], downstream: ['c'], reason: 'rejected' } as never,
          members,
        ),
      () => sampleEvent('iteration_start', { index: 3 } as never, { ...members, nodeId: 'each[3]' }),
      () => sampleEvent('hitl_request', { ...sampleAsk(requestId, nodeId), audit }, members),
      () =>
        sampleEvent(
          'hitl_resolved',
          { requestId, decision: 'approve', valueHash: 'v-1', by: 'ann', audit } as never,
          members,
        ),
      () => logEvent(value),
      () => sampleEvent('plan_updated', { nodes: [{ id: nodeId, status: 'pending' }] } as never, members),
      () => logEvent(1),
    ]
    return (kinds[kind] as () => NewEvent)()
  })

/** What happens to a run next. `leave`: the process releases it with the append, `takeOver`: without one. */
const anyStep = fc.record({
  events: fc.array(anyEvent, { minLength: 1, maxLength: 8 }),
  next: fc.constantFrom('stay', 'stay', 'stay', 'stay', 'leave', 'takeOver', 'wait'),
  reader: fc.nat({ max: 1 }),
})

let names = 0

/** Plays a history on two connections to one store, and on a store that keeps its rows in memory. */
async function play(
  stores: readonly [Store, Store],
  history: readonly { events: readonly ((version: number) => NewEvent)[]; next: string; reader: number }[],
): Promise<void> {
  const oracle = createMemoryStore()
  const runId = `run-${++names}`
  const claim = { owner: 'o-0', leaseMs: 60_000 }
  const [created] = await Promise.all([
    stores[0].create(newRun(runId, { events: [planEvent(samplePlan(1, ids))], claim })),
    oracle.create(newRun(runId, { events: [planEvent(samplePlan(1, ids))] })),
  ])
  let lease = created as Lease
  let holder = 0
  let seq = 1
  let version = 1
  for (const { events: makers, next, reader } of history) {
    const events = makers.map((make) => {
      const event = make(version)
      // Versions of plans only grow; events belong to the one in force.
      version = Math.max(version, event.planVersion)
      return event
    })
    const release = next === 'leave'
    const head = { ...runningHead, ...(next === 'wait' && { status: 'awaiting_hitl' as const }) }
    const append = { runId, expectedSeq: seq, events, head }
    seq += events.length
    const writer = stores[holder] as Store
    expect(await writer.append({ ...append, lease, release })).toEqual({ kind: 'appended', seq })
    await oracle.append(append)
    for (const store of [stores[reader] as Store, writer]) {
      expect(await store.nodes(runId)).toEqual(await oracle.nodes(runId))
      expect(await store.snapshots(runId)).toEqual(await oracle.snapshots(runId))
    }
    if (next === 'takeOver') await writer.release(runId, lease)
    if (next !== 'takeOver' && !release) continue
    holder = stores[0] === stores[1] ? 0 : 1 - holder
    const owner = `o-${seq}`
    const [taken] = await (stores[holder] as Store).claim({ owner, leaseMs: 60_000, limit: 1, runId })
    lease = taken?.lease as Lease
  }
  const events = [sampleEvent('complete', { status: 'completed', output: 1, usage: { calls: 0 } })]
  const end = { runId, expectedSeq: seq, events, head: { status: 'completed', planVersion: 1 } as const }
  await (stores[holder] as Store).append({ ...end, lease })
  await oracle.append(end)
  for (const store of stores) {
    expect(await store.nodes(runId)).toEqual(await oracle.nodes(runId))
    const { at: _, ...output } = (await store.output(runId)) ?? { at: 0 }
    const { at: __, ...expected } = (await oracle.output(runId)) ?? { at: 0 }
    expect(output).toEqual(expected)
  }
}

const seed = Number(process.env['PROVISO_SEED'] ?? 1)
const histories = fc.array(anyStep, { minLength: 1, maxLength: 40, size: 'max' })

describe('Nodes of a run under way', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'proviso-nodes-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('are the same in a SQLite file and in memory, after every append', async () => {
    const store = await openSqliteStore({ path: join(folder, 'runs.db'), synchronous: 'NORMAL' })
    await fc.assert(
      fc.asyncProperty(histories, (history) => play([store, store], history)),
      { seed, numRuns: 60 },
    )
    await store.close()
  })

  it('are known to a store that was opened after its process died', async () => {
    const path = join(folder, 'died.db')
    const first = await openSqliteStore({ path })
    const claim = { owner: 'o', leaseMs: 60_000 }
    const lease = await first.create(newRun('r', { events: [planEvent(samplePlan(1, ids))], claim }))
    const events = [sampleEvent('node_start', { capabilityId: 'cap.a' }, { nodeId: 'a' })]
    await first.append({ runId: 'r', expectedSeq: 1, events, head: runningHead, lease: lease as Lease })
    const before = await first.nodes('r')
    await first.close()
    const store = await openSqliteStore({ path })
    expect(await store.nodes('r')).toEqual(before)
    expect(before.map(({ status }) => status)).toEqual(['running', 'pending', 'pending'])
    await store.close()
  })
})

describe.skipIf(missingPostgres() !== undefined)('Nodes of a run under way on PostgreSQL', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await start()
  })
  afterAll(() => cluster?.stop())

  it('are the same in two processes and in memory, after every append', async () => {
    const stores = [
      await openPostgresStore({ url: cluster.url }),
      await openPostgresStore({ url: cluster.url }),
    ] as const
    await fc.assert(
      fc.asyncProperty(histories, (history) => play(stores, history)),
      { seed, numRuns: 25 },
    )
    for (const store of stores) await store.close()
    const client = new Client(cluster.url)
    await client.connect()
    const { rows } = await client.query(
      'select count(*)::int as runs from flex_runs where nodes_seq is not null',
    )
    await client.end()
    // Once a run is over, its rows are complete.
    expect(rows).toEqual([{ runs: 0 }])
  })
})
