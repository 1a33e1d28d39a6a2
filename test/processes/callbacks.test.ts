/**
 * Agents that answer later, called by one of two processes on PostgreSQL: the answer may come to the other one, the caller may
 * be dead by then, and it may come twice or too late. One answer counts, and no agent is called again for nothing.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { post } from '../agents/post.ts'
import {
  agent,
  type ReceivedCall,
  type Registered,
  status,
  wanted,
  writer,
  writing,
} from '../agents/support.ts'
import { api } from '../server/support.ts'
import { type Process, processes } from './serve.ts'

/** Short, to be waited for; long enough for a post to come before it is over. */
const leaseMs = '3000'

describe.skipIf(missingPostgres() !== undefined)('an answer that comes later, to two processes', () => {
  const here = processes()
  let caller: Process
  let other: Process
  beforeAll(async () => {
    other = await here.serve({ PROVISO_LEASE_MS: leaseMs })
    caller = await here.serve({ PROVISO_LEASE_MS: leaseMs, PROVISO_PUBLIC_URL: other.address })
  })

  interface Calling {
    readonly capability?: object
    readonly node?: object
  }

  /** A run whose agent has said "accepted" to the one process, and calls back at the other. */
  async function accepted(capabilityId: string, { capability, node }: Calling = {}) {
    const waiting: { at: number; go: () => void }[] = []
    const later = await agent((response, received) => {
      status(202)(response, received)
      for (const { at, go } of waiting) if (later.received.length >= at) go()
    })
    const calls = (count: number) =>
      new Promise<ReceivedCall>((resolve) => {
        const go = () => resolve(later.received[count - 1] as ReceivedCall)
        if (later.received.length >= count) go()
        else waiting.push({ at: count, go })
      })
    const offered = writer(later.url, { capabilityId, ...capability })
    const registered = await caller.call(`${api}/capabilities/register`, offered)
    const { signingKey: key = '' } = (await registered.json()) as Registered
    const draft = writing({ capabilityId, ...node })
    const begun = await caller.call(`${api}/runs`, { envelope: wanted(), draft })
    const { runId } = (await begun.json()) as { runId: string }
    return { later, calls, key, runId, received: await calls(1) }
  }

  const endOf = async (runId: string) => (await other.followed(runId)).at(-1)?.payload
  const completed = { status: 'completed' }

  it('is taken by a process that has not heard of the agent, and counts once wherever it is repeated', async () => {
    const { received, key, runId, later } = await accepted('writer.once')
    expect(received.call.callbackUrl).toContain(other.address)
    const posts = await Promise.all(
      Array.from({ length: 8 }, (_, nth) =>
        post(received, { key, address: (nth % 2 === 0 ? other : caller).address }),
      ),
    )
    expect(posts.map((response) => response.status).sort()).toEqual([200, ...Array(7).fill(409)])
    expect(await endOf(runId)).toMatchObject(completed)
    expect((await post(received, { key })).status).toBe(409)
    expect(later.received).toHaveLength(1)
  })

  it('gets 409 from both when the time of the node is over', async () => {
    const { received, key, runId } = await accepted('writer.late', { node: { timeoutMs: 2_000 } })
    expect(await endOf(runId)).toMatchObject({ status: 'failed', error: { reason: 'execution_timeout' } })
    for (const { address } of [caller, other])
      expect((await post(received, { key, address })).status).toBe(409)
  })

  it('outlives the process that called: the other one waits for it, without asking or calling again', async () => {
    const heir = await accepted('writer.heir')
    const waiting = await accepted('writer.waiting')
    const careful = await accepted('writer.careful', { capability: { idempotent: false } })
    for (const { runId } of [heir, waiting, careful]) await untilAccepted(runId)
    caller.kill('SIGKILL')
    await caller.ended

    // One answer comes before the other process has the run, the others after it.
    expect((await post(heir.received, { key: heir.key })).status).toBe(200)
    expect(await endOf(heir.runId)).toMatchObject(completed)
    for (const { received, key, runId } of [waiting, careful]) {
      expect(await asksOf(runId)).toEqual([])
      expect((await post(received, { key })).status).toBe(200)
      expect((await post(received, { key })).status).toBe(409)
      expect(await endOf(runId)).toMatchObject(completed)
    }
    for (const { later } of [heir, waiting, careful]) expect(later.received).toHaveLength(1)
    expect(await here.verify()).toMatch(/^5 runs, \d+ events: all in order$/)
  })

  /** The journal has it that the agent took the call. */
  async function untilAccepted(runId: string) {
    const types = async () => {
      const page = await (await other.call(`${api}/runs/${runId}/events`)).json()
      return (page as { events: { type: string }[] }).events.map(({ type }) => type)
    }
    await expect.poll(types, { timeout: 30_000 }).toContain('attempt_accepted')
  }

  async function asksOf(runId: string) {
    const found = await other.call(`${api}/hitl?runId=${runId}`)
    const page = (await found.json()) as { asks: { requestId: string; valueHash: string; kind: string }[] }
    return page.asks
  }
})
