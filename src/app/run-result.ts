/** The result of a run that is over or waits for a person, as `run` and `result` return it. */

import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { Ask, RejectAction, Reply } from '../domain/ask.ts'
import type { FailureCode } from '../domain/attempt/failure-code.ts'
import type { Cause, Diagnostic } from '../domain/diagnostic.ts'
import type { ErrorEnvelope } from '../domain/errors/error-envelope.ts'
import { failureError } from '../domain/errors/failure-error.ts'
import type { CallInDoubt, Failure, Provenance } from '../domain/event.ts'
import type { GrantScope } from '../domain/loop-facts.ts'
import type { AttemptIssueCode } from '../domain/output.ts'
import { isWaiting } from '../domain/status.ts'
import type { Engine } from '../engine/engine.ts'
import type { TaskChange } from '../engine/input/change-task.ts'
import type { Settled } from '../engine/journal/journal.ts'
import type { DiagnosticCode } from '../plan/index.ts'

/**
 * Code of an issue of a run: of the failed attempt, of the failure itself, or of the diagnostics of its plan. Open, because
 * capabilities report codes of their own.
 */
export type RunIssueCode = AttemptIssueCode | FailureCode | DiagnosticCode | `plan/${Cause}`

interface ResultFields {
  readonly runId: string
  /** Why there is no output; empty for a run that has one. */
  readonly issues: readonly Issue<RunIssueCode>[]
  readonly provenance: readonly Provenance[]
  /** Nodes whose text replaces a structured answer (`degrade_to_string`); absent if there are none. */
  readonly degraded?: readonly string[]
  /** Calls of earlier plans that may have had side effects and were not repeated; absent if there are none. */
  readonly inDoubt?: readonly CallInDoubt[]
  /** Warnings of the plan's proof, such as a label in `hitlRequiredFor` that no node has; absent if there are none. */
  readonly warnings?: readonly Issue<RunIssueCode>[]
  /** Ids of the open asks. */
  readonly openAsks: readonly string[]
}

/** Who decides, and why. */
export interface DecisionInput {
  /** Name of the person who decides; it is recorded. */
  readonly by: string
  readonly note?: string
}

/** An open ask, with the ways to answer it. Each replies to exactly the value that the ask shows. */
export interface OpenAsk extends Ask {
  /** Accepts the value as it is shown. `grant` remembers it for later calls of a tool, where the ask lists `grants`. */
  approve(given: DecisionInput & { readonly grant?: GrantScope }): Promise<void>
  /** Refuses the value. `rejectAction` says what follows, where the ask lists `rejectActions`. */
  reject(given: DecisionInput & { readonly rejectAction?: RejectAction }): Promise<void>
  /** Replaces the value that is shown; the new one must satisfy the ask's `schema`. */
  edit(given: DecisionInput & { readonly value: Json; readonly grant?: GrantScope }): Promise<void>
  /** Answers a question, or delivers the result of a task; it must satisfy the ask's `schema`. */
  answer(given: DecisionInput & { readonly value: Json }): Promise<void>
  /** Holds a task, so that no one else does it. */
  claim(given: DecisionInput): Promise<void>
  /** Gives a claimed task back. */
  release(given: DecisionInput): Promise<void>
  /** Passes a task to the next person. Declined by the last one, it counts as rejected. */
  decline(given: DecisionInput): Promise<void>
}

/** The answer satisfies its contract. */
export interface CompletedRun<Output = Json> extends ResultFields {
  readonly status: 'completed'
  readonly output: Output
  readonly failure?: never
  readonly error?: never
  readonly asks?: never
}

/** There is no answer that satisfies the contract; `issues` and `error` say why. */
export interface FailedRun extends ResultFields {
  readonly status: 'failed'
  readonly output?: never
  /** Failure code, such as `plan/rejected`. */
  readonly failure: FailureCode
  /** The failure in the error format of the API. */
  readonly error: ErrorEnvelope
  readonly asks?: never
}

/** The run was cancelled. */
export interface CancelledRun extends ResultFields {
  readonly status: 'cancelled'
  readonly output?: never
  readonly failure?: FailureCode
  readonly error?: ErrorEnvelope
  readonly asks?: never
}

/** The run needs a person: to answer `asks`, or, where it is `paused`, to resume or cancel it. */
export interface WaitingRun extends ResultFields {
  readonly status: 'waiting'
  readonly output?: never
  readonly failure?: never
  readonly error?: never
  /** The open asks, with the ways to answer them. */
  readonly asks: readonly OpenAsk[]
  /** Why the run continues only when it is resumed (`app.resume`); absent if its asks are all that it waits for. */
  readonly paused?: {
    readonly reason: string
    /** Two processes lost their lease during one attempt, not a policy paused the run. */
    readonly quarantined: boolean
    readonly hint: string
  }
}

/** The result of a run that is over or needs a person to continue: a union on `status`. */
export type RunResult<Output = Json> = CompletedRun<Output> | FailedRun | CancelledRun | WaitingRun

/** Waits until the run is over or needs a person. */
export async function runResult(
  engine: Pick<Engine, 'settled' | 'reply' | 'changeTask'>,
  runId: string,
  signal?: AbortSignal,
): Promise<RunResult> {
  const settled = await engine.settled(runId, signal)
  const { status, finished, openAsks, asks, warnings } = settled
  const error = finished?.error
  const common = {
    runId,
    issues: error ? listIssues(error) : [],
    provenance: finished?.provenance ?? [],
    ...(finished?.degraded && { degraded: finished.degraded }),
    ...(finished?.inDoubt && { inDoubt: finished.inDoubt }),
    ...(warnings.length > 0 && { warnings: warnings.map(toIssue) }),
    openAsks,
  }
  const failure = error && { failure: error.code, error: failureError(error) }
  if (isWaiting(status)) {
    const open = asks.map((ask) => toOpenAsk(engine, runId, ask))
    return { ...common, status: 'waiting', asks: open, ...describePause(settled) }
  }
  if (status === 'cancelled') return { ...common, status, ...failure }
  // The last event of a run has an output or an error, by its status.
  if (status === 'completed') return { ...common, status, output: finished?.output as Json }
  return { ...common, status: 'failed', ...failure } as FailedRun
}

/** Why a run that waits for more than its asks is paused, and how it continues. */
function describePause({ status, paused }: Settled): Pick<WaitingRun, 'paused'> {
  if (status === 'awaiting_hitl' || paused === undefined) return {}
  const quarantined = paused.isQuarantine === true
  const cause = quarantined
    ? 'Find out what kept the processes busy during this call: a resumed run makes it again. '
    : ''
  const hint = `${cause}Resume the run with \`app.resume\`, or end it with \`app.cancel\``
  return { paused: { reason: paused.reason, quarantined, hint } }
}

/** The issues of a failure; one without any of its own becomes one, with its hint. */
function listIssues(error: Failure): readonly Issue<RunIssueCode>[] {
  if (error.issues) return error.issues
  const hint = failureError(error).details?.['hint']
  const { code, message } = error
  return [{ code, at: { pointer: '' }, message, ...(typeof hint === 'string' && { hint }) }]
}

function toIssue({ constraint, cause, suggestion, nodeId, details }: Diagnostic): Issue<RunIssueCode> {
  return {
    code: String(details?.['code'] ?? `plan/${cause}`),
    at: { pointer: nodeId === undefined ? '' : `/nodes/${nodeId}` },
    message: `It does not hold that ${constraint ?? cause}`,
    ...(suggestion !== undefined && { hint: suggestion }),
  }
}

/** Adds the ways to answer an ask. */
export function toOpenAsk(engine: Pick<Engine, 'reply' | 'changeTask'>, runId: string, ask: Ask): OpenAsk {
  const { requestId, valueHash } = ask
  const reply = (decision: Reply['decision'], given: Omit<Reply, 'requestId' | 'valueHash' | 'decision'>) =>
    engine.reply(runId, { ...given, requestId, valueHash, decision })
  const change = (what: TaskChange['change'], given: DecisionInput) =>
    engine.changeTask(runId, { ...given, requestId, change: what })
  return {
    ...ask,
    approve: (given) => reply('approve', given),
    reject: (given) => reply('reject', given),
    edit: (given) => reply('edit', given),
    answer: (given) => reply('answer', given),
    claim: (given) => change('claim', given),
    release: (given) => change('release', given),
    decline: (given) => change('decline', given),
  }
}
