/** Executes one run until it ends or waits for a person, shows it, and reports its result. Shared by `run`, `reply`, `resume` and `cancel`. */
import { providersFromKeys } from '../../adapters/models/index.ts'
import { type App, createApp, fallbackModel, type PlannerChoice, type RunResult } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { pick } from '../../base/json.ts'
import { failureHint } from '../../domain/attempt/failure-code.ts'
import type { DiagnosticBundle } from '../../domain/diagnostic.ts'
import { toFrame, withProvenance } from '../../domain/event/frame.ts'
import type { Failure, JournalEvent } from '../../domain/event.ts'
import { isKeyLike, type Redactor, secretsIn } from '../../domain/redaction/redact.ts'
import type { RunState } from '../../domain/run.ts'
import { readEnv } from '../../env.ts'
import { env } from '../env.ts'
import { exitCode, type Outcome } from '../exit-codes.ts'
import { printMcpProblem } from '../input/mcp-servers.ts'
import type { Work, WorkFlags } from '../input/read-work.ts'
import { onInterrupt } from '../interrupt.ts'
import { createProgress, type Progress } from '../live/progress.ts'
import { createScreen, type Screen } from '../live/screen.ts'
import { missingError } from '../missing-capabilities.ts'
import { count, oneLine, spell } from '../one-line.ts'
import type { ModelChoice } from '../options/model-option.ts'
import type { Shown } from '../options/progress-option.ts'
import type { StoreChoice } from '../options/store-option.ts'
import { colors, printIssues, printJson, printNote, printProblem } from '../print.ts'
import { type Again, againFlags, describeAnswer, describeAsk } from '../render/describe-ask.ts'
import { describeDiagnostics } from '../render/describe-proof.ts'
import { describeDoubts } from '../render/describe-run.ts'
import { chooseServedPlanner } from '../serve/choose-models.ts'
import { commandLine } from '../shell.ts'
import { isInteractive } from '../terminal.ts'
import { answerAsks } from './answer-asks.ts'

interface Session {
  readonly store: StoreChoice
  readonly work: Pick<
    Work,
    'capabilities' | 'facets' | 'stages' | 'ledger' | 'storeRaw' | 'verbose' | 'planner' | 'mcp'
  >
  /** Source of the work, for suggested commands. */
  readonly flags: WorkFlags
  readonly shown: Shown
  /** Which models are called. Default: those of the environment. */
  readonly models?: ModelChoice
  /** Name recorded when Ctrl-C cancels the run, and when an ask is answered at the terminal. */
  readonly by: string
  /** The status for exit code 0. Default `completed`. */
  readonly wanted?: RunResult['status']
}

/** A run, and its last event that is already known. */
export interface Begun {
  readonly runId: string
  readonly after: number
}

/** Executes the run that `begin` starts or wakes; returns the exit code. */
export async function executeRun(session: Session, begin: (app: App) => Promise<Begun>): Promise<number> {
  const { store, work, shown } = session
  const crash = createCrash()
  const app = await createApp({
    store: store.spec,
    capabilities: work.capabilities,
    facets: work.facets,
    ...(work.stages && { stages: work.stages }),
    ...(work.mcp && { mcp: work.mcp, onMcpLog: printMcpProblem }),
    ...(work.ledger && { ledger: true }),
    ...pick(work, ['storeRaw']),
    ...(session.models?.providers && { providers: session.models.providers }),
    ...(work.planner && { planner: choosePlanner(work.planner, session.models) }),
    // Claims only its own run: other runs of the store may need capabilities that are not loaded here.
    claim: 'own',
    onCrash: crash.report,
    onMissing: (runId, ids) => crash.report(runId, missingError(ids, 'The run was released')),
  })
  try {
    const begun = await begin(app)
    await reportPlacement(app, begun.runId, store)
    const ctrlC = cancelOnInterrupt(app, begun.runId, session.by)
    const { result, state } = await Promise.race([converse(app, begun, session), crash.of(begun.runId)])
    ctrlC.takeBack()
    const again: Again = { store: store.flags, ...session.flags, models: session.models?.flags ?? [] }
    return reportRun({
      result,
      state,
      again,
      forgets: store.forgets,
      wanted: session.wanted ?? 'completed',
      interrupted: ctrlC.pressed(),
      ...shown,
    })
  } finally {
    await app.close()
    session.models?.finish()
  }
}

/** Commands have no labels: a run with a placement is left to the processes that have them. */
async function reportPlacement(app: App, runId: string, { spec }: StoreChoice): Promise<void> {
  const placement = (await app.store.head(runId))?.placement
  if (placement === undefined) return
  const worker = commandLine([...env.program, 'worker', '--labels', placement])
  if (!/^postgres(ql)?:/.test(spec))
    throw new ProvisoError('option/invalid', `Cannot execute the run here: its placement is ${placement}`, {
      hint: `Remove \`constraints.placement\`, or pass --store postgres://… and start \`${worker}\` on it`,
    })
  printNote(`The run is left to a process with the labels ${placement} (\`${worker}\`); waiting for it.`)
}

/** Chooses the planner as `serve` does; prints a note only if it is not the search. */
function choosePlanner(settings: NonNullable<Work['planner']>, models?: ModelChoice): PlannerChoice {
  if (models?.isRehearsal) return { mode: 'search' }
  const config = readEnv()
  const defaultModel = config.defaultModel ?? fallbackModel
  const providers = models?.providers ?? providersFromKeys(config)
  const { planner, note } = chooseServedPlanner(settings, { providers, defaultModel })
  if (settings.mode !== 'search') printNote(note)
  return planner
}

/** Shows the run; where a person sits at the terminal, asks are answered there and the run continues. */
async function converse(app: App, begun: Begun, session: Session): Promise<Ended> {
  let ended = await show(app, begun, session)
  const { json, quiet } = session.shown
  while (isInteractive && !json && !quiet) {
    const { openAsks } = ended.result
    const asks = openAsks.flatMap((requestId) => ended.state.asks.get(requestId) ?? [])
    const after = ended.seq
    if (asks.length === 0 || !(await answerAsks({ app, runId: begun.runId, asks, by: session.by }))) break
    ended = await show(app, { ...begun, after }, session)
  }
  return ended
}

interface Ended {
  readonly result: RunResult
  readonly state: RunState
  /** The last event that was shown. */
  readonly seq: number
}

async function show(app: App, { runId, after }: Begun, { shown: how, work }: Session): Promise<Ended> {
  const progress = createProgress()
  const verbose = how.verbose || work.verbose === true
  const shown = how.json
    ? frameLines(progress, app.redactor)
    : createScreen(progress, { quiet: how.quiet, verbose })
  let seq = after
  const result = await follow(app, runId, (event) => {
    progress.take(event)
    seq = event.seq
    if (event.seq > after) shown.update(event)
  })
  shown.close()
  // A settled run has events, so the state is defined.
  return { result, state: progress.state as RunState, seq }
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
  let own: Redactor | undefined
  /** Also redacts the secrets of the inputs where the run repeats them in other texts; the answer is the caller's. */
  const redactorFor = ({ type }: JournalEvent) => {
    if (type === 'complete') return redactor
    own ??= progress.state && redactor.with(secretsIn(progress.state.envelope.inputs).filter(isKeyLike))
    return own ?? redactor
  }
  return {
    update: (event: JournalEvent) =>
      printJson(
        withProvenance(
          toFrame(event, progress.state?.correlationId ?? event.runId, redactorFor(event)),
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

interface Report {
  readonly result: RunResult
  readonly state: RunState
  readonly again: Again
  /** In-memory store: its data ends with this process. */
  readonly forgets: boolean
  /** The status that counts as success. */
  readonly wanted: RunResult['status']
  /** The user pressed Ctrl-C. */
  readonly interrupted: boolean
  /** The events are already printed: print only what needs a person. */
  readonly json: boolean
  /** Print only the result, errors and asks. */
  readonly quiet: boolean
}

const outcomes: Record<RunResult['status'], Outcome> = {
  completed: 'ok',
  failed: 'unmet',
  cancelled: 'unmet',
  waiting: 'waiting',
}

/** Prints the output of the run on stdout, or its failure on stderr, and returns the exit code. */
function reportRun(report: Report): number {
  const { result, state, json, interrupted, wanted } = report
  if (result.status === 'completed' && !json) printDone(result, state, report.quiet)
  const { warnings = [] } = state.plan?.diagnostics ?? {}
  if (!json && !report.quiet)
    for (const line of describeDiagnostics({ failures: [], warnings }, colors)) printNote(line)
  if (result.inDoubt && !json) printNote(`${colors.yellow('!')} in doubt: ${describeDoubts(result.inDoubt)}`)
  const error = state.finished?.error
  if (result.status === wanted && wanted !== 'completed') {
    if (!json && !report.quiet)
      printNote(`${colors.green('✓')} ${error?.message ?? result.status}: run ${result.runId}`)
    return exitCode('ok')
  }
  if (error && !json) printFailure(result.runId, error, report)
  if (result.status === 'waiting') printWaiting(report)
  if (interrupted && result.status === 'cancelled') return exitCode('interrupted')
  return exitCode(result.failure === 'budget/exhausted' ? 'budget' : outcomes[result.status])
}

function printDone(result: RunResult, state: RunState, quiet: boolean): void {
  const usage = count(state.budget.calls, 'call')
  if (!quiet)
    printNote(colors.dim(`completed: run ${result.runId}, plan version ${state.planVersion}, ${usage}`))
  if (result.degraded) printNote(`${colors.yellow('!')} ${describeDegraded(result.degraded, state)}`)
  printJson(result.output, 'indented')
}

function describeDegraded(nodes: readonly string[], { finished }: RunState): string {
  const names = nodes.map((node) => `"${node}"`).join(', ')
  const satisfaction = finished?.observedSatisfaction
  return `degraded: the text of ${names} replaces the answer; satisfaction ${satisfaction ?? 'unknown'}`
}

function printFailure(runId: string, error: Failure, { again, forgets }: Report): void {
  const diagnostics = error.details?.['diagnostics'] as unknown as DiagnosticBundle | undefined
  const { nodeId } = error.details ?? {}
  const node = typeof nodeId === 'string' ? oneLine(nodeId, 60) : undefined
  const message = node === undefined ? error.message : `node ${node} failed: ${error.message}`
  printProblem(
    diagnostics ? 'the plan was rejected: it is not shown that it can satisfy the contract' : message,
  )
  if (diagnostics) for (const line of describeDiagnostics(diagnostics, colors)) printNote(line)
  printIssues(error.issues ?? [], node === undefined ? 'the answer' : `the text of ${node}`, '')
  // Findings of a proof, and issues with a hint, already say how to fix them.
  const hasHint = diagnostics !== undefined || error.issues?.some(({ hint }) => hint !== undefined)
  const hint = hasHint ? undefined : failureHint(error.code)
  if (hint !== undefined) printNote(colors.dim(`  ${hint}`))
  const look = forgets ? '' : `, ${commandLine([...env.program, 'show', runId, ...again.store])}`
  printNote(colors.dim(`  ${error.code}: run ${runId}${look}`))
}

function printWaiting({ result, state, again, forgets }: Report): void {
  const { runId, openAsks } = result
  if (forgets)
    printNote(
      'The run waits for a person, but its store is this process and ends now: it cannot be answered. Run it with --store sqlite:PATH to keep it.',
    )
  for (const requestId of openAsks) {
    const ask = state.asks.get(requestId)
    if (!ask) continue
    const how = forgets ? [] : describeAnswer(ask, again, colors)
    for (const line of [...describeAsk(ask, colors), ...how]) printNote(line)
  }
  if (openAsks.length > 0) return
  const waited = spell(Date.now() - state.startedAt)
  printNote(
    `${colors.yellow('‖')} ${state.paused?.isQuarantine ? 'quarantined' : 'paused'} after ${waited}: ${state.paused?.reason ?? 'by a policy'}`,
  )
  if (forgets) return
  const version = ['--expected-plan-version', String(state.planVersion)]
  printNote(`    ${commandLine([...env.program, 'resume', runId, ...version, ...againFlags(again)])}`)
}
