/** The status of every node of a run, in the same shape as the result of a single task (ADR-12). */

import { outputFormatOf } from '../domain/attempt/output-format.ts'
import { nodeError } from '../domain/errors/failure-error.ts'
import { type TaskEnd, type TaskResult, taskResult } from '../domain/run/task-result.ts'
import type { NodeState, RunState } from '../domain/run.ts'
import type { NodeStatus } from '../domain/status.ts'

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
  const format = outputFormatOf(node.data)
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
