/** How every node of a run stands, in the one shape that callers of single tasks know (ADR-12). */
import { nodeError } from '../domain/failure-error.ts'
import { outputFormatOf } from '../domain/output-format.ts'
import type { RunState } from '../domain/run.ts'
import { type TaskResult, taskResult } from '../domain/task-result.ts'

/** Nodes that have an end or wait for a person; the others have no result yet. */
export function taskResults(state: RunState): ReadonlyMap<string, TaskResult> {
  const results = new Map<string, TaskResult>()
  for (const [id, node] of state.nodes) {
    const format = outputFormatOf(node.node.data)
    if (node.status === 'completed' && node.output)
      results.set(id, taskResult({ output: node.output, ...(format && { format }) }))
    else if (node.failed) results.set(id, taskResult({ error: nodeError(node.failed) }))
    else if (node.status === 'awaiting_hitl') results.set(id, taskResult({ waitingFor: 'a person' }))
  }
  return results
}
