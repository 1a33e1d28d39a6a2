/**
 * Two versions of the worker on Restate: deliveries under way end on the code that they began with, later ones continue with
 * the code of the worker that gets them, in both directions. With the real server; the earlier version is built from the history.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { missingRestate } from '../../scripts/restate.mjs'
import { buildPreviousVersion, hasCommit } from '../stores/previous-version.ts'
import { proviso, requireBuild, root } from '../support.ts'
import { startBalancer } from './balancer.ts'
import { type Api, type Fleet, startFleet, type Worker } from './fleet.ts'

const long = process.env['PROVISO_LONG'] === '1'
const missing = missingPostgres() ?? missingRestate()
/** An earlier version whose workers take runs from Restate, with all migrations: one that starts later refuses newer tables. */
const before = 'ebde137da5976166a5630d11bee64f45e23692ef'
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const ids = ['n0', 'n1', 'n2']
const run = {
  envelope: { objective: 'One line about tea', outputContract: { schema: text } },
  draft: {
    nodes: ids.map((id, nth) => ({ id, capabilityId: nth === 1 ? 'waits' : 'step' })),
    edges: [
      { from: 'n0', to: 'n1' },
      { from: 'n1', to: 'n2' },
    ],
    output: { node: 'n2' },
  },
}

describe.skipIf(!long || missing !== undefined || !hasCommit(before))('two versions on Restate', () => {
  let [fleet, previous]: [Fleet?, Awaited<ReturnType<typeof buildPreviousVersion>>?] = []
  beforeAll(async () => {
    requireBuild()
    previous = await buildPreviousVersion(before)
    fleet = await startFleet({ root, queue: 'restate' })
  }, 180_000)
  afterAll(async () => {
    await fleet?.close()
    previous?.dispose()
  })

  const parts = () => {
    if (fleet === undefined || previous === undefined) throw new Error('Nothing is started')
    return { fleet, main: previous.main }
  }
  const poll = <T>(look: () => T) => expect.poll(look, { interval: 50, timeout: 30_000 })
  const begin = async (api: Api, count: number) => {
    const started = Array.from({ length: count }, () => api.call<{ runId: string }>('/runs', run))
    return (await Promise.all(started)).map(({ runId }) => runId)
  }
  /** The processes in which the second step of the runs was called, so far. */
  const atGate = (runIds: readonly string[]) =>
    parts()
      .fleet.effects()
      .filter(({ said, runId }) => said === 'waits' && runIds.includes(runId))
  const finish = async (api: Api, runIds: readonly string[]) => {
    parts().fleet.openGate()
    const getStatus = async (runId: string) =>
      (await api.call<{ run: { status: string } }>(`/runs/${runId}`)).run.status
    for (const runId of runIds) await poll(() => getStatus(runId)).toBe('completed')
    parts().fleet.closeGate()
  }
  /** The processes that did the last step. */
  const finishers = (runIds: readonly string[]) =>
    new Set(
      parts()
        .fleet.effects()
        .flatMap(({ nodeId, runId, pid }) => (nodeId === 'n2' && runIds.includes(runId) ? [pid] : [])),
    )
  const stop = async (worker: Worker) => {
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
  }

  it('under one address, each finishes the runs of the other', async () => {
    const { fleet: all, main } = parts()
    const old = await all.startWorker({ main })
    // This version migrates the tables.
    const api = await all.startApi()
    const left = await begin(api, 8)
    await poll(() => atGate(left).length).toBe(8)
    const next = await all.startWorker()
    old.kill('SIGKILL')
    await poll(() => atGate(left).filter(({ pid }) => pid === next.pid).length).toBe(8)
    await finish(api, left)
    expect(finishers(left)).toEqual(new Set([next.pid]))

    const back = await begin(api, 8)
    await poll(() => atGate(back).length).toBe(8)
    const again = await all.startWorker({ main })
    next.kill('SIGKILL')
    await poll(() => atGate(back).filter(({ pid }) => pid === again.pid).length).toBe(8)
    await finish(api, back)
    expect(finishers(back)).toEqual(new Set([again.pid]))
    await stop(again)
    api.kill('SIGTERM')
    await api.ended
  }, 120_000)

  it('under an address each, deliveries end where they began, and new ones go to the new version', async () => {
    const { fleet: all, main } = parts()
    const admin = all.restate[0]?.admin ?? ''
    const fronts = await Promise.all([startBalancer(), startBalancer()])
    const old = await all.startWorker({ main, balancer: fronts[0] })
    const api = await all.startApi()
    const early = await begin(api, 4)
    await poll(() => atGate(early).length).toBe(4)
    const next = await all.startWorker({ balancer: fronts[1] })
    const late = await begin(api, 4)
    await poll(() => atGate(late).length).toBe(4)
    expect(new Set(atGate(late).map(({ pid }) => pid))).toEqual(new Set([next.pid]))

    type Deployments = { readonly deployments: readonly { readonly id: string; readonly uri: string }[] }
    const { deployments } = (await (await fetch(`${admin}/deployments`)).json()) as Deployments
    const of = (url: string) => deployments.find(({ uri }) => uri.startsWith(url))?.id ?? ''
    const pinned = async (id: string) => {
      const query = `select id, target from sys_invocation where pinned_deployment_id = '${id}' and status <> 'completed'`
      const response = await fetch(`${admin}/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({ query }),
      })
      return ((await response.json()) as { readonly rows: readonly unknown[] }).rows.length
    }
    expect([await pinned(of(fronts[0].url)), await pinned(of(fronts[1].url))]).toEqual([4, 4])
    await finish(api, [...early, ...late])
    expect([finishers(early), finishers(late)]).toEqual([new Set([old.pid]), new Set([next.pid])])
    // As docs/reference/queues.md says, the old deployment can go when it has no deliveries.
    await poll(() => pinned(of(fronts[0].url))).toBe(0)
    const deleted = await fetch(`${admin}/deployments/${of(fronts[0].url)}?force=true`, { method: 'DELETE' })
    expect(deleted.ok).toBe(true)
    await stop(old)
    await finish(api, await begin(api, 2))
    await stop(next)
    for (const front of fronts) await front.close()
    const { code, stdout } = await proviso(['verify', '--store', all.postgres.url])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/all in order/)])
  }, 120_000)
})
