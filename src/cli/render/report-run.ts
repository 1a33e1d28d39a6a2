/** Ends a command that executed a run: prints the output on stdout, or the failure on stderr, and returns the exit code. */
import type { RunResult } from '../../app.ts'
import { failureHint } from '../../domain/attempt/failure-code.ts'
import type { DiagnosticBundle } from '../../domain/diagnostic.ts'
import type { Failure } from '../../domain/event.ts'
import type { RunState } from '../../domain/run.ts'
import type { RunStatus } from '../../domain/status.ts'
import { env } from '../env.ts'
import { exitCode, type Outcome } from '../exit-codes.ts'
import { count, spell } from '../one-line.ts'
import { colors, printIssues, printJson, printNote, printProblem } from '../print.ts'
import { commandLine } from '../shell.ts'
import { type Again, againFlags, describeAnswer, describeAsk } from './describe-ask.ts'
import { describeFindings } from './describe-plan-findings.ts'
import { describeDoubts } from './describe-run.ts'

interface Report {
  readonly result: RunResult
  readonly state: RunState
  readonly again: Again
  /** In-memory store: its data ends with this process. */
  readonly forgets: boolean
  /** The status that counts as success. */
  readonly wanted: RunStatus
  /** The user pressed Ctrl-C. */
  readonly interrupted: boolean
  /** The events are already printed: print only what needs a person. */
  readonly quiet: boolean
}

const outcomes: Record<RunStatus, Outcome> = {
  completed: 'ok',
  failed: 'unmet',
  cancelled: 'unmet',
  awaiting_hitl: 'waiting',
  awaiting_human: 'waiting',
  pending: 'internal',
  running: 'internal',
}

export function reportRun(report: Report): number {
  const { result, state, quiet, interrupted, wanted } = report
  if (result.status === 'completed' && !quiet) printDone(result, state)
  const { warnings = [] } = state.plan?.diagnostics ?? {}
  if (!quiet) for (const line of describeFindings({ failures: [], warnings }, colors)) printNote(line)
  if (result.inDoubt && !quiet) printNote(`${colors.yellow('!')} in doubt: ${describeDoubts(result.inDoubt)}`)
  const error = state.finished?.error
  if (result.status === wanted && wanted !== 'completed') {
    if (!quiet) printNote(`${colors.green('✓')} ${error?.message ?? result.status}: run ${result.runId}`)
    return exitCode('ok')
  }
  if (error && !quiet) printFailure(result.runId, error, report)
  if (outcomes[result.status] === 'waiting') printWaiting(report)
  if (interrupted && result.status === 'cancelled') return exitCode('interrupted')
  return exitCode(result.failure === 'budget/exhausted' ? 'budget' : outcomes[result.status])
}

function printDone(result: RunResult, state: RunState): void {
  const usage = count(state.budget.calls, 'call')
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
  printProblem(
    diagnostics ? 'the plan was rejected: it is not shown that it can satisfy the contract' : error.message,
  )
  if (diagnostics) for (const line of describeFindings(diagnostics, colors)) printNote(line)
  printIssues(error.issues ?? [], 'the answer', '')
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
  printNote(`${colors.yellow('‖')} paused after ${waited}: ${state.paused?.reason ?? 'by a policy'}`)
  if (forgets) return
  const version = ['--expected-plan-version', String(state.planVersion)]
  printNote(`    ${commandLine([...env.program, 'resume', runId, ...version, ...againFlags(again)])}`)
}
