/**
 * Clients retry with their `Idempotency-Key` after the process that took the request was killed: the other process answers as
 * soon as the lease of the dead one has ended, and no request has begun a second run.
 */
import { describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { api } from '../server/support.ts'
import { type Process, processes } from './serve.ts'

const long = process.env['PROVISO_LONG'] === '1'
const requests = long ? 60 : 20
const leaseMs = 2_000

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const body = {
  envelope: { objective: 'One line about tea', outputContract: { schema: text } },
  draft: { nodes: [{ id: 'one', capabilityId: 'gated' }] },
}

describe.skipIf(missingPostgres() !== undefined)('an idempotency key', () => {
  const here = processes()

  const post = (at: Process, key: string, wait = '') =>
    fetch(`${at.address}${api}/runs${wait}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
      body: JSON.stringify(body),
    })

  it('of a process that was killed is free for a retry when its lease has ended', async () => {
    const env = { PROVISO_LEASE_MS: String(leaseMs) }
    const [dying, staying] = await Promise.all([here.serve(env), here.serve(env)])
    const keys = Array.from({ length: requests }, (_, nth) => `key-${nth}`)
    // Each waits for its run, which ends when the gate is open: all are in progress when the process dies.
    const cut = keys.map((key) =>
      post(dying, key, '?wait=60').then(
        () => 'answered',
        () => 'cut',
      ),
    )
    await expect
      .poll(async () => (await here.store.runs({ limit: 100 })).length, { interval: 20, timeout: 30_000 })
      .toBe(requests)
    // A living process is not overtaken, however long its requests take.
    await new Promise((resolve) => setTimeout(resolve, 1.5 * leaseMs))
    const early = await post(staying, keys[0] ?? '', '?wait=60')
    expect([early.status, ((await early.json()) as { code: string }).code]).toEqual([
      409,
      'idempotency/in-flight',
    ])

    dying.kill('SIGKILL')
    await dying.ended
    const killed = performance.now()
    expect(new Set(await Promise.all(cut))).toEqual(new Set(['cut']))
    here.openGate()
    const answers = await Promise.all(keys.map((key) => retry(() => post(staying, key, '?wait=60'))))
    const took = performance.now() - killed
    for (const { status } of answers) expect(status).toBe(200)
    // Not repeatable: a person is asked about the call that died with the process.
    for (const { result } of answers) expect(result.status).toBe('awaiting_hitl')
    expect(new Set(answers.map(({ result }) => result.runId)).size).toBe(requests)
    expect(await here.store.runs({ limit: 100 })).toHaveLength(requests)
    console.log(
      `${requests} retries were answered within ${Math.round(took)} ms of the kill, with a lease of ${leaseMs} ms`,
    )
  })
})

interface Result {
  readonly runId: string
  readonly status: string
}

/** As a client does that is asked to come back in a second. */
async function retry(request: () => Promise<Response>): Promise<{ status: number; result: Result }> {
  for (let left = 20; ; left--) {
    const response = await request()
    const result = (await response.json()) as Result
    if (response.status !== 409 || left === 0) return { status: response.status, result }
    await new Promise((resolve) => setTimeout(resolve, 1_000))
  }
}
