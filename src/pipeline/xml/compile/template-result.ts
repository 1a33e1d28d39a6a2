/** Converts the end of a template run to a task result, with the failure classified by the error taxonomy. */
import type { Issue } from '../../../base/errors/issue.ts'
import type { Json } from '../../../base/json.ts'
import { type ErrorEnvelope, issueError } from '../../../domain/errors/error-envelope.ts'
import { type TaskResult, taskResult } from '../../../domain/run/task-result.ts'
import type { RunStatus } from '../../../domain/status.ts'

/** As returned by `app.run`. */
export interface TemplateRun {
  readonly status: RunStatus
  readonly output?: Json
  readonly error?: ErrorEnvelope
}

/**
 * The result of the whole from the run and the results of its nodes. Where one of several tasks failed, the template failed
 * with `subtask_failure`: `details` has the step that failed, its own error, and what the others returned.
 *
 * @example
 * const run = await app.run(envelope, { draft })
 * templateResult(run, await app.taskResults(run.runId))
 */
export function templateResult(run: TemplateRun, tasks: ReadonlyMap<string, TaskResult>): TaskResult {
  if (run.status === 'completed') return taskResult({ output: { value: run.output ?? null } })
  if (run.status !== 'failed' && run.status !== 'cancelled') return taskResult({ waitingFor: 'a person' })
  return taskResult({ error: errorOf(run, tasks) })
}

/** The result for a file that cannot run with these inputs. */
export function templateRefusal(issues: readonly Issue[]): TaskResult {
  const [first] = issues
  if (first === undefined) throw new Error('A template is refused for a reason')
  const reason = isAboutInput(first) ? 'input_validation_failure' : 'xml_validation_failure'
  const error = issueError(first, reason)
  const violations = issues.map(({ message }) => message)
  return taskResult({ error: { ...error, details: { ...error.details, violations } } })
}

function isAboutInput({ code }: Issue): boolean {
  return code === 'template/input'
}

function errorOf(run: TemplateRun, tasks: ReadonlyMap<string, TaskResult>): ErrorEnvelope {
  // Nodes that never started neither failed nor returned anything.
  const begun = [...tasks].filter(
    ([, { status, notes }]) => status !== 'CONTINUATION' && notes['skipped'] === undefined,
  )
  const failed = begun.find(([, { status }]) => status === 'FAILED')
  const own = failed?.[1].notes['error'] as unknown as ErrorEnvelope | undefined
  if (run.status === 'cancelled' || failed === undefined || own === undefined) return runError(run)
  const done = begun.filter(([, { status }]) => status === 'COMPLETE')
  if (done.length === 0 && begun.length === 1) return own
  const [failedStep] = failed
  const partialResults = done.map(([step, { content }]) => ({ step, content }))
  return {
    type: 'TASK_FAILURE',
    reason: 'subtask_failure',
    message: `"${failedStep}" failed: ${own.message}`,
    details: { failedStep, partialResults, error: { ...own } },
    path: '',
  }
}

function runError({ error, status }: TemplateRun): ErrorEnvelope {
  if (error === undefined) throw new Error(`A run that is ${status} says why`)
  return error
}
