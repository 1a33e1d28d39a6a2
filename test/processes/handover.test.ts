/**
 * Two processes on one PostgreSQL, and one of them is asked to end while it executes runs: it ends in order, the other continues
 * with what it left, and every step was done once. The database dies on the way as well, and no process with it.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { api } from '../server/support.ts'
import { type Process, processes } from './serve.ts'

/** As of `proviso serve` without a word. */
const leaseMs = 15_000
const runs = 24
const steps = ['one', 'two', 'three', 'four', 'five']

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const envelope = { objective: 'One line about tea', outputContract: { schema: text } }

/** One step after the other; the third takes until the gate is open. */
const chain = {
  envelope,
  draft: {
    nodes: steps.map((id) => ({ id, capabilityId: id === 'three' ? 'gated' : 'step' })),
    edges: steps.slice(1).map((to, index) => ({ from: steps[index], to })),
    output: { node: 'five' },
  },
}
/** Longer than a process that ends may wait. */
const endless = { envelope, draft: { nodes: [{ id: 'long', capabilityId: 'long' }] } }

async function begin(at: Process, body: unknown): Promise<string> {
  const begun = await at.call(`${api}/runs`, body)
  expect(begun.status).toBe(202)
  return ((await begun.json()) as { runId: string }).runId
}

describe.skipIf(missingPostgres() !== undefined)('of two processes', () => {
  const here = processes()
  let leaving: Process
  let staying: Process
  beforeAll(async () => {
    ;[leaving, staying] = await Promise.all([here.serve(), here.serve()])
  })

  /** All these runs are at the gate. */
  async function arrival(ids: readonly string[]): Promise<void> {
    const arrived = () => here.effects().filter(({ runId, said }) => said === 'gated' && ids.includes(runId))
    await expect.poll(() => arrived().length, { interval: 20, timeout: 30_000 }).toBe(ids.length)
  }

  it('neither ends when the database dies, and their runs continue', async () => {
    const both = [leaving, staying]
    const ids = await Promise.all(
      Array.from({ length: 8 }, (_, nth) => begin(both[nth % 2] as Process, chain)),
    )
    await arrival(ids)
    here.cluster.restartImmediate()
    here.openGate()
    const ends = await Promise.all(
      ids.map((runId, nth) => patiently(() => both[(nth + 1) % 2]!.followed(runId))),
    )
    for (const frames of ends) expect(frames.at(-1)?.payload).toMatchObject({ status: 'completed' })
    const effects = here.effects()
    for (const runId of ids) {
      const keys = effects.filter((effect) => effect.runId === runId).map(({ key }) => key)
      expect([keys.length, new Set(keys).size]).toEqual([steps.length, steps.length])
    }
    here.closeGate()
  })

  it('one ends in order while it executes runs: the other continues at once, nothing is lost and no step done twice', async () => {
    const long = await begin(leaving, endless)
    const ids = await Promise.all(
      Array.from({ length: runs }, (_, nth) => begin(nth % 4 === 3 ? staying : leaving, chain)),
    )
    await arrival(ids)
    leaving.kill('SIGTERM')
    await leaving.says('stopping')
    const signalled = Date.now()
    here.openGate()
    const ends = await Promise.all([...ids, long].map((runId) => staying.followed(runId)))
    expect(await leaving.ended).toBe(0)
    expect(leaving.stderr()).not.toContain('Not everything has ended in time')
    for (const frames of ends) expect(frames.at(-1)?.payload).toMatchObject({ status: 'completed' })

    const effects = here.effects()
    const of = (runId: string) => effects.filter((effect) => effect.runId === runId)
    for (const runId of ids) expect(of(runId).map(({ nodeId }) => nodeId)).toEqual(steps)
    // What no process can wait for is done again, by the other one, and is the same call for the agent.
    const twice = of(long)
    expect(twice.map(({ pid, attempt }) => [pid, attempt])).toEqual([
      [leaving.pid, 1],
      [staying.pid, 2],
    ])
    expect(new Set(twice.map(({ key }) => key)).size).toBe(1)

    const handed = ids.map(of).filter((all) => new Set(all.map(({ pid }) => pid)).size === 2)
    expect(handed).toHaveLength(runs - runs / 4)
    const waits = handed.map((all) => (all.find(({ nodeId }) => nodeId === 'four')?.at ?? 0) - signalled)
    for (const wait of waits) expect(wait).toBeLessThan(leaseMs)
    expect(await here.verify()).toMatch(/: all in order$/)
    console.log(
      `${handed.length} of ${runs} runs changed hands, the last of them ${Math.max(...waits)} ms after the signal`,
    )
  })
})

/** A reader whose stream was refused or cut while the database was away asks again. */
async function patiently<T extends readonly unknown[]>(read: () => Promise<T>): Promise<T> {
  for (let left = 200; ; left--) {
    const all = await read().catch(() => undefined)
    const last = all?.at(-1) as { type?: string } | undefined
    if (all !== undefined && last?.type === 'complete') return all
    if (left === 0) throw new Error('The run has not come to its end')
  }
}
