/**
 * Result of a task for templates and their callers (ADR-02, 03, 12): always text, and the parsed value if the text is
 * JSON. Also of each node of a run.
 */
import type { Json } from '../../base/json.ts'
import { detectJson, jsonFault, type OutputFormat } from '../../output/index.ts'
import { readOutputFormat } from '../attempt/output-format.ts'
import type { ErrorEnvelope } from '../errors/error-envelope.ts'
import { nodeError } from '../errors/failure-error.ts'
import type { Output } from '../output.ts'
import type { NodeState, RunState } from '../run.ts'
import type { NodeStatus } from '../status.ts'

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
interface TaskEnd {
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
  const content = output === undefined ? '' : getContent(output.value)
  const asText = output === undefined || (format?.type === 'text' && typeof output.value === 'string')
  const detected = asText ? { isParsed: false, value: undefined } : parsed(output.value, content)
  const parseError = asText || typeof output.value !== 'string' ? undefined : jsonFault(content)
  return {
    content,
    status: getStatus({ output, error, waitingFor, skipped }),
    notes: {
      ...(output !== undefined && getNotes(output)),
      ...(error !== undefined && { error: { ...error } }),
      ...(waitingFor !== undefined && { waitingFor }),
      ...(skipped !== undefined && { skipped }),
      ...(parseError !== undefined && { parseError }),
    },
    ...(detected.isParsed && { parsedContent: detected.value as Json }),
  }
}

function getStatus({
  output,
  error,
  waitingFor,
  skipped,
}: { [K in 'output' | 'error' | 'waitingFor' | 'skipped']: TaskEnd[K] | undefined }): ReturnStatus {
  if (error !== undefined) return 'FAILED'
  const isOver = output !== undefined || skipped !== undefined
  return waitingFor === undefined && isOver ? 'COMPLETE' : 'CONTINUATION'
}

function getContent(value: Json): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** Detects JSON in text; text that is not JSON stays text and is not an error (C22). */
function parsed(value: Json, content: string): { readonly isParsed: boolean; readonly value: unknown } {
  return typeof value === 'string' ? detectJson(content) : { isParsed: true, value }
}

function getNotes({ confidence, confidenceType, escalate, reasoning, repairs }: Output) {
  return {
    ...(confidence !== undefined && { confidence }),
    ...(confidenceType !== undefined && { confidenceType }),
    ...(escalate !== undefined && { escalate }),
    ...(reasoning !== undefined && { reasoning }),
    ...(repairs !== undefined && repairs.length > 0 && { repairs: repairs.map((repair) => ({ ...repair })) }),
  }
}

// The status of every node of a run, in the same shape as the result of a single task (ADR-12).

/** Returns for each node of the current plan its output, why it failed or was skipped, or what it waits for. */
export function taskResults(state: RunState): ReadonlyMap<string, TaskResult> {
  const before = openBefore(state)
  const results = new Map<string, TaskResult>()
  for (const [id, node] of state.nodes)
    results.set(id, taskResult(settledEnd(node) ?? openEnd(state, node, before.get(id) ?? [])))
  return results
}

/** Returns how a node ended; undefined if it has not. */
function settledEnd({ node, status, output, failed, skipped }: NodeState): TaskEnd | undefined {
  const format = readOutputFormat(node.data)
  if (status === 'completed' && output) return { output, ...(format && { format }) }
  if (status === 'error' && failed) return { error: nodeError(failed) }
  return status === 'skipped' ? { skipped: skipped?.reason ?? 'It was skipped' } : undefined
}

/** The node continues; or the run is over and ended before it, which must not look like completion. */
function openEnd({ finished }: RunState, { status }: NodeState, before: readonly string[]): TaskEnd {
  if (!finished?.error) return { waitingFor: waitsFor(status, before) }
  const { code, message } = finished.error
  const skipped = `The run ended before this node did: ${message}`
  return {
    skipped,
    error: {
      type: 'TASK_FAILURE',
      reason: 'execution_halted',
      message: skipped,
      details: { code },
      path: '',
    },
  }
}

function waitsFor(status: NodeStatus, before: readonly string[]): string {
  if (status === 'pending' && before.length > 0) return `the end of ${before.join(', ')}`
  return waits[status] ?? 'its turn'
}

const waits: Partial<Record<NodeStatus, string>> = {
  running: 'the end of its attempt',
  judging: 'the judgement of its attempt',
  waiting: 'the time of its next attempt',
  awaiting_hitl: 'a person',
}

/** Returns for each node the unfinished nodes that it depends on. */
function openBefore({ nodes, outgoing }: RunState): ReadonlyMap<string, readonly string[]> {
  const before = new Map<string, string[]>()
  for (const [from, edges] of outgoing) {
    if (settled.has(nodes.get(from)?.status ?? 'pending')) continue
    for (const { to } of edges) {
      const list = before.get(to)
      if (list) list.push(from)
      else before.set(to, [from])
    }
  }
  return before
}

const settled: ReadonlySet<NodeStatus> = new Set(['completed', 'error', 'skipped'])
