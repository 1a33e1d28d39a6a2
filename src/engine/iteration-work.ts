/** Whether maps and loops have something to do. */
import type { NodeState, RunState } from '../domain/run.ts'

/** Attempts of one run at one time. */
export const defaultConcurrency = 16

/** Items that may be under way at one time; rounds come one after the other. */
export function concurrencyOf({ plan }: RunState, { node }: NodeState): number {
  if (node.map === undefined) return 1
  return node.map.concurrency ?? plan?.limits.concurrency ?? defaultConcurrency
}

/** Whether an item or a round can begin or end although nothing new has happened. */
export function hasIterationWork(state: RunState): boolean {
  for (const nodeId of state.iterating) {
    const node = state.nodes.get(nodeId)
    // One whose output does not satisfy its contract may wait for a person.
    if (!node?.iterations || node.status !== 'running') continue
    const { active, settled, doomed, failure, next, total } = node.iterations
    if (settled.size > 0 || doomed.size > 0 || failure || active.size === 0) return true
    if (next < total && active.size < concurrencyOf(state, node)) return true
  }
  return false
}
