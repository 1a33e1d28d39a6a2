/**
 * Converts failures of runs and nodes to the public error format (C50). Called on output: by `frame.ts`, the routes of
 * the server, the command line and the results of tasks. The journal stores failures as the engine reported them.
 */
import type { Json } from '../../base/json.ts'
import { type FailureCode, failureHint } from '../attempt/failure-code.ts'
import { type Diagnostic, type DiagnosticBundle, findRootCause } from '../diagnostic.ts'
import type { EventPayloads, Failure } from '../event.ts'
import {
  diagnosticError,
  type ErrorEnvelope,
  formatPath,
  issueError,
  jsonMap,
  type TaskFailureReason,
  toReasonAndPath,
} from './error-envelope.ts'

/** Codes whose type or reason depends on what else they say. */
type DetailedCode = 'attempt/truncated' | 'budget/exhausted' | 'plan/rejected' | 'rao/contract'

/** What each other way of failing is called outside. */
export const failureReasons: Readonly<Record<Exclude<FailureCode, DetailedCode>, TaskFailureReason>> = {
  'ask/limit': 'execution_halted',
  'ask/rejected': 'execution_halted',
  'attempt/cancelled': 'execution_halted',
  'attempt/invalid': 'output_format_failure',
  // An attempt that went well, and a node that failed all the same.
  'attempt/ok': 'unexpected_error',
  'attempt/outcome_unknown': 'unexpected_error',
  'attempt/provider_error': 'unexpected_error',
  'attempt/refused': 'execution_halted',
  'attempt/throttled': 'unexpected_error',
  'attempt/timed_out': 'execution_timeout',
  'attempt/unavailable': 'unexpected_error',
  'attempt/unclear': 'execution_halted',
  'contract/unmet': 'output_format_failure',
  'loop/limit': 'execution_halted',
  'loop/state': 'output_format_failure',
  'map/limit': 'input_validation_failure',
  'node/failed': 'unexpected_error',
  'node/input-invalid': 'input_validation_failure',
  'node/no-route': 'execution_halted',
  'plan/replan-limit': 'execution_halted',
  'planner/throttled': 'unexpected_error',
  'planner/unavailable': 'unexpected_error',
  'policy/fail': 'execution_halted',
  'rao/suppressed': 'execution_halted',
  'run/cancelled': 'execution_halted',
  'run/deadline': 'execution_timeout',
}

/** Converts the failure of a run or a node by its code alone, so that journal, rows and results report it the same way. */
export function failureError(error: Failure): ErrorEnvelope {
  const details = getDetails(error)
  const [first] = error.issues ?? []
  const path = first === undefined ? '' : formatPath(first)
  const common = { message: error.message, details, path }
  const resource = exhaustedResource(error)
  if (resource !== undefined)
    return { type: 'RESOURCE_EXHAUSTION', reason: resource, ...common, details: { ...details, resource } }
  if (error.code === 'plan/rejected') return { type: 'PLAN_REJECTED', ...common, ...getRejection(error) }
  if (error.code === 'rao/contract')
    return { type: 'CONTRACT_ERROR', reason: textAt(details, 'error') ?? 'InvalidField', ...common }
  return { type: 'TASK_FAILURE', reason: getReason(error.code), ...common }
}

/** The same, as rows of a store keep it. */
export function storedError(row: Json): ErrorEnvelope {
  // Rows hold what the journal does.
  return failureError(row as unknown as Failure)
}

/** The failure of a node, with the way it failed. */
export function nodeError({ outcome, error, attempt }: EventPayloads['node_error']): ErrorEnvelope {
  const envelope = failureError(error)
  return { ...envelope, details: { ...envelope.details, outcome, attempt } }
}

/** Returns why a draft was rejected: the root diagnostic, to fix first. */
export function rejectionError({ diagnostics }: EventPayloads['plan_rejected']): ErrorEnvelope {
  const root = findRootCause(diagnostics.failures)
  if (root !== undefined) return diagnosticError(root)
  return {
    type: 'PLAN_REJECTED',
    reason: 'rejected',
    message: 'The draft was rejected',
    details: {},
    path: '',
  }
}

/** What does not satisfy a contract, one by one; the scope says whether it came in or went out. */
export function validationErrors({
  scope,
  errors,
}: EventPayloads['validation_error']): readonly ErrorEnvelope[] {
  const reason = scope.startsWith('input:') ? 'input_validation_failure' : 'output_format_failure'
  return errors.map((issue) => issueError(issue, reason))
}

/** Journals of other versions may hold codes that are not known here. */
function getReason(code: string): TaskFailureReason {
  return Object.hasOwn(failureReasons, code)
    ? failureReasons[code as keyof typeof failureReasons]
    : 'unexpected_error'
}

/** `turns`, `context` or `output` where something ran out; `details.metrics` says how much was used of how much. */
function exhaustedResource({ code, details, issues }: Failure): string | undefined {
  if (code === 'attempt/truncated') return 'output'
  const resource = details?.['resource']
  if (code === 'budget/exhausted') return typeof resource === 'string' ? resource : 'turns'
  // An invalid answer stays invalid, also when the budget for repairs is exhausted.
  return code !== 'attempt/invalid' && issues?.[0]?.code === 'budget/exhausted' ? 'turns' : undefined
}

/** The diagnostic that a plan is rejected for. */
function findRootDiagnostic(details: Failure['details']): Diagnostic | undefined {
  // The engine puts the findings there.
  const bundle = details?.['diagnostics'] as unknown as DiagnosticBundle | undefined
  return bundle?.failures && findRootCause(bundle.failures)
}

function getRejection({ details }: Failure): Pick<ErrorEnvelope, 'reason' | 'path'> {
  const root = findRootDiagnostic(details)
  return root === undefined ? { reason: 'rejected', path: '' } : toReasonAndPath(root)
}

function getDetails(failure: Failure): { readonly [key: string]: Json } {
  const { code, issues, details } = failure
  return jsonMap({ hint: getHint(failure), ...details, code, issues })
}

/** What to do about a failure: its own issue or diagnostic knows better than its kind. */
function getHint({ code, issues = [], details }: Failure): string | undefined {
  const found = code === 'plan/rejected' ? findRootDiagnostic(details)?.suggestion : undefined
  return found ?? issues.find(({ hint }) => hint !== undefined)?.hint ?? failureHint(code)
}

function textAt(map: { readonly [key: string]: Json }, key: string): string | undefined {
  const value = map[key]
  return typeof value === 'string' ? value : undefined
}
