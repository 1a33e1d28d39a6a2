/** Runs many trials: undisturbed lives list the crash points, and the plan kills processes at all of them. */
import { cpus } from 'node:os'
import type { Store } from '../../src/index.ts'
import type { Life } from './life.ts'
import { createPlan, shares } from './plan.ts'
import type { Coverage } from './sweep.ts'
import { type Death, expected, runTrial, type Trial, type TrialOptions } from './trial.ts'

/** The store of the trials of one lane; without one each trial has its own SQLite file. */
export interface Lane {
  readonly postgres?: { readonly url: string; readonly store: Store }
}

export interface CampaignOptions {
  /** The process to kill, compiled. */
  readonly program: string
  readonly store: 'sqlite' | 'postgres'
  readonly kills: number
  readonly seed: number
  /** Trials in parallel, one lane each. */
  readonly lanes: readonly Lane[]
  /** Only this trial with these deaths, to reproduce a violation. */
  readonly again?: { readonly trial: number; readonly deaths: readonly Death[] }
  /** Lease duration without a heartbeat. Default: the engine's own. */
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
  /** Crash points of processes that start with an empty store. */
  readonly first: Coverage
  /** Crash points of processes that start after a death, until every run has made progress. */
  readonly recovery: Coverage
  /** Kills from outside, at random times. */
  readonly timed: number
  /** Number of kills that covers all crash points known now. */
  readonly fullSweep: number
  readonly killsPerMinute: number
  readonly lost: number
  readonly duplicated: number
  readonly reexecuted: number
  /** From the start of the next process to its first attempt in the journal. */
  readonly recoveryMs: Quantiles
  /** What that time consists of, and the processor time of the process in it. */
  readonly recoveryParts: Readonly<Record<'load' | 'open' | 'create' | 'resume' | 'processor', Quantiles>>
  readonly leaseMs: number | 'default'
  readonly violations: readonly {
    readonly trial: number
    readonly deaths: readonly string[]
    readonly message: string
  }[]
}

const runsPerTrial = 2

/** Number of undisturbed lives before all others. */
const calmLives = 3

/** One lane more than processors, because a life also waits for the disk and for leases. */
export function laneCount(): number {
  return Math.min(cpus().length + 1, 5)
}

/** Returns whether neither the stores nor the campaign show a violation. */
export function isClean({ violations, first, recovery }: CampaignResult): boolean {
  return violations.length + first.missed.length + recovery.missed.length === 0
}

export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, lanes, again } = options
  const calm = again ? { lives: [], ms: 0 } : await liveInCalm(options)
  const plan = createPlan({ seed, wanted: options.kills, calm: calm.lives, calmMs: calm.ms })
  const done: { readonly index: number; readonly trial: Trial }[] = []
  const started = performance.now()
  if (again) {
    const deaths = again.deaths.values()
    const trial = await trialOf(options, again.trial, {
      ...(lanes[0] && { lane: lanes[0] }),
      death: () => deaths.next().value,
    })
    done.push({ index: again.trial, trial })
  }
  let next = 1
  const work = async (lane: Lane, number: number) => {
    while (plan.kills < options.kills) {
      const index = next++
      if (index > 3 * options.kills)
        throw new Error(`${plan.kills} kills in ${index} trials: processes do not die`)
      const { death, lived } = plan.trial(index, { lane: number, lanes: lanes.length })
      done.push({ index, trial: await trialOf(options, index, { lane, death, onLife: lived }) })
      options.onTrial?.({ kills: plan.kills, trials: done.length })
    }
  }
  if (!again) await Promise.all(lanes.map(work))
  const minutes = (performance.now() - started) / 60_000

  const sum = (of: (trial: Trial) => number) => done.reduce((total, one) => total + of(one.trial), 0)
  const kills = sum((trial) => trial.kills)
  const recoveries = done.flatMap(({ trial: { recoveries } }) => recoveries)
  const coverage = plan.coverage()
  return {
    store: options.store,
    seed,
    wanted: options.kills,
    kills,
    trials: done.length,
    runs: done.length * runsPerTrial,
    ...coverage,
    fullSweep: fullSweep(coverage),
    killsPerMinute: Math.round(kills / minutes),
    lost: sum(({ lost }) => lost),
    duplicated: sum(({ duplicated }) => duplicated),
    reexecuted: sum(({ reexecuted }) => reexecuted),
    recoveryMs: quantiles(recoveries.map(({ ms }) => ms)),
    recoveryParts: {
      load: quantiles(recoveries.map(({ loadedMs }) => loadedMs)),
      open: quantiles(recoveries.map(({ loadedMs, openedMs }) => openedMs - loadedMs)),
      create: quantiles(recoveries.map(({ openedMs, createdMs }) => createdMs - openedMs)),
      resume: quantiles(recoveries.map(({ createdMs, ms }) => ms - createdMs)),
      processor: quantiles(recoveries.map(({ cpuMs }) => cpuMs)),
    },
    leaseMs: options.leaseMs ?? 'default',
    violations: done.flatMap(({ index, trial: { deaths, violations } }) =>
      violations.map((message) => ({ trial: index, deaths, message })),
    ),
  }
}

function trialOf(
  { program, seed, leaseMs }: CampaignOptions,
  index: number,
  { lane = {}, ...hooks }: Pick<TrialOptions, 'death' | 'onLife'> & { readonly lane?: Lane },
): Promise<Trial> {
  return runTrial({
    program,
    name: `s${seed}-t${index}`,
    runs: runsPerTrial,
    seed: seed + index,
    expected,
    ...(leaseMs !== undefined && { leaseMs }),
    ...lane,
    ...hooks,
  })
}

/** Runs some undisturbed lives, one after the other on each lane, and measures the shortest. */
async function liveInCalm(options: CampaignOptions): Promise<{ lives: readonly Life[]; ms: number }> {
  const lives: Life[] = []
  let ms = Number.POSITIVE_INFINITY
  let next = 0
  const work = async (lane: Lane) => {
    while (next < calmLives) {
      // Indexes that no trial has.
      const index = -next++
      const began = performance.now()
      const { violations } = await trialOf(options, index, { lane, onLife: (life) => lives.push(life) })
      ms = Math.min(ms, performance.now() - began)
      if (violations.length > 0) throw new Error(`Even without a death: ${violations.join('\n')}`)
    }
  }
  await Promise.all(options.lanes.map(work))
  return { lives, ms }
}

function fullSweep({ first, recovery }: Pick<CampaignResult, 'first' | 'recovery'>): number {
  return Math.ceil(
    Math.max(first.known / (1 - shares.recovery - shares.timed), recovery.known / shares.recovery),
  )
}

function quantiles(values: readonly number[]): Quantiles {
  const sorted = [...values].sort((one, other) => one - other)
  const at = (part: number) =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0)
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), most: at(1) }
}
