/** What a run has done already, for whoever plans the rest. */
import type { DraftRequest } from '../domain/ports/planner.ts'
import type { RunState } from '../domain/run.ts'

export function completedNodes(state: RunState): DraftRequest['completed'] {
  return [...state.nodes.values()].flatMap(({ node, status, output, instance }) => {
    // A new plan names maps and loops, not the nodes of their items and rounds.
    if (status !== 'completed' || !output || instance !== undefined) return []
    const { id, capabilityId } = node
    return [{ id, ...(capabilityId !== undefined && { capabilityId }), output: output.value }]
  })
}
