/** The plan as its author wrote it: nodes that a compiler inserted are left out unless they fail, as in the terminal and in pictures. */
import { isInternalNode, joinVisible } from '../../../src/domain/plan/visible-nodes.ts'
import type { NodeView, PlanEdgeView, PlanView } from './run-state.ts'

export { isInternalNode }

export function isShown({ isInternal, status }: Pick<NodeView, 'isInternal' | 'status'>): boolean {
  return isInternal !== true || status === 'failed'
}

/** The part of a plan that is shown. The plan itself if nothing is hidden. */
export function toVisiblePlan(plan: PlanView, isFailed: (id: string) => boolean): PlanView {
  const hidden = new Set(
    plan.nodes.filter((node) => isInternalNode(node) && !isFailed(node.id)).map(({ id }) => id),
  )
  if (hidden.size === 0) return plan
  const nodes = plan.nodes.filter(({ id }) => !hidden.has(id))
  return { ...plan, nodes, edges: joinEdges(plan, hidden) }
}

/** A path through hidden nodes is one edge. It is a data edge only if no path of control edges leads the same way. */
function joinEdges({ nodes, edges }: PlanView, hidden: ReadonlySet<string>): PlanEdgeView[] {
  const ids = nodes.map(({ id }) => id)
  const join = (some: readonly PlanEdgeView[]) => joinVisible(ids, some, (id) => hidden.has(id))
  const control = edges.filter(({ kind }) => kind === 'control')
  const first = new Map(edges.map((edge) => [JSON.stringify([edge.from, edge.to]), edge]))
  for (const edge of control) first.set(JSON.stringify([edge.from, edge.to]), edge)
  const joined = join(control)
  const reached = reachAll(joined)
  return [
    ...joined.map((link) => ({ ...link, kind: 'control' as const })),
    ...join(edges)
      .filter(({ from, to }) => !reached.get(from)?.has(to))
      .map((link) => ({ ...link, kind: 'data' as const })),
  ].map((link) => ({ ...link, when: first.get(JSON.stringify([link.from, link.via]))?.when ?? 'pass' }))
}

/** For each node, all nodes that follow it. */
function reachAll(links: readonly { readonly from: string; readonly to: string }[]) {
  const targets = new Map<string, string[]>()
  for (const { from, to } of links) targets.set(from, [...(targets.get(from) ?? []), to])
  return new Map(
    [...targets.keys()].map((from) => {
      const seen = new Set<string>()
      const open = [...(targets.get(from) ?? [])]
      for (let next = open.pop(); next !== undefined; next = open.pop()) {
        if (seen.has(next)) continue
        seen.add(next)
        open.push(...(targets.get(next) ?? []))
      }
      return [from, seen] as const
    }),
  )
}
