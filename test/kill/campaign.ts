/** Many trials: every place in turn, a second death while the next process recovers, and deaths at any moment from outside. */
import { cpus } from 'node:os'
import type { Store } from '../../src/domain/ports/store.ts'
import { createRandom } from '../../src/testing/noise/random.ts'
import { type Death, expected, runTrial, type Trial } from './trial.ts'

/** Where the trials of one lane keep their runs; without one each trial has a SQLite file of its own. */
export interface Lane {
  readonly postgres?: { readonly url: string; readonly store: Store }
}

export interface CampaignOptions {
  /** The process to kill, compiled. */
  readonly program: string
  readonly store: 'sqlite' | 'postgres'
  readonly kills: number
  readonly seed: number
  /** Trials side by side, one lane each. */
  readonly lanes: readonly Lane[]
  /** Only this trial, to see a violation again. */
  readonly only?: number
  /** How long a claim holds without a sign of life. Default: the engine's own. */
  readonly leaseMs?: number
  readonly onTrial?: (done: { readonly kills: number; readonly trials: number }) => void
}

export interface Quantiles {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly most: number
}

export interface CampaignResult {
  readonly store: string
  readonly seed: number
  readonly wanted: number
  readonly kills: number
  readonly trials: number
  readonly runs: number
  /** Places at which a process that does all the work can die. */
  readonly boundaries: number
  /** How many of them somebody died at. */
  readonly covered: number
  readonly killsPerMinute: number
  readonly lost: number
  readonly duplicated: number
  readonly reexecuted: number
  /** From the start of the next process to its first attempt in the journal; the same without loading its code. */
  readonly recoveryMs: Quantiles
  readonly afterLoadMs: Quantiles
  readonly leaseMs: number | 'default'
  readonly violations: readonly {
    readonly trial: number
    readonly deaths: readonly Death[]
    readonly message: string
  }[]
}

const runsPerTrial = 2

export function laneCount(): number {
  return Math.max(1, Math.min(cpus().length, 4))
}

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { program, seed, lanes, leaseMs } = options
  const trial = (lane: Lane, index: number, deaths: readonly Death[]) =>
    runTrial({
      program,
      name: `s${seed}-t${index}`,
      runs: runsPerTrial,
      deaths,
      seed: seed + index,
      expected,
      ...(leaseMs !== undefined && { leaseMs }),
      ...lane,
    })
  const [first = {}] = lanes
  const began = performance.now()
  const calm = await trial(first, 0, [])
  const calmMs = performance.now() - began
  if (calm.violations.length > 0) throw new Error(`Even without a death: ${calm.violations.join('\n')}`)

  const done: { readonly index: number; readonly deaths: readonly Death[]; readonly trial: Trial }[] = []
  const kills = () => done.reduce((sum, one) => sum + one.trial.kills, 0)
  const started = performance.now()
  let next = options.only ?? 1
  const work = async (lane: Lane) => {
    while (kills() < options.kills && (options.only === undefined || next === options.only)) {
      const index = next++
      const deaths = deathsOf({ index, seed, boundaries: calm.boundaries, calmMs, wanted: options.kills })
      done.push({ index, deaths, trial: await trial(lane, index, deaths) })
      options.onTrial?.({ kills: kills(), trials: done.length })
    }
  }
  await Promise.all(lanes.map(work))
  const minutes = (performance.now() - started) / 60_000

  const sum = (of: (trial: Trial) => number) => done.reduce((total, one) => total + of(one.trial), 0)
  const covered = new Set(
    done.flatMap(({ deaths: [death] }) => (death && 'place' in death ? [death.place] : [])),
  )
  const recoveries = done.flatMap(({ trial: { recoveries } }) => recoveries)
  return {
    store: options.store,
    seed,
    wanted: options.kills,
    kills: kills(),
    trials: done.length,
    runs: done.length * runsPerTrial,
    boundaries: calm.boundaries,
    covered: covered.size,
    killsPerMinute: Math.round(kills() / minutes),
    lost: sum(({ lost }) => lost),
    duplicated: sum(({ duplicated }) => duplicated),
    reexecuted: sum(({ reexecuted }) => reexecuted),
    recoveryMs: quantiles(recoveries.map(({ ms }) => ms)),
    afterLoadMs: quantiles(recoveries.map(({ afterLoadMs }) => afterLoadMs)),
    leaseMs: leaseMs ?? 'default',
    violations: done.flatMap(({ index, deaths, trial: { violations } }) =>
      violations.map((message) => ({ trial: index, deaths, message })),
    ),
  }
}

interface Place {
  readonly index: number
  readonly seed: number
  readonly boundaries: number
  readonly calmMs: number
  /** Kills of the whole campaign. */
  readonly wanted: number
}

/** Most trials die at a place and again while recovering; every sixth dies three times at any moment. */
function deathsOf({ index, seed, boundaries, calmMs, wanted }: Place): Death[] {
  const random = createRandom(seed * 100_003 + index)
  const moment = () => ({ afterMs: random.int(0, Math.ceil(calmMs)) })
  if (index % 6 === 0) return [moment(), moment(), moment()]
  // All places in turn; when there are more places than trials, evenly spread, at other ones with another seed.
  const stride = Math.max(1, (boundaries * 2) / wanted)
  const turn = index - Math.floor(index / 6) - 1
  const place = 1 + (Math.floor(turn * stride + (stride > 1 ? (seed * 7) % stride : 0)) % boundaries)
  return [{ place }, { place: random.int(1, Math.ceil(boundaries / 3)) }]
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = [...values].sort((one, other) => one - other)
  const at = (part: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0)
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), most: at(1) }
}
