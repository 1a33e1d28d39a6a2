/**
 * The process that is killed. It opens the store, starts the missing runs, continues the existing ones, answers asks, and
 * exits when all runs have ended. It reports to the parent line by line.
 */
import { writeSync } from 'node:fs'
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import { createApp, ProvisoError, type Store } from '../../src/index.ts'
import type { NewEvent } from '../seams/domain.ts'
import { openLibsql } from '../seams/stores.ts'
import {
  type Boundaries,
  createBoundaries,
  dieAtOnce,
  sqliteWithBoundaries,
  withBoundaries,
} from './boundaries.ts'
import { type Acknowledged, type Effect, openLog } from './effects.ts'
import type { ChildReport, ChildTask } from './messages.ts'
import { answerAsks } from './operator.ts'
import { capabilities, draft, envelope, model } from './workload.ts'

const task = JSON.parse(process.argv[2] ?? '{}') as ChildTask
const effects = openLog<Effect>(task.effects, { sync: true })
const acknowledged = openLog<Acknowledged>(task.acknowledged, { sync: false })
const boundaries = createBoundaries(task.killAt ?? [], (point) => {
  say({ kind: 'dying', point })
  dieAtOnce()
})

/** Writes synchronously, so that a report survives a kill right after it. */
function say(report: ChildReport): void {
  writeSync(1, `${JSON.stringify(report)}\n`)
}

const mark = (call: Effect) => {
  boundaries.pass(`call:before ${call.nodeId}`)
  effects.write(call)
  boundaries.pass(`call:after ${call.nodeId}`)
}

const loadedMs = performance.now()
const inner = await openStore(task, boundaries)
const openedMs = performance.now()
let createdMs: number | undefined
const steps = watchSteps()
const store = watchResumption(
  withBoundaries(inner, boundaries, { acknowledged: (line) => acknowledged.write(line) }),
)
const app = await createApp({
  store,
  capabilities: capabilities(mark),
  providers: [model(mark)],
  pollMs: 200,
  ...(task.leaseMs !== undefined && { leaseMs: task.leaseMs }),
  onCrash: (runId, cause) => say({ kind: 'crash', runId, message: String(cause) }),
})
createdMs = performance.now()
const stopAnswering = answerAsks(app, task)
await Promise.all(
  task.runIds.map(async (runId) => {
    let after = 0
    await untilAnswered(async () => {
      if ((await store.head(runId)) === undefined) await app.start(envelope, { runId, draft })
      for await (const event of app.watch(runId, { after })) {
        after = event.seq
        if (task.progress) say({ kind: 'progress', runId, seq: event.seq })
      }
    })
    steps.gone(runId)
  }),
)
stopAnswering()
say({ kind: 'done', passed: boundaries.passed, recovered: steps.recovered })
await app.close()
await inner.close()

/** Tries again while the store does not answer in time, as the error says. */
async function untilAnswered(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch (cause) {
      if (!ProvisoError.is(cause) || cause.code !== 'store/unavailable') throw cause
    }
  }
}

function openStore({ store: address }: ChildTask, counted: Boundaries): Promise<Store> {
  return address.startsWith('postgres:')
    ? openPostgresStore({ url: address })
    : openSqliteStore({ path: address, open: sqliteWithBoundaries(openLibsql, counted) })
}

/** Counts the crash points until every run has made progress in this process, or had ended. */
function watchSteps() {
  const still = new Set(task.runIds)
  let recovered = 0
  return {
    gone(runId: string): void {
      if (still.delete(runId) && still.size === 0) recovered = boundaries.passed.length
    },
    get recovered() {
      return recovered
    },
  }
}

/** An attempt with a known end was made by this process; attempts of dead processes end as unknown. */
function endsAttempt(event: NewEvent): boolean {
  return event.type === 'attempt_end' && event.payload.outcome !== 'outcome_unknown'
}

/** Reports when the first attempt is in the journal, measured from the start of this process. */
function watchResumption(store: Store): Store {
  let isReported = false
  return {
    ...store,
    async append(append) {
      const result = await store.append(append)
      if (result.kind === 'appended' && append.events.some(endsAttempt)) steps.gone(append.runId)
      if (
        !isReported &&
        result.kind === 'appended' &&
        append.events.some(({ type }) => type === 'attempt_start')
      ) {
        isReported = true
        const ms = performance.now()
        const { user, system } = process.cpuUsage()
        const cpuMs = (user + system) / 1_000
        say({ kind: 'resumed', ms, loadedMs, openedMs, createdMs: createdMs ?? ms, cpuMs })
      }
      return result
    },
  }
}
