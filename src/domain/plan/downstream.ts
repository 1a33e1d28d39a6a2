/** Which nodes of a plan come after others. */
import type { Plan } from '../plan.ts'

/** Every node that an edge or a binding leads to from these, in the order of the plan. */
export function listDownstream(plan: Pick<Plan, 'nodes' | 'edges'>, nodes: readonly string[]): string[] {
  const next = new Map<string, Set<string>>()
  const link = (from: string, to: string) => {
    const targets = next.get(from)
    if (targets) targets.add(to)
    else next.set(from, new Set([to]))
  }
  for (const { from, to } of plan.edges) link(from, to)
  for (const { id, inputs } of plan.nodes)
    for (const sources of Object.values(inputs))
      for (const source of sources) if ('node' in source) link(source.node, id)
  const reached = new Set(nodes)
  for (const id of reached) for (const target of next.get(id) ?? []) reached.add(target)
  const before = new Set(nodes)
  return plan.nodes.map(({ id }) => id).filter((id) => reached.has(id) && !before.has(id))
}
