/** The result of a run that is over or waits for a person, as `run` and `result` return it. */

import type { Issue } from '../base/errors/issue.ts'
import type { Json } from '../base/json.ts'
import type { FailureCode } from '../domain/attempt/failure-code.ts'
import type { Cause, Diagnostic } from '../domain/diagnostic.ts'
import type { ErrorEnvelope } from '../domain/errors/error-envelope.ts'
import { failureError } from '../domain/errors/failure-error.ts'
import type { CallInDoubt, Provenance } from '../domain/event.ts'
import type { AttemptIssueCode } from '../domain/output.ts'
import type { RunStatus } from '../domain/status.ts'
import type { Engine } from '../engine/engine.ts'
import type { DiagnosticCode } from '../plan/index.ts'

/**
 * Code of an issue of a run: of the failed attempt, of the failure itself, or of the diagnostics of its plan. Open, because
 * capabilities report codes of their own.
 */
export type RunIssueCode = AttemptIssueCode | FailureCode | DiagnosticCode | `plan/${Cause}`

/** The status of a run that is over or needs a person to continue. */
export interface RunResult {
  readonly runId: string
  readonly status: RunStatus
  readonly output?: Json
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
  /** Failure code, such as `plan/rejected`. */
  readonly failure?: FailureCode
  /** The failure in the error format of the API. */
  readonly error?: ErrorEnvelope
}

/** Waits until the run is over or needs a person. */
export async function runResult(
  engine: Pick<Engine, 'settled'>,
  runId: string,
  signal?: AbortSignal,
): Promise<RunResult> {
  const { status, finished, openAsks, warnings } = await engine.settled(runId, signal)
  const error = finished?.error
  return {
    runId,
    status,
    ...(finished?.output !== undefined && { output: finished.output }),
    issues: error
      ? (error.issues ?? [{ code: error.code, at: { pointer: '' }, message: error.message }])
      : [],
    provenance: finished?.provenance ?? [],
    ...(finished?.degraded && { degraded: finished.degraded }),
    ...(finished?.inDoubt && { inDoubt: finished.inDoubt }),
    ...(warnings.length > 0 && { warnings: warnings.map(toIssue) }),
    openAsks,
    ...(error && { failure: error.code, error: failureError(error) }),
  }
}

function toIssue({ constraint, cause, suggestion, nodeId, details }: Diagnostic): Issue<RunIssueCode> {
  return {
    code: String(details?.['code'] ?? `plan/${cause}`),
    at: { pointer: nodeId === undefined ? '' : `/nodes/${nodeId}` },
    message: `It does not hold that ${constraint ?? cause}`,
    ...(suggestion !== undefined && { hint: suggestion }),
  }
}
