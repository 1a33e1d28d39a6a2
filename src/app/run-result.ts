/** How a run stands when it is over or waits, as `run` and `result` tell it. */
import type { Issue } from '../base/issue.ts'
import type { Json } from '../base/json.ts'
import type { ErrorEnvelope } from '../domain/error-envelope.ts'
import type { CallInDoubt, Provenance } from '../domain/event.ts'
import type { FailureCode } from '../domain/failure-code.ts'
import { failureError } from '../domain/failure-error.ts'
import type { RunStatus } from '../domain/status.ts'
import type { Engine } from '../engine/engine.ts'

/** How a run stands when nothing goes on without a person. */
export interface RunResult {
  readonly runId: string
  readonly status: RunStatus
  readonly output?: Json
  /** Why there is no answer; empty for a run that has one. */
  readonly issues: readonly Issue[]
  readonly provenance: readonly Provenance[]
  /** Nodes whose text stands in for an answer (`degrade_to_string`); absent where there are none. */
  readonly degraded?: readonly string[]
  /** Calls of earlier plans that may have changed something, and that no node made again; absent where there are none. */
  readonly inDoubt?: readonly CallInDoubt[]
  /** Ids of the questions that it waits for. */
  readonly openAsks: readonly string[]
  /** The name of what went wrong, such as `plan/rejected`. */
  readonly failure?: FailureCode
  /** The same in the one shape in which errors leave. */
  readonly error?: ErrorEnvelope
}

/** Waits until the run is over or needs a person. */
export async function runResult(
  engine: Pick<Engine, 'settled'>,
  runId: string,
  signal?: AbortSignal,
): Promise<RunResult> {
  const { status, finished, openAsks } = await engine.settled(runId, signal)
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
    openAsks,
    ...(error && { failure: error.code, error: failureError(error) }),
  }
}
