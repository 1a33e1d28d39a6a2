/** Runs one trial: some runs, a process that dies at given crash points, another that continues, until all runs end; then checks. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import type { Json, Store } from '../../src/index.ts'
import { checkRuns, type Verdict } from './check.ts'
import { type Acknowledged, type Effect, readLog } from './effects.ts'
import { type Life, live } from './life.ts'
import type { ChildReport, ChildTask, Resumption } from './messages.ts'

/** How a process of the trial dies: at the first of these crash points, or from outside after a time. */
export type Death = { readonly points: readonly string[] } | { readonly afterMs: number }

export interface TrialOptions {
  readonly program: string
  /** Name of the trial, and prefix of its run ids. */
  readonly name: string
  readonly runs: number
  /** Returns how the next process dies; called for each until one lives. Absent: the first one lives. */
  readonly death?: () => Death | undefined
  readonly onLife?: (life: Life) => void
  readonly seed: number
  readonly expected: Json
  readonly leaseMs?: number
  /** The PostgreSQL store; absent: a SQLite file for this trial. */
  readonly postgres?: { readonly url: string; readonly store: Store }
  readonly onReport?: (report: ChildReport) => void
  readonly progress?: boolean
}

export interface Trial extends Verdict {
  readonly kills: number
  /** Each death as a crash point or a time, in the form that `--deaths` takes. */
  readonly deaths: readonly string[]
  /** One for each process after a death that started an attempt. */
  readonly recoveries: readonly Resumption[]
}

/** The output of an undisturbed run. */
export const expected: Json = { text: 'the four parts, seen; plain; receipt' }

interface Lived extends Life {
  readonly death?: Death
}

/** A process that takes longer for these few runs is stuck. */
const limitMs = 120_000

export async function runTrial(options: TrialOptions): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-kill-'))
  try {
    const path = join(folder, 'runs.sqlite')
    const task: ChildTask = {
      store: options.postgres?.url ?? path,
      runIds: Array.from({ length: options.runs }, (_, index) => `${options.name}-${index + 1}`),
      effects: join(folder, 'effects'),
      acknowledged: join(folder, 'acknowledged'),
      seed: options.seed,
      ...(options.leaseMs !== undefined && { leaseMs: options.leaseMs }),
      ...(options.progress && { progress: true }),
    }
    const lives = await liveOn(task, options)
    const stopped = lives.filter(({ end }) => end === 'failed' || end === 'stuck')
    if (stopped.length > 0) return { ...judge(lives), ...failure(stopped) }
    const store = options.postgres?.store ?? (await openSqliteStore({ path, readOnly: true }))
    try {
      const outside = {
        effects: readLog<Effect>(task.effects),
        acknowledged: readLog<Acknowledged>(task.acknowledged),
      }
      const verdict = await checkRuns(store, task.runIds, { outside, expected: options.expected })
      const violations = [...survivors(lives), ...verdict.violations]
      return { ...judge(lives), ...verdict, violations }
    } finally {
      if (!options.postgres) await store.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function liveOn(task: ChildTask, options: TrialOptions): Promise<Lived[]> {
  const lives: Lived[] = []
  do {
    const death = options.death?.()
    const life = await live({
      program: options.program,
      task: { ...task, ...(death && 'points' in death && { killAt: death.points }) },
      ...(death && 'afterMs' in death && { killAfterMs: death.afterMs }),
      limitMs,
      ...(options.onReport && { onReport: options.onReport }),
    })
    options.onLife?.(life)
    lives.push({ ...life, ...(death && { death }) })
  } while (lives.at(-1)?.end === 'killed')
  return lives
}

function judge(lives: readonly Lived[]): Pick<Trial, 'kills' | 'deaths' | 'recoveries'> {
  const killed = lives.filter(({ end }) => end === 'killed')
  return {
    kills: killed.length,
    deaths: killed.map(
      ({ diedAt, death }) => diedAt ?? (death && 'afterMs' in death ? `${death.afterMs}ms` : '?'),
    ),
    recoveries: lives
      .slice(1)
      .flatMap(({ reports }) => reports.flatMap((report) => (report.kind === 'resumed' ? [report] : []))),
  }
}

/** Reports processes that passed their crash point without dying: they tested nothing. */
function survivors(lives: readonly Lived[]): string[] {
  return lives.flatMap(({ death, reports }) => {
    const targets = death && 'points' in death ? death.points : []
    const passed = reports.flatMap((report) => (report.kind === 'done' ? report.passed : []))
    return targets
      .filter((point) => passed.includes(point))
      .map((point) => `a process was to die at ${point}, and went past it`)
  })
}

function failure(lives: readonly Life[]): Verdict {
  const violations = lives.map(({ end, errors, reports }) => {
    const crashes = reports.flatMap((report) => (report.kind === 'crash' ? [report.message] : []))
    return `a process ${end === 'stuck' ? `was stuck for ${limitMs} ms` : 'failed'}: ${[...crashes, errors].join('\n')}`
  })
  return { violations, lost: 1, duplicated: 0, reexecuted: 0 }
}
