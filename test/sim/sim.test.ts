/** The engine under faults. The histories and the mutants run in processes of their own, on the sources as they are. */
import { describe, expect, it } from 'vitest'
import { sha256Hex } from '../../src/base/canonical.ts'
import { expectOneLocation, runScript } from '../run-script.ts'
import { contest } from './contested-ask.ts'
import type { History } from './history.ts'
import { mutants } from './mutants.ts'
import { playHistory } from './oracle.ts'
import type { Summary } from './run-seeds.ts'
import { spend } from './scarce-budget.ts'

const long = process.env['PROVISO_LONG'] === '1'
const minutes = 60_000

/** About three histories for two seeds: exact scenarios are played without faults as well. */
const seeds = long ? 68_000 : 200
const shards = 2
/** The short form plays every second mistake. */
const mutantShards = long ? shards : 2 * shards
/** Histories of each budget that is too small. */
const budgets = long ? 1000 : 8

describe('the engine under faults', () => {
  it(
    'ends every run as expected through crashes, stalls, torn writes and duplicates',
    async () => {
      const each = seeds / shards
      const parts = await Promise.all(
        Array.from({ length: shards }, (_, nth) =>
          runScript<Summary>('sim', '--seed', String(1 + nth * each), '--seeds', String(each)),
        ),
      )
      expect(parts.flatMap(({ failing }) => failing)).toEqual([])
      expect(sum(parts, 'histories')).toBeGreaterThanOrEqual(long ? 100_000 : 270)
      expect(sum(parts, 'crashes')).toBeGreaterThan(sum(parts, 'seeds') / 2)
    },
    long ? 60 * minutes : 10 * minutes,
  )

  it(
    'ends agents with tools as expected: no turn paid twice, no effect doubled, no call without its approval',
    async () => {
      const summary = await runScript<Summary>('sim', '--loops', '--seeds', String(long ? 6_000 : 50))
      expect(summary.failing).toEqual([])
      expect(summary.crashes).toBeGreaterThan(summary.seeds / 2)
    },
    long ? 60 * minutes : 10 * minutes,
  )

  it(
    'shares limits between processes: never more at once than allowed, and no permit or circuit keeps a run for ever',
    async () => {
      const summary = await runScript<Summary>('sim', '--limits', '--seeds', String(long ? 6_000 : 50))
      expect(summary.failing).toEqual([])
      expect(summary.crashes).toBeGreaterThan(summary.seeds / 2)
    },
    long ? 60 * minutes : 10 * minutes,
  )

  it(
    long ? 'sees every mistake that is put into it' : 'sees every second mistake that is put into it',
    async () => {
      const form = long ? ['--seeds', '5000'] : ['--short']
      const parts = await Promise.all(
        Array.from({ length: shards }, (_, nth) =>
          runScript<{ caught: unknown[]; missed: string[] }>(
            'sim',
            '--mutants',
            ...form,
            '--shard',
            `${nth + 1}/${mutantShards}`,
          ),
        ),
      )
      expect(parts.flatMap(({ missed }) => missed)).toEqual([])
      expect(parts.flatMap(({ caught }) => caught)).toHaveLength(
        mutants.filter((_, index) => index % mutantShards < shards).length,
      )
      expect(mutants.length).toBeGreaterThanOrEqual(15)
    },
    long ? 60 * minutes : 10 * minutes,
  )

  it('accepts that a node repeats its own call with approval, next to an equal one in doubt', async () => {
    expect((await playHistory(1391)).violations).toEqual([])
  })

  it('accepts that a call is repeated whose late result says that nothing was applied', async () => {
    expect((await playHistory(1818)).violations).toEqual([])
  })

  it('accepts that an item asks again after a rejection, although its question expired before', async () => {
    expect((await playHistory(1761)).violations).toEqual([])
  })

  it('accepts that an outcome which came late is not named as unknown at the end', async () => {
    expect((await playHistory(3978)).violations).toEqual([])
  })

  it('accepts that a later plan counts an attempt anew that was not sent this time', async () => {
    expect((await playHistory(5088)).violations).toEqual([])
  })

  it('makes the calls of a loop anew whose output was rejected, also with inputs of an earlier pass', async () => {
    expect((await playHistory(110625)).violations).toEqual([])
  })

  it('accepts that the next plan makes a call that was not sent under this one', async () => {
    expect((await playHistory(112044)).violations).toEqual([])
  })

  it('charges what a call spends while its interrupt is written', async () => {
    expect((await playHistory(114779)).violations).toEqual([])
  })

  it('accepts another call where a new plan gives a node other inputs', async () => {
    expect((await playHistory(711540)).violations).toEqual([])
  })

  it('accepts that an item which waited for a person begins again after a rejection', async () => {
    expect((await playHistory(960040)).violations).toEqual([])
  })

  it('knows the place of every mistake', () => expectOneLocation(mutants))

  it('plays the same history for the same seed, alone or after others', {
    timeout: 5 * minutes,
  }, async () => {
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1)
    const first = new Map<number, string>()
    for (const seed of numbers) first.set(seed, fingerprint(await playHistory(seed)))
    for (const seed of numbers.reverse())
      expect(fingerprint(await playHistory(seed)), `seed ${seed}`).toBe(first.get(seed))
    expect(new Set(first.values()).size).toBe(numbers.length)
    const { journals } = await runScript<{ journals: { [runId: string]: unknown } }>('sim', '--seed', '7')
    expect(sha256Hex(JSON.stringify(Object.entries(journals)))).toBe(first.get(7))
  })
})

describe('an ask that several people answer at once', () => {
  it('takes one decision and reports it to all others', async () => {
    let expired = 0
    for (let seed = 1; seed <= (long ? 1000 : 80); seed++) {
      const { people, endings, decisions, effects, status } = await contest(seed)
      const winners = endings.filter((ending) => ending === 'done').length
      const [decision] = decisions
      expect(decisions, `seed ${seed}`).toHaveLength(1)
      expect(endings, `seed ${seed}`).toHaveLength(people)
      expect(winners, `seed ${seed}`).toBe(decision === 'expired' ? 0 : 1)
      for (const ending of endings) expect(['done', 'ask/resolved', 'ask/expired']).toContain(ending)
      const agreed = decision === 'approve' || decision === 'edit'
      expect({ effects, status }, `seed ${seed}`).toEqual(
        agreed ? { effects: 1, status: 'completed' } : { effects: 0, status: 'failed' },
      )
      if (decision === 'expired') expired++
    }
    expect(expired).toBeGreaterThan(long ? 10 : 1)
  })
})

describe('a budget that is far too small', () => {
  it.each([
    ['10 calls', { maxCalls: 10 }],
    ['100 tokens', { maxTokens: 100 }],
  ])(
    'of %s is never passed by 64 attempts at once, and nothing stays reserved after any crash',
    { timeout: 300_000 },
    async (_, limits) => {
      let crashes = 0
      for (let seed = 1; seed <= budgets; seed++) {
        const history = await spend(seed, { calls: 64, limits })
        expect(history.violations, `seed ${seed}`).toEqual([])
        crashes += history.crashes
      }
      expect(crashes).toBeGreaterThan(budgets / 2)
    },
  )

  it.each([
    ['30 calls', { maxCalls: 30 }],
    ['150 tokens', { maxTokens: 150 }],
  ])(
    'of %s is never passed by ladders of calls that a crash cuts off: what was set aside for them is paid',
    { timeout: 300_000 },
    async (_, limits) => {
      let cutOff = 0
      for (let seed = 1; seed <= budgets; seed++) {
        const history = await spend(seed, { calls: 24, limits, capabilityId: 'climber', callBudget: 4 })
        expect(history.violations, `seed ${seed}`).toEqual([])
        for (const journal of history.journals.values())
          for (const event of journal)
            if (event.type === 'attempt_end' && event.payload.outcome === 'outcome_unknown')
              if (event.payload.usage.calls > 1) cutOff++
      }
      expect(cutOff).toBeGreaterThan(budgets / 2)
    },
  )
})

function sum<Key extends string>(parts: readonly { readonly [K in Key]: number }[], key: Key): number {
  return parts.reduce((total, part) => total + part[key], 0)
}

function fingerprint({ journals }: History): string {
  return sha256Hex(JSON.stringify([...journals]))
}
