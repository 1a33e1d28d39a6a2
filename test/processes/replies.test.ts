/**
 * T7: two processes on one PostgreSQL, and people who approve, edit and reject the same ask at the same moment, spread over
 * both, while its time runs out: one decision counts, the others get 409, and what it leads to happens once.
 */
import { describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { Random } from '../random.ts'
import { api, type SseFrame } from '../server/support.ts'
import { type Process, processes } from './serve.ts'

const cases = process.env['PROVISO_LONG'] === '1' ? 1_000 : 60
/** Cases at a time. */
const lanes = 8
/** How long people have here: long enough for a busy machine, short enough to wait for. */
const askMs = 1_500

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const work = {
  envelope: { objective: 'Publish one line about tea', outputContract: { schema: text } },
  draft: {
    nodes: [
      { id: 'compose', capabilityId: 'compose', data: { contract: true } },
      {
        id: 'publish',
        capabilityId: 'publish',
        inputs: { text: { node: 'compose', pointer: '/text' } },
      },
    ],
    output: { node: 'publish' },
  },
}

interface Ask {
  readonly requestId: string
  readonly valueHash: string
  readonly expiresAt: number
}

/** One reply of a case and its response. */
interface SentReply {
  readonly decision: string
  readonly said: string
  readonly at: Process
  readonly status: number
  readonly code: string
}

interface Case {
  readonly runId: string
  readonly replies: readonly SentReply[]
  /** As the journal has it. */
  readonly decisions: readonly SseFrame[]
  readonly end: string
}

async function contest(seed: number, both: readonly Process[]): Promise<Case> {
  const random = new Random(seed)
  const waiting = await random.pick(both).run(work)
  const { runId } = waiting[0] as SseFrame
  const ask = waiting.find(({ type }) => type === 'hitl_request')?.payload as unknown as Ask
  const { requestId, valueHash } = ask
  // A quarter is decided around the moment at which the ask expires.
  if (random.chance(0.25)) await waitUntil(ask.expiresAt + random.int(-20, 10))
  const replies = await Promise.all(
    Array.from({ length: random.int(2, 8) }, async (_, nth): Promise<SentReply> => {
      const decision = random.pick(['approve', 'edit', 'reject'])
      const said = decision === 'edit' ? `Tea, says ${nth}` : 'Tea'
      // Both are asked in every case.
      const at = both[nth % both.length] as Process
      const response = await at.call(`${api}/hitl/resolve`, {
        requestId,
        valueHash,
        decision,
        ...(decision === 'edit' && { value: { text: said } }),
      })
      const { code = '' } = (await response.json()) as { code?: string }
      return { decision, said, at, status: response.status, code }
    }),
  )
  const all = await random.pick(both).followed(runId)
  return {
    runId,
    replies,
    decisions: all.filter(({ type }) => type === 'hitl_resolved'),
    end: String(all.at(-1)?.payload['status']),
  }
}

describe.skipIf(missingPostgres() !== undefined)('two processes and many who decide', () => {
  const here = processes()

  it(
    `in ${cases} cases one decision counts, every other gets 409, and the effect happens once`,
    async () => {
      const env = { PROVISO_ASK_MS: String(askMs) }
      const both = await Promise.all([here.serve(env), here.serve(env)])
      const contested: Case[] = []
      let next = 0
      await Promise.all(
        Array.from({ length: lanes }, async () => {
          while (next < cases) contested.push(await contest(7_000 + next++, both))
        }),
      )
      const effects = here.effects()
      const won = new Map<string, number>()
      for (const { runId, replies, decisions, end } of contested) {
        const taken = replies.filter(({ status }) => status === 200)
        const decision = String(decisions[0]?.payload['decision'])
        won.set(decision, (won.get(decision) ?? 0) + 1)
        const at = taken[0] && `process ${both.indexOf(taken[0].at) + 1}`
        if (at) won.set(at, (won.get(at) ?? 0) + 1)
        expect(decisions, runId).toHaveLength(1)
        expect(taken.map((one) => one.decision)).toEqual(decision === 'expired' ? [] : [decision])
        for (const { status, code } of replies)
          if (status !== 200) expect([status, code]).toEqual([409, expect.stringMatching(/resolved|expired/)])
        const continues = decision === 'approve' || decision === 'edit'
        expect([runId, end]).toEqual([runId, continues ? 'completed' : 'failed'])
        const said = effects.filter((effect) => effect.runId === runId).map((effect) => effect.said)
        expect(said).toEqual(continues ? [taken[0]?.said] : [])
      }
      expect(contested).toHaveLength(cases)
      expect(await here.verify()).toMatch(new RegExp(`^${cases} runs, \\d+ events: all in order$`))
      const replies = contested.reduce((sum, one) => sum + one.replies.length, 0)
      console.log(
        `${cases} cases, ${replies} replies; won: ${[...won].map(([who, times]) => `${who} ${times}`).join(', ')}`,
      )
      // A contest that only one kind, or one process, could win would show nothing.
      expect([...won.keys()].sort()).toEqual([
        'approve',
        'edit',
        'expired',
        'process 1',
        'process 2',
        'reject',
      ])
    },
    cases === 60 ? 120_000 : 20 * 60_000,
  )
})

/** The race with a clock needs the time to come. */
function waitUntil(at: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, at - Date.now()))
}
