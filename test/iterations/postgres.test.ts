/** Maps and loops over HTTP on a PostgreSQL store: the same as on SQLite, also for processes that are killed. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { leave } from '../journeys/support.ts'
import { api, frames, type SseFrame, serve } from '../server/support.ts'
import { expectOnceDespiteKills, useKilledProcesses } from './killing.ts'
import { envelope, loopDraft, mapDraft, working } from './support.ts'

const { folder } = useKilledProcesses()

describe.skipIf(missingPostgres() !== undefined)('on PostgreSQL', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await start()
  })
  afterAll(() => cluster?.stop())

  const named = (seen: readonly SseFrame[], type: string) => seen.filter((frame) => frame.type === type)

  it('a map over HTTP keeps the order, is journalled per item, and is shown by another server', async () => {
    const double = working('double', (value: number) => value * 2)
    const items = Array.from({ length: 30 }, (_, index) => index)
    const first = await serve({ store: cluster.url, capabilities: [double] })
    const body = { envelope: envelope({ items }), draft: mapDraft('double', { concurrency: 4 }) }
    const seen = await frames(await first.call(`${api}/run.stream`, { body }))
    expect(seen.at(-1)).toMatchObject({
      type: 'complete',
      payload: { status: 'completed', output: { out: items.map((item) => item * 2) } },
    })
    const ended = named(seen, 'iteration_end').map(({ nodeId }) => nodeId)
    expect(new Set(ended)).toEqual(new Set(items.map((item) => `each[${item}]`)))
    const runId = seen[0]?.runId
    await leave(first.app)

    const second = await serve({ store: cluster.url, capabilities: [double] })
    const page = (await (await second.call(`${api}/runs/${runId}`)).json()) as unknown as {
      run: { status: string }
      output: unknown
    }
    expect(page).toMatchObject({ run: { status: 'completed' } })
    expect(JSON.stringify(page.output)).toContain(String(58))
    const accept = 'text/event-stream'
    const again = await frames(await second.call(`${api}/runs/${runId}/events`, { headers: { accept } }))
    expect(named(again, 'iteration_end')).toHaveLength(30)
  })

  it('a loop over HTTP goes round by round until its condition holds', async () => {
    const add = working('add', (value: number) => value + 1)
    const { call } = await serve({ store: cluster.url, capabilities: [add] })
    const draft = loopDraft('add', { maxRounds: 9, until: { '>=': [{ var: 'value' }, 4] } })
    const body = { envelope: envelope({ first: { value: 0 } }), draft }
    const seen = await frames(await call(`${api}/run.stream`, { body }))
    expect(seen.at(-1)).toMatchObject({ payload: { status: 'completed', output: { out: { value: 4 } } } })
    expect(named(seen, 'iteration_end').map(({ nodeId }) => nodeId)).toEqual([
      'each#1',
      'each#2',
      'each#3',
      'each#4',
    ])
  })

  it('an item that waits for a person is answered on another server, and the map continues there', async () => {
    const pay = working('pay', (value: number) => value, { sideEffect: false })
    const hitl = { policies: { hitlRequiredFor: ['work'] }, constraints: { maxAsks: 5 } }
    const first = await serve({ store: cluster.url, capabilities: [pay] })
    const body = { envelope: envelope({ items: [1, 2] }, hitl), draft: mapDraft('pay', { concurrency: 1 }) }
    const seen = await frames(await first.call(`${api}/run.stream`, { body }))
    const [ask] = named(seen, 'hitl_request')
    expect(ask?.nodeId).toContain('each[0]')
    await leave(first.app)
    const second = await serve({ store: cluster.url, capabilities: [pay] })
    const runId = seen[0]?.runId ?? ''
    for (let answered = 0; answered < 2; answered++) {
      const { asks } = (await (await second.call(`${api}/hitl?runId=${runId}`)).json()) as unknown as {
        asks: { requestId: string; valueHash: string }[]
      }
      expect(asks).toHaveLength(1)
      const { requestId, valueHash } = asks[0] ?? { requestId: '', valueHash: '' }
      const reply = { requestId, valueHash, decision: 'approve' }
      expect((await second.call(`${api}/hitl/resolve`, { body: reply })).status).toBe(200)
      await second.app.result(runId)
    }
    expect(await second.app.result(runId)).toMatchObject({ status: 'completed', output: { out: [1, 2] } })
  })

  it.each([
    ['map', 120, 16],
    ['loop', 30, 1],
  ] as const)(
    'a %s of %i calls killed three times has every effect once',
    (shape, items, underWay) =>
      expectOnceDespiteKills(
        { shape, store: new URL(cluster.url).href, effects: join(folder(), `pg-${shape}`), items },
        { kills: 3, underWay },
      ),
    240_000,
  )
})
