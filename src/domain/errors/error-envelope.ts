/**
 * Converts all errors to the one public format (C50): invalid RAO contracts, findings of the prover, source files that
 * cannot be parsed. `failure-error.ts` does the same for failures of runs and nodes.
 */
import type { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import type { Diagnostic } from '../diagnostic.ts'
import { plainCopy } from '../parse/plain-copy.ts'
import type { FacetIssue } from '../plan.ts'
import type { RaoError } from '../rao/rao-contract.ts'

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

/** Every type of error, and what it means. */
export const errorTypes = {
  TASK_FAILURE: 'a task, or the run as a task, failed; `reason` is one of ADR 8',
  RESOURCE_EXHAUSTION:
    '`turns`, `context` or `output` ran out: `reason` says which, `details.metrics` by how much',
  CONTRACT_ERROR: 'a RAO contract on a node cannot be used',
  PLAN_REJECTED: 'no plan was proved; `reason` is the cause of the diagnostic to fix first',
  BLUEPRINT_ERROR: 'a pipeline, a template or a setting cannot be read',
} as const

export type ErrorType = keyof typeof errorTypes

export interface ErrorEnvelope {
  readonly type: ErrorType
  readonly reason: string
  readonly message: string
  readonly details: { readonly [key: string]: Json }
  /** JSON Pointer to what it is about; empty for the whole. */
  readonly path: string
}

/** Converts an issue of submitted input. */
export function issueError(
  issue: Issue,
  reason: TaskFailureReason = 'input_validation_failure',
): ErrorEnvelope {
  return {
    type: 'TASK_FAILURE',
    reason,
    message: issue.message,
    details: issueDetails(issue),
    path: formatPath(issue),
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

/** A diagnostic of the prover. */
export function diagnosticError(diagnostic: Diagnostic): ErrorEnvelope {
  const { cause, constraint, constraintId } = diagnostic
  return {
    type: 'PLAN_REJECTED',
    message: `${constraint ?? constraintId ?? 'The plan'}: ${cause.replaceAll('_', ' ')}`,
    details: jsonMap({ ...diagnostic }),
    ...toReasonAndPath(diagnostic),
  }
}

/** Returns the cause of a diagnostic and the path of its node. */
export function toReasonAndPath({ cause, nodeId }: Diagnostic): Pick<ErrorEnvelope, 'reason' | 'path'> {
  return { reason: cause, path: nodeId === undefined ? '' : child('/nodes', nodeId) }
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

function issueDetails(issue: Issue | FacetIssue): { readonly [key: string]: Json } {
  const { code, hint, expected, actual, at } = issue
  const facet = 'keyword' in issue && { facet: issue.facet, keyword: issue.keyword }
  return jsonMap({ code, hint, expected, actual, ...facet, ...('span' in at && { span: at.span }) })
}

/** Members that are absent or that JSON cannot hold are left out. */
export function jsonMap(members: { readonly [key: string]: unknown }): { readonly [key: string]: Json } {
  return Object.fromEntries(
    Object.entries(members).flatMap(([key, member]) => {
      const copy = plainCopy(member)
      return copy.ok ? [[key, copy.value]] : []
    }),
  )
}

export function formatPath(issue: Issue): string {
  return 'pointer' in issue.at ? issue.at.pointer : ''
}

/** The schema of the one shape of errors (`error-envelope.ts`), wherever an answer or a frame holds one. */
export const errorSchema = {
  type: 'object',
  required: ['type', 'reason', 'message', 'details', 'path'],
  properties: {
    type: { enum: Object.keys(errorTypes) },
    reason: { type: 'string' },
    message: { type: 'string' },
    details: { type: 'object' },
    path: { type: 'string' },
  },
  additionalProperties: false,
} satisfies Json
