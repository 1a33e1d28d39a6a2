/**
 * Runs on Restate, with the real server: workers behind a load balancer get the runs that the API sends, and the runs survive the death of each part. Every run
 * completes, no step is done twice that must not be, and the journals are in order.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { missingRestate } from '../../scripts/restate.mjs'
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import type { Store } from '../../src/index.ts'
import { proviso, requireBuild, root } from '../support.ts'
import { type Api, type Fleet, startFleet, type Worker } from './fleet.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const envelope = { objective: 'One line about tea', outputContract: { schema: text } }
/** Of a worker without options: what others would wait for without Restate. */
const leaseMs = 15_000

interface Node {
  readonly id: string
  readonly capabilityId: string
  readonly [more: string]: unknown
}
const chain = (...nodes: readonly Node[]) => ({
  envelope,
  draft: {
    nodes,
    edges: nodes.slice(1).map(({ id }, index) => ({ from: nodes[index]?.id, to: id })),
    output: { node: nodes.at(-1)?.id },
  },
})
const steps = (capabilityId: string) =>
  chain(
    { id: 'one', capabilityId: 'step' },
    { id: 'two', capabilityId },
    { id: 'three', capabilityId: 'step' },
  )
const reviewed = chain(
  { id: 'compose', capabilityId: 'compose', data: { contract: true } },
  { id: 'publish', capabilityId: 'publish', inputs: { text: { node: 'compose', pointer: '/text' } } },
)

interface Run {
  readonly runId: string
  readonly status: string
}

describe.skipIf(missingPostgres() !== undefined || missingRestate() !== undefined)('on Restate', () => {
  let fleet: Fleet
  let api: Api
  let store: Store
  let workers: Worker[] = []

  beforeAll(async () => {
    requireBuild()
    fleet = await startFleet({ root, queue: 'restate' })
    store = await openPostgresStore({ url: fleet.postgres.url })
    workers = await Promise.all([fleet.startWorker(), fleet.startWorker()])
    api = await fleet.startApi()
  })
  afterAll(async () => {
    await store?.close()
    await fleet?.close()
  })

  const begin = async (body: unknown) => (await api.call<Run>('/runs', body)).runId
  const poll = <T>(look: () => T) => expect.poll(look, { interval: 20, timeout: 20_000 })
  const status = async (runId: string) => (await api.call<{ run: Run }>(`/runs/${runId}`)).run.status
  const effectsOf = (runId: string) => fleet.effects().filter((effect) => effect.runId === runId)
  const arrival = async (runId: string, times = 1) =>
    poll(() => effectsOf(runId).filter(({ said }) => said === 'waits' || said === 'gated').length).toBe(times)
  const verify = async () => {
    const { code, stdout } = await proviso(['verify', '--store', fleet.postgres.url])
    expect([code, stdout]).toEqual([0, expect.stringMatching(/all in order/)])
  }
  const approve = async (at: Api, runId: string) => {
    type Asks = { readonly asks: readonly { readonly requestId: string; readonly valueHash: string }[] }
    const { requestId, valueHash } = (await at.call<Asks>(`/hitl?runId=${runId}`)).asks[0] ?? {}
    await at.call('/hitl/resolve', { requestId, valueHash, decision: 'approve' })
  }
  /** The worker that made the last call of a run. */
  const ownerOf = (runId: string): Worker => {
    const pid = effectsOf(runId).at(-1)?.pid
    const owner = workers.find((worker) => worker.pid === pid)
    if (owner === undefined) throw new Error(`No worker has ${pid}`)
    return owner
  }

  it('completes runs that the API sends, on all workers', async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => begin(steps('step'))))
    for (const id of ids) await poll(() => status(id)).toBe('completed')
    expect(new Set(fleet.effects().map(({ pid }) => pid))).toEqual(new Set(workers.map(({ pid }) => pid)))
    for (const id of ids) expect(effectsOf(id).map(({ nodeId }) => nodeId)).toEqual(['one', 'two', 'three'])
  })

  it('waits for a person without a worker, and continues after the reply', async () => {
    const id = await begin(reviewed)
    await poll(() => status(id)).toBe('awaiting_hitl')
    await approve(api, id)
    await poll(() => status(id)).toBe('completed')
    expect(effectsOf(id)).toHaveLength(1)
  })

  it('fires a timer by a delayed message', async () => {
    const retry = { max: 2, backoffMs: 1_000 }
    const id = await begin(chain({ id: 'flaky', capabilityId: 'flaky', retry }))
    await poll(() => status(id)).toBe('completed')
    const [first, second] = effectsOf(id)
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(1_000)
  })

  it('continues in another worker when one is killed, long before its lease ends', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, () => begin(steps('waits'))))
    for (const id of ids) await arrival(id)
    const victim = ownerOf(ids[0] as string)
    const moved = ids.filter((id) => effectsOf(id).at(-1)?.pid === victim.pid)
    const killedAt = Date.now()
    victim.kill('SIGKILL')
    await victim.ended
    for (const id of moved) await arrival(id, 2)
    const waits = moved.map((id) => (effectsOf(id).at(-1)?.at ?? 0) - killedAt)
    console.log(`${moved.length} runs were picked up ${Math.max(...waits)} ms after the kill`)
    for (const wait of waits) expect(wait).toBeLessThan(leaseMs)
    workers = [...workers.filter((worker) => worker !== victim), await fleet.startWorker()]
    fleet.openGate()
    for (const id of ids) await poll(() => status(id)).toBe('completed')
    fleet.closeGate()
    // Under the same key: for an agent, the second call is the first.
    for (const id of moved)
      expect(
        new Set(
          effectsOf(id)
            .slice(1, 3)
            .map(({ key }) => key),
        ).size,
      ).toBe(1)
  })

  it('fences a worker that was frozen: what it writes when it wakes up is refused', async () => {
    const id = await begin(steps('waits'))
    await arrival(id)
    const frozen = ownerOf(id)
    frozen.kill('SIGSTOP')
    // As a balancer with health checks does.
    fleet.balancer.remove(frozen.port)
    fleet.balancer.cut(frozen.port)
    await arrival(id, 2)
    fleet.openGate()
    await poll(() => status(id)).toBe('completed')
    frozen.kill('SIGCONT')
    frozen.kill('SIGTERM')
    expect(await frozen.ended).toBe(0)
    expect(frozen.lines.at(-1)?.lost).toBe(1)
    expect(effectsOf(id).map(({ nodeId }) => nodeId)).toEqual(['one', 'two', 'two', 'three'])
    fleet.closeGate()
    workers = [...workers.filter((worker) => worker !== frozen), await fleet.startWorker()]
  })

  it('leaves a run to a worker that is alive and only lost its connection', async () => {
    const id = await begin(steps('gated'))
    await arrival(id)
    const owner = ownerOf(id)
    fleet.balancer.remove(owner.port)
    fleet.balancer.cut(owner.port)
    // The other worker gets the run, and asks the owner: it answers by a renewal each time.
    const renewals = new Set<number | undefined>()
    const look = async () => renewals.add((await store.handover?.findLease(id))?.until).size
    await expect.poll(look, { interval: 20, timeout: 20_000 }).toBeGreaterThan(3)
    fleet.openGate()
    await poll(() => status(id)).toBe('completed')
    fleet.closeGate()
    fleet.balancer.add(owner.port)
    expect(effectsOf(id).filter(({ said }) => said === 'gated')).toHaveLength(1)
  })

  it('changes nothing when a delivery comes more than once', async () => {
    const id = await begin(steps('gated'))
    await arrival(id)
    const send = async (handler: string) => {
      const url = `${fleet.ingress}/proviso-run/${id}/${handler}/send`
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      })
      expect(response.ok).toBe(true)
    }
    const handlers = ['advance', 'late', 'advance', 'late']
    await Promise.all(handlers.map(send))
    fleet.openGate()
    await poll(() => status(id)).toBe('completed')
    await Promise.all(handlers.map(send))
    fleet.closeGate()
    expect(effectsOf(id).map(({ nodeId }) => nodeId)).toEqual(['one', 'two', 'three'])
  })

  it('survives a kill of the Restate server: attempts continue, and timers and new runs are delivered', async () => {
    const retry = { max: 2, backoffMs: 2_000 }
    const [running, waiting] = await Promise.all([
      begin(steps('gated')),
      begin(chain({ id: 'flaky', capabilityId: 'flaky', retry })),
    ])
    await arrival(running)
    await poll(() => effectsOf(waiting).length).toBe(1)
    await fleet.restate[0]?.kill()
    const accepted = await begin(steps('step'))
    await fleet.restate[0]?.restart()
    fleet.openGate()
    for (const id of [running, waiting, accepted]) await poll(() => status(id)).toBe('completed')
    fleet.closeGate()
    expect(effectsOf(running).map(({ nodeId }) => nodeId)).toEqual(['one', 'two', 'three'])
  })

  it('offers a run that needs a label to workers until one has it', async () => {
    const eu = await fleet.startWorker({ args: ['--labels', 'region=eu'] })
    const body = steps('step')
    const placed = { ...body, envelope: { ...envelope, constraints: { placement: { region: 'eu' } } } }
    const id = await begin(placed)
    await poll(() => status(id)).toBe('completed')
    expect(new Set(effectsOf(id).map(({ pid }) => pid))).toEqual(new Set([eu.pid]))
    eu.kill('SIGTERM')
    expect(await eu.ended).toBe(0)
  })

  it('a run moves to workers that poll the store, and another one to Restate', async () => {
    const id = await begin(reviewed)
    await poll(() => status(id)).toBe('awaiting_hitl')
    for (const worker of workers) worker.kill('SIGTERM')
    for (const worker of workers) expect(await worker.ended).toBe(0)
    const local = await fleet.startApi({ queue: 'local' })
    const toRestate = (await local.call<Run>('/runs', steps('step'))).runId
    const worker = await fleet.startWorker({ queue: 'local' })
    await poll(() => status(toRestate)).toBe('completed')
    await approve(local, id)
    await poll(() => status(id)).toBe('completed')
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
    const left = (await local.call<Run>('/runs', steps('step'))).runId
    workers = [await fleet.startWorker()]
    await poll(() => status(left)).toBe('completed')
    await verify()
  })
})
