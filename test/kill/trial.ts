/** One trial: some runs, a process that dies at given places, another that goes on, until all runs are over; then the check. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/adapters/stores/sqlite.ts'
import type { Json } from '../../src/base/json.ts'
import type { Store } from '../../src/domain/ports/store.ts'
import { checkRuns, type Verdict } from './check.ts'
import { type Acknowledged, type Effect, readLog } from './effects.ts'
import { type Life, type LifeOptions, live } from './life.ts'
import type { ChildReport, ChildTask } from './messages.ts'

/** How a process of the trial dies: at a place of its own, or from outside after a time. */
export type Death = { readonly place: number } | { readonly afterMs: number }

export interface TrialOptions {
  readonly program: string
  /** Names the trial; run ids begin with it. */
  readonly name: string
  readonly runs: number
  /** One process per death, and one that lives. */
  readonly deaths: readonly Death[]
  readonly seed: number
  readonly expected: Json
  readonly leaseMs?: number
  /** Where runs live; absent means a SQLite file of its own. */
  readonly postgres?: { readonly url: string; readonly store: Store }
  readonly onReport?: (report: ChildReport) => void
  readonly progress?: boolean
}

/** Milliseconds to the first attempt in the journal: from the birth of the process, and without the loading of its code. */
export interface Recovery {
  readonly ms: number
  readonly afterLoadMs: number
}

export interface Trial extends Verdict {
  readonly kills: number
  /** Places that the last process passed, if it had all the work. */
  readonly boundaries: number
  readonly places: { readonly [place: string]: number }
  /** Of each process after a death that came to start an attempt. */
  readonly recoveries: readonly Recovery[]
}

/** The answer of a run that nothing happened to. */
export const expected: Json = { text: 'the four parts, seen; plain; receipt' }

/** A process that takes longer for these few runs has lost its way. */
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
      return { ...judge(lives), ...verdict }
    } finally {
      if (!options.postgres) await store.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function liveOn(task: ChildTask, options: TrialOptions): Promise<Life[]> {
  const lives: Life[] = []
  for (const death of [...options.deaths, undefined]) {
    const life: LifeOptions = {
      program: options.program,
      task: { ...task, ...(death && 'place' in death && { killAt: death.place }) },
      ...(death && 'afterMs' in death && { killAfterMs: death.afterMs }),
      limitMs,
      ...(options.onReport && { onReport: options.onReport }),
    }
    const lived = await live(life)
    lives.push(lived)
    if (lived.end !== 'killed') break
  }
  return lives
}

function judge(lives: readonly Life[]): Pick<Trial, 'kills' | 'boundaries' | 'places' | 'recoveries'> {
  const done = lives.at(-1)?.reports.find((report) => report.kind === 'done')
  return {
    kills: lives.filter(({ end }) => end === 'killed').length,
    boundaries: done?.boundaries ?? 0,
    places: done?.places ?? {},
    recoveries: lives
      .slice(1)
      .flatMap(({ reports }) =>
        reports.flatMap((report) =>
          report.kind === 'resumed' ? [{ ms: report.ms, afterLoadMs: report.ms - report.loadedMs }] : [],
        ),
      ),
  }
}

function failure(lives: readonly Life[]): Verdict {
  const violations = lives.map(({ end, errors, reports }) => {
    const crashes = reports.flatMap((report) => (report.kind === 'crash' ? [report.message] : []))
    return `a process ${end === 'stuck' ? `was stuck for ${limitMs} ms` : 'failed'}: ${[...crashes, errors].join('\n')}`
  })
  return { violations, lost: 1, duplicated: 0, reexecuted: 0 }
}
