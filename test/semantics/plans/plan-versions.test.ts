/** Node rows belong to a version of the plan: a later version does not overwrite what an earlier one did. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openLibsql } from '../../../src/adapters/stores/sqlite/drivers/libsql.ts'
import type { Planner } from '../../../src/domain/ports/planner.ts'
import { envelope, leave, local, open } from '../../journeys/support.ts'
import { serve } from '../../server/support.ts'

const folder = mkdtempSync(join(tmpdir(), 'proviso-versions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The first plan has a node that the second leaves out, and both have `write`, done by different capabilities. */
const planner: Planner = {
  name: 'two',
  async draft({ phase }) {
    const first = phase === 'initial'
    return {
      nodes: [
        { id: first ? 'notes' : 'research', capabilityId: 'note' },
        {
          id: 'write',
          capabilityId: first ? 'quick' : 'slow',
          inputs: { notes: { node: first ? 'notes' : 'research', pointer: '/text' } },
        },
      ],
      edges: [{ from: first ? 'notes' : 'research', to: 'write' }],
    }
  },
}

const once = {
  id: 'again',
  trigger: { kind: 'onNodeComplete', selector: { capabilityId: 'note' } },
  action: { type: 'replan' },
  maxAttempts: 1,
}

const capabilities = [
  local('note', () => ({ text: 'Rain' })),
  local('quick', () => ({ text: 'Quick' })),
  local('slow', () => ({ text: 'Slow' })),
]

interface Page {
  readonly nodes: readonly {
    readonly nodeId: string
    readonly planVersion: number
    readonly status: string
  }[]
  readonly planVersions: readonly {
    readonly version: number
    readonly nodes: readonly {
      readonly nodeId: string
      readonly status: string
      readonly capabilityId: string
    }[]
  }[]
  readonly output: { readonly facets: unknown }
}

describe('node rows', () => {
  it.each(['memory', 'sqlite'])('of both versions are kept and shown (%s)', async (kind) => {
    const store = kind === 'memory' ? 'memory:' : `sqlite:${join(folder, 'runs.db')}`
    const options = { store, capabilities, planner }
    const first = await serve(options)
    const done = await first.app.run(envelope({ policies: { runtime: [once] } }))
    expect(done).toMatchObject({ status: 'completed', output: { text: 'Slow' } })
    const look = async (served: typeof first) =>
      (await (await served.call(`/api/v1/flex/runs/${done.runId}`)).json()) as unknown as Page
    let page = await look(first)
    if (kind === 'sqlite') {
      // After a restart the rows are what they were.
      await first.server.close({ graceMs: 0 })
      await leave(first.app)
      const again = await serve(options)
      expect(await look(again)).toEqual(page)
      page = await look(again)
    }
    const versions = page.planVersions.map(({ version, nodes }) => [
      version,
      nodes.map(({ nodeId, status, capabilityId }) => [nodeId, status, capabilityId]),
    ])
    expect(versions).toEqual([
      [
        1,
        [
          ['notes', 'completed', 'note'],
          ['write', 'pending', 'quick'],
        ],
      ],
      [
        2,
        [
          ['research', 'completed', 'note'],
          ['write', 'completed', 'slow'],
        ],
      ],
    ])
    const current = page.nodes.map(({ nodeId, planVersion }) => [nodeId, planVersion])
    expect(current).toEqual([
      ['notes', 1],
      ['research', 2],
      ['write', 2],
    ])
    expect(page.output.facets).toEqual({ text: 'Slow' })
  })

  it('of both versions are in the snapshots of flex_plan_snapshots (FLEX-83)', async () => {
    const path = join(folder, 'snapshots.db')
    const app = await open({ store: `sqlite:${path}`, capabilities, planner })
    const done = await app.run(envelope({ policies: { runtime: [once] } }))
    expect(done.status).toBe('completed')
    await leave(app)
    const db = openLibsql(path)
    const rows = db.execute(
      'select run_id, plan_version, plan, pending_node_ids from flex_plan_snapshots order by seq',
    )
    db.close()
    const json = (column: unknown) => JSON.parse(String(column))
    const snapshots = rows.map((row) => ({
      runId: row['run_id'],
      version: row['plan_version'],
      nodes: (json(row['plan']) as { nodes: { id: string; capabilityId: string }[] }).nodes.map(
        ({ id, capabilityId }) => [id, capabilityId],
      ),
      pending: json(row['pending_node_ids']),
    }))
    const { runId } = done
    expect(snapshots).toEqual([
      {
        runId,
        version: 1,
        nodes: [
          ['notes', 'note'],
          ['write', 'quick'],
        ],
        pending: ['notes', 'write'],
      },
      {
        runId,
        version: 2,
        nodes: [
          ['research', 'note'],
          ['write', 'slow'],
        ],
        pending: ['research', 'write'],
      },
    ])
  })

  it('have the hash of their inputs and whether their output held, in the table too', async () => {
    const path = join(folder, 'columns.db')
    const picky = local('picky', () => ({ text: 'Tea' }), {
      outputContract: {
        type: 'object',
        properties: { text: { type: 'string', minLength: 10 } },
        required: ['text'],
      },
    })
    const app = await open({ store: `sqlite:${path}`, capabilities: [...capabilities, picky] })
    const good = await app.run(envelope(), { draft: { nodes: [{ id: 'write', capabilityId: 'quick' }] } })
    const bad = await app.run(envelope(), { draft: { nodes: [{ id: 'write', capabilityId: 'picky' }] } })
    expect([good.status, bad.status]).toEqual(['completed', 'failed'])
    await leave(app)
    const db = openLibsql(path)
    const rows = db.execute(
      'select run_id, plan_version, context_hash, validation_status from flex_plan_nodes',
    )
    db.close()
    const row = (runId: string) => rows.find((each) => each['run_id'] === runId)
    expect(row(good.runId)).toMatchObject({
      plan_version: 1,
      context_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      validation_status: 'valid',
    })
    expect(row(bad.runId)).toMatchObject({ validation_status: 'invalid' })
  })
})
