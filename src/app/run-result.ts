/** The result of a run that is over or waits for a person, as `run` and `result` return it. */

import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { Ask } from '../domain/ask.ts'
import type { FailureCode } from '../domain/attempt/failure-code.ts'
import type { Cause, Diagnostic } from '../domain/diagnostic.ts'
import type { ErrorEnvelope } from '../domain/errors/error-envelope.ts'
import { failureError } from '../domain/errors/failure-error.ts'
import type { CallInDoubt, Failure, Provenance } from '../domain/event.ts'
import type { AttemptIssueCode } from '../domain/output.ts'
import { isWaiting, type WaitingStatus } from '../domain/status.ts'
import type { Engine } from '../engine/engine.ts'
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

/**
 * The run needs a person: `awaiting_hitl` to answer `asks`, `awaiting_human` to resume it, `quarantined` an operator to
 * resume or cancel it.
 */
export interface WaitingRun extends ResultFields {
  readonly status: WaitingStatus
  readonly output?: never
  readonly failure?: never
  readonly error?: never
  /** The open asks. */
  readonly asks: readonly Ask[]
}

/** The result of a run that is over or needs a person to continue: a union on `status`. */
export type RunResult<Output = Json> = CompletedRun<Output> | FailedRun | CancelledRun | WaitingRun

/** Waits until the run is over or needs a person. */
export async function runResult(
  engine: Pick<Engine, 'settled'>,
  runId: string,
  signal?: AbortSignal,
): Promise<RunResult> {
  const { status, finished, openAsks, asks, warnings } = await engine.settled(runId, signal)
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
  if (isWaiting(status)) return { ...common, status, asks }
  if (status === 'cancelled') return { ...common, status, ...failure }
  // The last event of a run has an output or an error, by its status.
  if (status === 'completed') return { ...common, status, output: finished?.output as Json }
  return { ...common, status: 'failed', ...failure } as FailedRun
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
