/** Executes one run until it ends or waits for a person, and shows it. Shared by `run`, `reply`, `resume` and `cancel`. */
import { type App, createApp, fallbackModel, type PlannerChoice, type RunResult } from '../../app.ts'
import { pick } from '../../base/json.ts'
import { frameOf } from '../../domain/event/frame.ts'
import { withProvenance } from '../../domain/event/frame-provenance.ts'
import type { JournalEvent } from '../../domain/event.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import type { RunState } from '../../domain/run.ts'
import type { RunStatus } from '../../domain/status.ts'
import { readEnv } from '../../env.ts'
import type { Work, WorkFlags } from '../input/read-work.ts'
import { onInterrupt } from '../interrupt.ts'
import { createProgress, type Progress } from '../live/progress.ts'
import { createScreen, type Screen } from '../live/screen.ts'
import type { StoreChoice } from '../options/store-option.ts'
import { printJson, printNote } from '../print.ts'
import type { Again } from '../render/describe-ask.ts'
import { reportRun } from '../render/report-run.ts'
import { chooseServedPlanner } from '../serve/choose-planner.ts'
import { missingError } from './missing-capabilities.ts'

interface Session {
  readonly store: StoreChoice
  readonly work: Pick<
    Work,
    'capabilities' | 'facets' | 'stages' | 'ledger' | 'storeRaw' | 'verbose' | 'planner'
  >
  /** Source of the work, for suggested commands. */
  readonly flags: WorkFlags
  /** Print events as lines on stdout instead of a tree on stderr. */
  readonly json: boolean
  /** Name recorded when Ctrl-C cancels the run. */
  readonly by: string
  /** The status for exit code 0. Default `completed`. */
  readonly wanted?: RunStatus
}

/** A run, and its last event that is already known. */
export interface Begun {
  readonly runId: string
  readonly after: number
}

/** Executes the run that `begin` starts or wakes; returns the exit code. */
export async function executeRun(session: Session, begin: (app: App) => Promise<Begun>): Promise<number> {
  const { store, work, json } = session
  const crash = createCrash()
  const app = await createApp({
    store: store.spec,
    capabilities: work.capabilities,
    facets: work.facets,
    ...(work.stages && { stages: work.stages }),
    ...(work.ledger && { ledger: true }),
    ...pick(work, ['storeRaw']),
    ...(work.planner && { planner: plannerOf(work.planner) }),
    // Claims only its own run: other runs of the store may need capabilities that are not loaded here.
    claim: 'own',
    onCrash: crash.report,
    onMissing: (runId, ids) => crash.report(runId, missingError(ids, 'The run was released')),
  })
  try {
    const begun = await begin(app)
    const ctrlC = cancelOnInterrupt(app, begun.runId, session.by)
    const { result, state } = await Promise.race([show(app, begun, session), crash.of(begun.runId)])
    ctrlC.takeBack()
    const again: Again = { store: store.flags, ...session.flags }
    return reportRun({
      result,
      state,
      again,
      forgets: store.forgets,
      wanted: session.wanted ?? 'completed',
      interrupted: ctrlC.pressed(),
      quiet: json,
    })
  } finally {
    await app.close()
  }
}

/** Chooses the planner as `serve` does; prints a note only if it is not the search. */
function plannerOf(settings: NonNullable<Work['planner']>): PlannerChoice {
  const config = readEnv()
  const defaultModel = config.defaultModel ?? fallbackModel
  const { planner, note } = chooseServedPlanner(settings, { env: config, defaultModel })
  if (settings.mode !== 'search') printNote(note)
  return planner
}

async function show(
  app: App,
  { runId, after }: Begun,
  { json, work: { verbose = false } }: Pick<Session, 'json' | 'work'>,
): Promise<{ result: RunResult; state: RunState }> {
  const progress = createProgress()
  const shown = json ? frameLines(progress, app.redactor) : createScreen(progress, { verbose })
  const result = await follow(app, runId, (event) => {
    progress.take(event)
    if (event.seq > after) shown.update(event)
  })
  shown.close()
  // A settled run has events, so the state is defined.
  return { result, state: progress.state as RunState }
}

/** Passes every event of the run once and in order, until the run ends or waits. */
async function follow(app: App, runId: string, take: (event: JournalEvent) => void): Promise<RunResult> {
  const stop = new AbortController()
  const settled = app.result(runId).finally(() => stop.abort())
  // Awaited below; until then a rejection must not crash the process.
  settled.catch(() => {})
  let seen = 0
  const see = (event: JournalEvent) => {
    seen = event.seq
    take(event)
  }
  for await (const event of app.watch(runId, { signal: stop.signal })) see(event)
  const result = await settled
  // Reads the events written between the last read and the end.
  for (
    let page = await app.store.read(runId, seen);
    page.length > 0;
    page = await app.store.read(runId, seen)
  )
    for (const event of page) see(event)
  return result
}

function frameLines(progress: Progress, redactor: Redactor): Screen {
  return {
    update: (event: JournalEvent) =>
      printJson(
        withProvenance(
          frameOf(event, progress.state?.correlationId ?? event.runId, redactor),
          progress.state?.plan,
        ),
        'line',
      ),
    close() {},
  }
}

function cancelOnInterrupt(app: App, runId: string, by: string) {
  let pressed = false
  const takeBack = onInterrupt(() => {
    pressed = true
    printNote('Cancelling the run. Press Ctrl-C again to exit at once.')
    app.cancel(runId, { by, reason: 'Ctrl-C' }).catch((error: Error) => printNote(error.message))
  })
  return { takeBack, pressed: () => pressed }
}

/** Ends the command if the run cannot continue here; otherwise it would wait forever. */
function createCrash() {
  const crashes = new Map<string, unknown>()
  let notify = (_runId: string, _cause: unknown) => {}
  return {
    report(runId: string, cause: unknown) {
      if (runId === '') printNote(`The store does not respond (${String(cause)}); retrying.`)
      crashes.set(runId, cause)
      notify(runId, cause)
    },
    of(runId: string): Promise<never> {
      return new Promise((_resolve, reject) => {
        if (crashes.has(runId)) reject(crashes.get(runId))
        notify = (crashed, cause) => {
          if (crashed === runId) reject(cause)
        }
      })
    },
  }
}
