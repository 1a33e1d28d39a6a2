import { expect, it } from 'vitest'
import { createApp } from '../../app.ts'
import { defineCapability } from '../../domain/capability/define-capability.ts'
import type { EventType } from '../../domain/event.ts'
import type { Store } from '../../domain/ports/store.ts'
import { verifyRuns } from './verify.ts'

async function storeOf(runs: number) {
  const app = await createApp()
  const schema = { type: 'object' }
  for (let run = 0; run < runs; run++)
    await app.run(
      { objective: 'x', outputContract: { schema } },
      { runId: `r${run}`, draft: { nodes: [routing] } as never },
    )
  return app
}

const routing = { id: 'only', kind: 'routing', routing: { routes: [], elseTo: ['nowhere'] } }

async function verify(store: Store, runIds: readonly string[] = []) {
  const found = []
  for await (const run of verifyRuns(store, runIds)) found.push(run)
  return found
}

it('checks every run once, page by page', async () => {
  const app = await storeOf(3)
  const small: Store = { ...app.store, runs: (query) => app.store.runs({ ...query, limit: 2 }) }
  expect((await verify(small)).map(({ runId, issues }) => [runId, issues.length]).sort()).toEqual([
    ['r0', 0],
    ['r1', 0],
    ['r2', 0],
  ])
  expect(await verify(app.store, ['r1'])).toHaveLength(1)
  await expect(verify(app.store, ['none'])).rejects.toMatchObject({ code: 'run/missing' })
  await app.close()
})

it('says where a journal has lost an event', async () => {
  const app = await storeOf(1)
  const lossy: Store = {
    ...app.store,
    read: async (runId, after, limit) =>
      (await app.store.read(runId, after, limit)).filter(({ seq }) => seq !== 2),
  }
  const [run] = await verify(lossy)
  expect(run?.issues[0]).toMatchObject({ code: 'history/gap', at: { pointer: '/3' } })
  await app.close()
})

it('says where the audit table, the asks or an approved answer were tampered with', async () => {
  const schema = { type: 'object' }
  const work = {
    capabilityId: 'work',
    inputContract: schema,
    outputContract: schema,
    run: () => ({ done: 1 }),
  }
  const app = await createApp({ capabilities: [defineCapability(work)] })
  const asked = { objective: 'x', outputContract: { schema } }
  const policies = {
    planner: { directives: { askBeforeFinish: true } },
    runtime: [{ id: 'gate', trigger: { kind: 'onStart' }, action: { type: 'hitl' } }],
  }
  const { runId } = await app.run({ ...asked, policies } as never, {
    draft: { nodes: [{ id: 'only', capabilityId: 'work' }] },
  })
  for (let answers = 0; answers < 2; answers++) {
    const [ask] = await app.store.asks({ runId, status: 'pending' })
    const { requestId = '', valueHash = '' } = ask ?? {}
    await app.reply(runId, { requestId, valueHash, decision: 'approve', by: 'ann', note: 'fine' })
    await app.result(runId)
  }
  const issuesOf = async (forged: Partial<Store>) => {
    const [run] = await verify({ ...app.store, ...forged })
    return run?.issues.map(({ code, message }) => `${code} ${message}`)
  }
  expect(await issuesOf({})).toEqual([])
  const rows = await app.store.audit(runId)
  const [, second] = rows
  const at = `history/audit event ${second?.seq}:`
  expect(
    await issuesOf({
      audit: async () => rows.map((row) => (row === second ? { ...row, by: 'mallory' } : row)),
    }),
  ).toEqual([`${at} the audit table says something else of it`])
  expect(await issuesOf({ audit: async () => rows.filter((row) => row !== second) })).toEqual([
    `${at} the audit table lacks it`,
  ])
  const asks = await app.store.asks({ runId })
  const [gate] = asks
  const resolved = (await app.store.read(runId, 0)).find(({ type }) => type === 'hitl_resolved')
  const asking = (forged: typeof asks) =>
    issuesOf({ asks: async ({ after }) => (after === undefined ? forged : []) })
  const forgeries = {
    status: 'denied',
    decision: 'reject',
    by: 'mallory',
    note: 'not fine',
    value: { shown: 'another' },
    valueHash: 'f'.repeat(64),
    expiresAt: 1,
    question: 'May I?',
  } as const
  for (const [name, forged] of Object.entries(forgeries))
    expect(await asking(asks.map((row) => (row === gate ? { ...row, [name]: forged } : row)))).toEqual([
      `history/ask-row event ${resolved?.seq}: the table of asks says something else of "${gate?.requestId}" (${name})`,
    ])
  expect(await asking(asks.slice(1))).toEqual([expect.stringContaining(`lacks "${gate?.requestId}"`)])
  const added = { ...gate, requestId: 'x' } as (typeof asks)[number]
  expect(await asking([...asks, added])).toEqual([
    expect.stringContaining('has "x", and the journal does not'),
  ])
  const withJournal = (type: EventType, forged: object) =>
    issuesOf({
      read: async (id, after, limit) =>
        (await app.store.read(id, after, limit)).map((event) =>
          event.type === type ? ({ ...event, payload: { ...event.payload, ...forged } } as never) : event,
        ),
    })
  const containing = (words: string) => expect.arrayContaining([expect.stringContaining(words)])
  expect(await withJournal('complete', { output: { no: 1 } })).toEqual(containing('history/unapproved'))
  expect(await withJournal('hitl_resolved', { note: 'forged' })).toEqual(containing('chain is broken'))
  expect(await withJournal('hitl_request', { question: 'forged' })).toEqual(containing('chain is broken'))
  await app.close()
})
