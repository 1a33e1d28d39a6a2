/** Obligations on the graph: it is acyclic, every node is reachable, and only routes activate their targets. */
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { Resolved, ResolvedNode } from '../proof-request.ts'
import { targetsOf } from '../scenarios/scenario.ts'

export function dag(resolved: Resolved): readonly Diagnostic[] {
  const { graph, nodes, scenarios } = resolved
  if (graph.circle.length > 0) {
    const [first = '', ...others] = graph.circle
    return [
      createDiagnostic('plan/cycle', {
        constraint: `nodes ${graph.circle.join(', ')} do not wait for each other`,
        nodeId: first,
        suggestion: `Remove an edge or a binding between ${[first, ...others].join(', ')}`,
        details: { nodes: [...graph.circle] },
      }),
    ]
  }
  const unreachable = nodes
    .filter(({ id }) => !scenarios.reachable.has(id))
    .map(({ id, capability }) =>
      createDiagnostic('plan/unreachable', {
        constraint: `node "${id}" can run`,
        nodeId: id,
        capabilityId: capability?.capabilityId,
        suggestion: 'Lead an edge or a route to it that can be followed, or remove it',
      }),
    )
  return [...unreachable, ...nodes.flatMap((node) => bypassed(node, resolved))]
}

/**
 * Finds edges that bypass a route: an edge to a target from a node before the router activates the target regardless of
 * the route.
 */
function bypassed({ id: router, draft }: ResolvedNode, { graph, byId }: Resolved): Diagnostic[] {
  return [...targetsOf(draft)].flatMap((target) =>
    (graph.incoming.get(target) ?? [])
      .filter(({ kind, when, from }) => {
        const isRoute = targetsOf(byId.get(from)?.draft).has(target)
        return kind === 'control' && when !== 'fail' && !isRoute && graph.ancestors(router).has(from)
      })
      .map(({ from }) =>
        createDiagnostic('plan/route-bypassed', {
          constraint: `"${router}" decides whether "${target}" runs`,
          nodeId: target,
          suggestion: `Remove the edge from "${from}" to "${target}": it activates "${target}" also when "${router}" takes another route. A binding orders them without it`,
          details: { router, from },
        }),
      ),
  )
}
