/**
 * The one shape in which errors leave the house (C50), whatever they were inside: the failure of a node, a RAO contract that
 * is none, a rejected plan, a source file that cannot be read. Called by the server, the command line and `task-result.ts`.
 */
import type { ProvisoError } from '../base/error.ts'
import type { Issue } from '../base/issue.ts'
import type { Json } from '../base/json.ts'
import { child } from '../base/pointer.ts'
import type { Diagnostic } from './diagnostic.ts'
import type { EventPayloads, Failure } from './event.ts'
import { plainCopy } from './plain-copy.ts'
import type { RaoError } from './rao-error.ts'

/** Why a task failed, by the names of ADR 8. */
export type TaskFailureReason =
  | 'context_retrieval_failure'
  | 'context_matching_failure'
  | 'context_parsing_failure'
  | 'xml_validation_failure'
  | 'output_format_failure'
  | 'execution_timeout'
  | 'execution_halted'
  | 'subtask_failure'
  | 'input_validation_failure'
  | 'unexpected_error'

export type ErrorType =
  | 'TASK_FAILURE'
  /** Turns, context or output ran out; `reason` says which. */
  | 'RESOURCE_EXHAUSTION'
  /** A RAO contract on a node cannot be used. */
  | 'CONTRACT_ERROR'
  | 'PLAN_REJECTED'
  /** A pipeline, a template or a setting cannot be read. */
  | 'BLUEPRINT_ERROR'

export interface ErrorEnvelope {
  readonly type: ErrorType
  readonly reason: string
  readonly message: string
  readonly details: { readonly [key: string]: Json }
  /** JSON Pointer to what it is about; empty for the whole. */
  readonly path: string
}

export type FailedOutcome = EventPayloads['node_error']['outcome']

/** What each way of failing is called outside. */
export const outcomeReasons: Readonly<
  Record<
    FailedOutcome,
    readonly [type: 'TASK_FAILURE', reason: TaskFailureReason] | readonly ['RESOURCE_EXHAUSTION', 'output']
  >
> = {
  ok: ['TASK_FAILURE', 'unexpected_error'],
  invalid: ['TASK_FAILURE', 'output_format_failure'],
  truncated: ['RESOURCE_EXHAUSTION', 'output'],
  refused: ['TASK_FAILURE', 'execution_halted'],
  timed_out: ['TASK_FAILURE', 'execution_timeout'],
  throttled: ['TASK_FAILURE', 'unexpected_error'],
  provider_error: ['TASK_FAILURE', 'unexpected_error'],
  cancelled: ['TASK_FAILURE', 'execution_halted'],
  outcome_unknown: ['TASK_FAILURE', 'unexpected_error'],
  suppressed: ['TASK_FAILURE', 'execution_halted'],
  rejected: ['TASK_FAILURE', 'execution_halted'],
  input_invalid: ['TASK_FAILURE', 'input_validation_failure'],
}

/** The failure of a node. */
export function nodeError({ outcome, error, attempt }: EventPayloads['node_error']): ErrorEnvelope {
  const resource = exhaustedResource(outcome, error)
  const [type, reason] =
    resource === undefined ? outcomeReasons[outcome] : (['RESOURCE_EXHAUSTION', resource] as const)
  const exhausted = type === 'RESOURCE_EXHAUSTION' && { resource: reason }
  return {
    ...failureError(error),
    type,
    reason,
    details: { ...detailsOf(error), ...exhausted, outcome, attempt },
  }
}

/** `turns`, `context` or `output` where a budget ended it; `details.metrics` says how much was used of how much. */
function exhaustedResource(outcome: FailedOutcome, { code, details, issues }: Failure): string | undefined {
  const resource = details?.['resource']
  if (code === 'budget/exhausted') return typeof resource === 'string' ? resource : 'turns'
  // An answer that is wrong stays wrong, also when nothing is left to mend it with.
  return outcome !== 'invalid' && issues?.[0]?.code === 'budget/exhausted' ? 'turns' : undefined
}

/** The failure of a run. */
export function failureError(error: Failure): ErrorEnvelope {
  const [first] = error.issues ?? []
  return {
    type: 'TASK_FAILURE',
    reason: 'unexpected_error',
    message: error.message,
    details: detailsOf(error),
    path: first === undefined ? '' : pathOf(first),
  }
}

/** What is wrong with something that was handed in. */
export function issueError(
  issue: Issue,
  reason: TaskFailureReason = 'input_validation_failure',
): ErrorEnvelope {
  return {
    type: 'TASK_FAILURE',
    reason,
    message: issue.message,
    details: issueDetails(issue),
    path: pathOf(issue),
  }
}

/** An answer that breaks its contract is a failed task; a contract that cannot be used is an error of its own. */
export function raoError(error: RaoError, path = ''): ErrorEnvelope {
  const { message } = error
  if (error.error === 'SchemaViolation') {
    const details = { error: error.error, violation: error.reason }
    return { type: 'TASK_FAILURE', reason: 'output_format_failure', message, details, path }
  }
  const field = error.error === 'InvalidField' ? { field: error.field } : {}
  const details = { ...field, violation: error.reason }
  return { type: 'CONTRACT_ERROR', reason: error.error, message, details, path }
}

/** A finding of the prover. */
export function diagnosticError(diagnostic: Diagnostic): ErrorEnvelope {
  const { cause, constraint, constraintId, nodeId } = diagnostic
  return {
    type: 'PLAN_REJECTED',
    reason: cause,
    message: `${constraint ?? constraintId ?? 'The plan'}: ${cause.replaceAll('_', ' ')}`,
    details: jsonMap({ ...diagnostic }),
    path: nodeId === undefined ? '' : child('/nodes', nodeId),
  }
}

/** A mistake in a source file or a setting. */
export function blueprintError(error: ProvisoError): ErrorEnvelope {
  const { code, message, hint, at, issues } = error
  return {
    type: 'BLUEPRINT_ERROR',
    reason: code,
    message,
    details: jsonMap({ hint, at, issues }),
    path: at !== undefined && 'pointer' in at ? at.pointer : '',
  }
}

function detailsOf({ code, issues, details }: Failure): { readonly [key: string]: Json } {
  return jsonMap({ ...details, code, issues })
}

function issueDetails({ code, hint, expected, actual, at }: Issue): { readonly [key: string]: Json } {
  return jsonMap({ code, hint, expected, actual, ...('span' in at && { span: at.span }) })
}

/** Members that are absent or that JSON cannot hold are left out. */
function jsonMap(members: { readonly [key: string]: unknown }): { readonly [key: string]: Json } {
  return Object.fromEntries(
    Object.entries(members).flatMap(([key, member]) => {
      const copy = plainCopy(member)
      return copy.ok ? [[key, copy.value]] : []
    }),
  )
}

function pathOf(issue: Issue): string {
  return 'pointer' in issue.at ? issue.at.pointer : ''
}
