/** Kills the process of an agent at the points of its run, one life per point, and counts what went wrong. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { type Lived, live } from './life.ts'
import { type ScenarioName, scenarios } from './scenarios.ts'

export interface SweepOptions {
  readonly program: string
  /** Default `loop`. */
  readonly scenario?: ScenarioName
  /** Address of a PostgreSQL server; each life gets a database there. Absent: SQLite files. */
  readonly postgres?: string
  /** Kill at every nth point. */
  readonly stride: number
  /** Kill only at points that match. */
  readonly at?: RegExp
  /** Lives at the same time: most of each is waiting. */
  readonly lanes: number
  readonly onLife?: (done: number, all: number) => void
}

export interface SweepResult {
  readonly store: 'sqlite' | 'postgres'
  /** Points of an undisturbed run. */
  readonly points: number
  readonly kills: number
  readonly ended: readonly string[]
  readonly effectsLost: number
  readonly effectsDoubled: number
  readonly effectsRejected: number
  /** Requests without a start in the journal, and turns that were begun again after their end or by the same attempt. */
  readonly turnsPaidTwice: number
  /**
   * Turns that a further attempt asked again because the one before had no end in the journal: its process was killed, or
   * lost its lease. Its answer is in no journal, so it cannot be used: turns are asked at least once.
   */
  readonly turnsAskedAgain: number
  /** Requests that differ by a byte from those of the undisturbed run, or have another key than the same turn before. */
  readonly requestsDifferent: number
  /** Leases that living processes lost, on a busy machine. */
  readonly leasesLost: number
  /** Approvals that were asked for again, or not at all. */
  readonly approvalsLost: number
  readonly doubts: number
  readonly findings: readonly string[]
}

/** Long enough that no living process loses its lease on a busy machine; on PostgreSQL others wait for it to expire. */
const leaseMs = { sqlite: 15_000, postgres: 6_000 }

export async function sweep({
  program,
  scenario = 'loop',
  postgres,
  stride,
  at = /./,
  lanes,
  onLife,
}: SweepOptions): Promise<SweepResult> {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-loop-'))
  const address = async (name: string) =>
    postgres === undefined ? `sqlite:${join(folder, `${name}.db`)}` : createDatabase(postgres, `loop_${name}`)
  // A SQLite file has one writer.
  const common =
    postgres === undefined
      ? { program, scenario, leaseMs: leaseMs.sqlite, successors: 1 }
      : { program, scenario, leaseMs: leaseMs.postgres, successors: 2 }
  try {
    const whole = await live({ ...common, store: await address('whole') })
    const found = { ...judge(whole, { whole, scenario }), ended: new Set([whole.ended]) }
    const wanted = [...whole.points.keys()].filter(
      (point) => point % stride === stride - 1 && at.test(whole.points[point]!),
    )
    const left = [...wanted]
    const lane = async () => {
      for (let point = left.shift(); point !== undefined; point = left.shift()) {
        let killedAt = ''
        const lived = await live({
          ...common,
          store: await address(`kill_${point}`),
          killAt: (what, nth) => {
            if (nth === point) killedAt = what
            return nth === point
          },
        })
        add(found, judge(lived, { whole, scenario, killedAt }))
        found.ended.add(lived.ended)
        onLife?.(wanted.length - left.length, wanted.length)
      }
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    return {
      store: postgres === undefined ? 'sqlite' : 'postgres',
      points: whole.points.length,
      kills: wanted.length,
      ...found,
      ended: [...found.ended],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Whether nothing went wrong. */
export function isClean(result: SweepResult): boolean {
  const { ended, findings, effectsLost, effectsDoubled, effectsRejected } = result
  const { turnsPaidTwice, requestsDifferent, approvalsLost } = result
  const wrong =
    effectsLost + effectsDoubled + effectsRejected + turnsPaidTwice + requestsDifferent + approvalsLost
  return ended.join() === 'ended completed' && findings.length === 0 && wrong === 0
}

type Counts = Omit<SweepResult, 'store' | 'points' | 'kills' | 'ended'>

interface Judging {
  readonly whole: Lived
  readonly scenario: ScenarioName
  readonly killedAt?: string
}

function judge(lived: Lived, { whole, scenario, killedAt = '' }: Judging): Counts {
  const { effects: wantedEffects, decisions } = scenarios[scenario]
  const { requests, effects, approvals, doubts } = lived
  const bodies = new Map(whole.requests.map(({ turn, text }) => [turn, text]))
  const keys = new Map(requests.map(({ turn, key }) => [turn, key]))
  const paidTwice = [...keys.keys()].reduce((sum, turn) => {
    const { begun, begunInVain } = lived.turns.get(turn) ?? { begun: 0, begunInVain: 0 }
    const asked = requests.filter((each) => each.turn === turn).length
    return sum + Math.max(asked - begun, begunInVain)
  }, 0)
  const different = requests.filter(
    ({ turn, text, key }) => text !== bodies.get(turn) || key !== keys.get(turn),
  )
  return {
    effectsLost: wantedEffects.filter((effect) => !effects.has(effect)).length,
    effectsDoubled: [...effects.values()].reduce((sum, count) => sum + count - 1, 0),
    effectsRejected: [...effects.keys()].filter((effect) => !wantedEffects.includes(effect)).length,
    turnsPaidTwice: paidTwice,
    turnsAskedAgain: requests.length - keys.size - paidTwice,
    requestsDifferent: different.length,
    leasesLost: lived.leasesLost,
    approvalsLost: Object.keys(decisions).filter((query) => approvals.get(query) !== 1).length,
    doubts,
    findings: [
      ...lived.findings,
      ...(paidTwice > 0 ? [`turns ${requests.map(({ turn }) => turn)} were asked`] : []),
      ...different.map(({ turn, text }) => `turn ${turn} was asked with other words or another key: ${text}`),
    ].map((finding) => `${killedAt}: ${finding}`),
  }
}

function add(sum: { -readonly [Name in keyof Counts]: Counts[Name] }, more: Counts): void {
  const { findings, ...counts } = more
  for (const [name, count] of Object.entries(counts)) sum[name as keyof typeof counts] += count
  sum.findings = [...sum.findings, ...findings]
}

async function createDatabase(url: string, name: string): Promise<string> {
  const client = new Client(url)
  await client.connect()
  await client.query(`create database ${name} encoding 'UTF8' template template0`)
  await client.end()
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}
