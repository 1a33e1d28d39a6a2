/** What a task returned, as templates and their callers see it (ADR-02, 03, 12): always text, and the value if the text is JSON. */
import type { Json } from '../../base/json.ts'
import { detectJson, jsonFault, type OutputFormat } from '../../output/index.ts'
import type { ErrorEnvelope } from '../errors/error-envelope.ts'
import type { Output } from '../output.ts'

/** `CONTINUATION`: it is not over, somebody or something is being waited for. */
export type ReturnStatus = 'COMPLETE' | 'FAILED' | 'CONTINUATION'

export interface TaskResult {
  readonly content: string
  readonly status: ReturnStatus
  /**
   * `error` when it failed, `waitingFor` when it goes on, `skipped` (why) when it was never done, `parseError` for text that
   * looks like JSON and is none; confidence, reasoning and repairs where there are any.
   */
  readonly notes: { readonly [key: string]: Json }
  /** Present only when the content is JSON. */
  readonly parsedContent?: Json
}

/** How a task stands: with an output, or skipped, it is complete, unless there is an error or somebody to wait for. */
export interface TaskEnd {
  readonly output?: Output
  readonly error?: ErrorEnvelope
  readonly waitingFor?: string
  /** Why it was not done and is not going to be. */
  readonly skipped?: string
  /** What the task declared; text that was declared as text is not looked into. */
  readonly format?: OutputFormat
}

/**
 * The result of a task.
 *
 * @example
 * taskResult({ output: { value: ['a.ts'] } }) // content '["a.ts"]', parsedContent ['a.ts'], status COMPLETE
 */
export function taskResult({ output, error, waitingFor, skipped, format }: TaskEnd): TaskResult {
  const content = output === undefined ? '' : contentOf(output.value)
  const asText = output === undefined || (format?.type === 'text' && typeof output.value === 'string')
  const detected = asText ? { isParsed: false, value: undefined } : parsed(output.value, content)
  const parseError = asText || typeof output.value !== 'string' ? undefined : jsonFault(content)
  return {
    content,
    status: statusOf({ output, error, waitingFor, skipped }),
    notes: {
      ...(output !== undefined && notesOf(output)),
      ...(error !== undefined && { error: { ...error } }),
      ...(waitingFor !== undefined && { waitingFor }),
      ...(skipped !== undefined && { skipped }),
      ...(parseError !== undefined && { parseError }),
    },
    ...(detected.isParsed && { parsedContent: detected.value as Json }),
  }
}

function statusOf({
  output,
  error,
  waitingFor,
  skipped,
}: { [K in 'output' | 'error' | 'waitingFor' | 'skipped']: TaskEnd[K] | undefined }): ReturnStatus {
  if (error !== undefined) return 'FAILED'
  const isOver = output !== undefined || skipped !== undefined
  return waitingFor === undefined && isOver ? 'COMPLETE' : 'CONTINUATION'
}

function contentOf(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Text is looked at without being asked; what is not JSON stays text and fails nothing (C22). */
function parsed(value: Json, content: string): { readonly isParsed: boolean; readonly value: unknown } {
  return typeof value === 'string' ? detectJson(content) : { isParsed: true, value }
}

function notesOf({ confidence, confidenceType, escalate, reasoning, repairs }: Output) {
  return {
    ...(confidence !== undefined && { confidence }),
    ...(confidenceType !== undefined && { confidenceType }),
    ...(escalate !== undefined && { escalate }),
    ...(reasoning !== undefined && { reasoning }),
    ...(repairs !== undefined && repairs.length > 0 && { repairs: repairs.map((repair) => ({ ...repair })) }),
  }
}
