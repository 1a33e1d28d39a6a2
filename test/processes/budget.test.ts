/**
 * 64 calls of an agent that are ready at once, under a budget of ten, while the process that makes them is killed: the
 * agent counts what it gets, and the journal shows at every event what is spent and set aside.
 */
import { describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { agent, brief, copyVariants, json, writer } from '../agents/support.ts'
import { api } from '../server/support.ts'
import { processes } from './serve.ts'

const long = process.env['PROVISO_LONG'] === '1'
const runs = long ? 20 : 3
const limit = 10
const ready = 64
const env = { PROVISO_LEASE_MS: '1500' }

describe.skipIf(missingPostgres() !== undefined)('a budget for ten of 64 calls', () => {
  const here = processes()

  it('is never passed while processes die, and nothing stays set aside', { timeout: 600_000 }, async () => {
    let [byHeirs, cutOff] = [0, 0]
    let caller = await here.serve(env)
    for (let nth = 0; nth < runs; nth++) {
      const heir = await here.serve(env)
      // Call number `last` hangs until its process is dead; those before and after it are answered.
      const last = 1 + (nth % 4)
      const [dead, hanging] = [createSignal(), createSignal()]
      const answer = json({ copyVariants })
      const counted = await agent(async (response, received) => {
        if (counted.received.length === last) {
          hanging.send()
          await dead.sent
        }
        await answer(response, received)
      })
      const capabilityId = `writer.budget${nth}`
      const registered = await caller.call(
        `${api}/capabilities/register`,
        writer(counted.url, { capabilityId }),
      )
      expect(registered.status).toBe(201)
      const begun = await caller.call(`${api}/runs`, spending(capabilityId, nth % 2 === 0 ? ready : 4))
      const { runId } = (await begun.json()) as { runId: string }

      await hanging.sent
      caller.kill('SIGKILL')
      await caller.ended
      dead.send()
      const frames = await heir.followed(runId)

      expect(frames.at(-1)?.payload).toMatchObject({ status: 'completed' })
      expect(counted.received.length).toBeLessThanOrEqual(limit)
      const { most, left, spent } = account(frames)
      expect(most).toBeLessThanOrEqual(limit)
      expect(left).toEqual([])
      // Paid is at least what the agent got: a call that a crash cut off may have been made.
      expect(spent).toBeGreaterThanOrEqual(counted.received.length)
      expect(spent).toBeLessThanOrEqual(limit)
      const isCutOff = ({ type, payload }: Frame) =>
        type === 'attempt_end' && payload['outcome'] === 'outcome_unknown'
      cutOff += frames.filter(isCutOff).length
      const since = frames.slice(frames.findIndex(isCutOff))
      byHeirs += since.filter(({ type }) => type === 'budget_reserved').length
      caller = heir
    }
    // The kill interrupted calls, and what was left of the budget was used after it.
    expect(cutOff).toBeGreaterThanOrEqual(runs)
    expect(byHeirs).toBeGreaterThan(0)
    expect(await here.verify()).toMatch(/all in order$/)
    console.log(`${runs} kills: ${cutOff} calls cut off, ${byHeirs} made by the processes after them`)
  })
})

function createSignal() {
  let send = () => {}
  const sent = new Promise<void>((resolve) => {
    send = resolve
  })
  return { sent, send }
}

/** 64 nodes that are ready at once; where the budget does not allow one, the run continues. */
function spending(capabilityId: string, concurrency: number) {
  const ids = Array.from({ length: ready }, (_, index) => `n${index}`)
  const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  return {
    envelope: {
      objective: 'Spend as little as possible',
      inputs: { writerBrief: brief },
      outputContract: { schema: text },
    },
    draft: {
      nodes: [
        ...ids.map((id) => ({
          id,
          capabilityId,
          inputs: { writerBrief: { envelope: '/inputs/writerBrief' } },
          retry: { max: 2 },
        })),
        { id: 'end', capabilityId: 'step' },
      ],
      edges: ids.map((from) => ({ from, to: 'end', when: 'always' })),
      output: { node: 'end' },
      limits: { maxCalls: limit, concurrency },
    },
  }
}

interface Frame {
  readonly type: string
  readonly nodeId?: string
  readonly payload: { readonly [name: string]: unknown }
}

/** Adds up the calls of a journal: the most that were spent and set aside at once, and what is still set aside at its end. */
function account(frames: readonly Frame[]) {
  const aside = new Map<string, number>()
  let [spent, most] = [0, 0]
  for (const { type, nodeId = '', payload } of frames) {
    const calls = Number(payload['calls'])
    if (type === 'budget_reserved') aside.set(nodeId, calls)
    if (type === 'budget_settled') aside.delete(nodeId)
    if (type === 'attempt_end') {
      spent += (payload['usage'] as { calls?: number } | undefined)?.calls ?? 0
      // Paid from what was set aside for it.
      aside.delete(nodeId)
    }
    most = Math.max(most, spent + [...aside.values()].reduce((sum, each) => sum + each, 0))
  }
  return { most, spent, left: [...aside] }
}
