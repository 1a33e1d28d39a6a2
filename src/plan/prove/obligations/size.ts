/** Upper bounds on the size of a plan, which bound the work of everything after it. */
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import type { Draft, DraftNode } from '../../../domain/plan.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import type { ProveRequest } from '../proof-request.ts'

export const planLimits = {
  nodes: 1_000,
  edges: 10_000,
  constraints: 1_000,
  /** Routes, bindings and alternates of one node, each. */
  perNode: 1_000,
  /** Nesting depth of maps and loops. */
  depth: 5,
} as const

/** Counting one level beyond the limit is enough to detect too deep nesting. */
const deepest = planLimits.depth + 1

function withBodies({ nodes }: Draft, depth: number): readonly DraftNode[] {
  if (depth > deepest) return []
  return nodes.flatMap((node) => [node, ...(node.body ? withBodies(node.body, depth + 1) : [])])
}

function edgesIn({ nodes, edges = [] }: Draft, depth: number): number {
  if (depth > deepest) return 0
  return nodes.reduce((sum, { body }) => sum + (body ? edgesIn(body, depth + 1) : 0), edges.length)
}

function depthOf(draft: Draft, above = 0): number {
  const bodies = above > deepest ? [] : draft.nodes.flatMap(({ body }) => body ?? [])
  return bodies.reduce((most, body) => Math.max(most, depthOf(body, above + 1)), above)
}

/** Runs before everything else: a draft over a limit is not checked any further. */
export function size({ draft, envelope }: ProveRequest): readonly Diagnostic[] {
  const nodes = withBodies(draft, 0)
  const widest = Math.max(
    0,
    ...nodes
      .slice(0, planLimits.nodes)
      .map((node) =>
        Math.max(
          node.routing?.routes.length ?? 0,
          Object.keys(node.inputs ?? {}).length,
          node.alternates?.length ?? 0,
          node.postConditions?.length ?? 0,
        ),
      ),
  )
  const counts: Readonly<Record<keyof typeof planLimits, number>> = {
    nodes: nodes.length,
    edges: edgesIn(draft, 0),
    depth: depthOf(draft),
    constraints: envelope.outputContract.constraints.length,
    perNode: widest,
  }
  return (Object.keys(planLimits) as (keyof typeof planLimits)[])
    .filter((what) => counts[what] > planLimits[what])
    .map((what) =>
      createDiagnostic('plan/limit', {
        constraint: `${what} <= ${planLimits[what]}`,
        suggestion: 'Split the work into several runs',
        details: { limit: planLimits[what], actual: counts[what] },
      }),
    )
}
