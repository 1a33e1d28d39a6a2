/** Result of a task for templates and their callers (ADR-02, 03, 12): always text, and the parsed value if the text is JSON. */
import type { Json } from '../../base/json.ts'
import { detectJson, jsonFault, type OutputFormat } from '../../output/index.ts'
import type { ErrorEnvelope } from '../errors/error-envelope.ts'
import type { Output } from '../output.ts'

/** `CONTINUATION`: the task waits for a person or an event. */
type ReturnStatus = 'COMPLETE' | 'FAILED' | 'CONTINUATION'

export interface TaskResult {
  readonly content: string
  readonly status: ReturnStatus
  /**
   * `error` if it failed, `waitingFor` if it continues, `skipped` (the reason) if it never ran, `parseError` for text that
   * looks like JSON but is invalid; confidence, reasoning and repairs if present.
   */
  readonly notes: { readonly [key: string]: Json }
  /** Present only when the content is JSON. */
  readonly parsedContent?: Json
}

/** Status of a task: complete with an output or if skipped, unless it failed or waits. */
export interface TaskEnd {
  readonly output?: Output
  readonly error?: ErrorEnvelope
  readonly waitingFor?: string
  /** Why it did not run and will not run. */
  readonly skipped?: string
  /** The declared format; declared text is not parsed as JSON. */
  readonly format?: OutputFormat
}

/**
 * Builds the result of a task.
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

/** Detects JSON in text; text that is not JSON stays text and is not an error (C22). */
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
