/**
 * Answers that take long to read, on two processes with one PostgreSQL: both keep answering while such an answer is read,
 * no lease is lost, and no agent is called again.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { agent, wanted, writer, writing } from '../agents/support.ts'
import { measureLowest } from '../remeasure.ts'
import { api } from '../server/support.ts'
import { type Process, processes } from './serve.ts'

/** Shorter than it takes to read an answer. */
const leaseMs = '1500'

/** About one megabyte each, near the limit of an agent's answer; each takes a second or more to read. */
const poisons = {
  reasoning: '<think>{"a":</think>'.repeat(50_000),
  unquoted: `{copyVariants:[${"{'a':[1,2,'3']},".repeat(60_000)}`,
}

describe.skipIf(missingPostgres() !== undefined)('an answer that takes long to read', () => {
  const here = processes()
  let both: Process[]
  beforeAll(async () => {
    both = [await here.serve({ PROVISO_LEASE_MS: leaseMs }), await here.serve({ PROVISO_LEASE_MS: leaseMs })]
    // The first call of a process loads what calls need.
    const { frames } = await runWith('{"copyVariants":[]}', 'writer.first')
    expect(frames.at(-1)).toMatchObject({ type: 'complete', payload: { status: 'completed' } })
  })

  /** Runs a node whose agent gives this answer; measures how long `/livez` of both processes takes meanwhile. */
  async function runWith(text: string, name: string) {
    const [first] = both as [Process, Process]
    const answering = await agent((response) => void response.writeHead(200).end(text))
    const offered = writer(answering.url, { capabilityId: name })
    expect((await first.call(`${api}/capabilities/register`, offered)).status).toBe(201)
    const begun = await first.call(`${api}/runs`, {
      envelope: wanted(),
      draft: writing({ capabilityId: name }),
    })
    const { runId } = (await begun.json()) as { runId: string }
    let isOver = false
    const measured = both.map((process) => timesOf(process, () => isOver))
    const frames = await first.followed(runId)
    isOver = true
    const times = (await Promise.all(measured)).flat().sort((a, b) => a - b)
    const p99 = times[Math.floor(times.length * 0.99)] as number
    return { p99, frames, calls: answering.received.length }
  }

  async function timesOf(process: Process, isOver: () => boolean): Promise<number[]> {
    const times: number[] = []
    while (!isOver()) {
      const start = performance.now()
      await (await process.call('/livez')).text()
      times.push(performance.now() - start)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    return times
  }

  it.each(Object.entries(poisons))(
    'does not delay the processes, and is asked for once: %s',
    async (name, text) => {
      let turn = 0
      const p99 = await measureLowest(100, async () => {
        const done = await runWith(text, `writer.${name}.${turn++}`)
        expect(done.calls).toBe(1)
        const ends = done.frames.filter(({ type }) => type === 'attempt_end')
        expect(ends.map(({ payload }) => (payload as { outcome: string }).outcome)).not.toContain(
          'outcome_unknown',
        )
        expect(done.frames.at(-1)).toMatchObject({ type: 'complete' })
        return done.p99
      })
      expect(p99).toBeLessThan(100)
    },
  )
})
