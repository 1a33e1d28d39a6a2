/** Nobody waits for himself, and every node can run. */
import type { Diagnostic } from '../../domain/diagnostic.ts'
import { finding } from '../findings.ts'
import type { Resolved } from '../request.ts'

export function dag({ graph, nodes, scenarios }: Resolved): readonly Diagnostic[] {
  if (graph.circle.length > 0) {
    const [first = '', ...others] = graph.circle
    return [
      finding('plan/cycle', {
        constraint: `nodes ${graph.circle.join(', ')} do not wait for each other`,
        nodeId: first,
        suggestion: `Remove an edge or a binding between ${[first, ...others].join(', ')}`,
        details: { nodes: [...graph.circle] },
      }),
    ]
  }
  return nodes
    .filter(({ id }) => !scenarios.reachable.has(id))
    .map(({ id, capability }) =>
      finding('plan/unreachable', {
        constraint: `node "${id}" can run`,
        nodeId: id,
        capabilityId: capability?.capabilityId,
        suggestion: 'Lead an edge or a route to it that can be followed, or remove it',
      }),
    )
}
