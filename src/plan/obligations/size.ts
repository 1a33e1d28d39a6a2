/** A plan has bounds, so that nothing after it needs to fear its size. */
import type { Diagnostic } from '../../domain/diagnostic.ts'
import { finding } from '../findings.ts'
import type { ProveRequest } from '../request.ts'

export const planLimits = {
  nodes: 1_000,
  edges: 10_000,
  constraints: 1_000,
  /** Routes, bindings and alternates of one node, each. */
  perNode: 1_000,
} as const

/** Asked before anything is worked out: a draft over a limit is not looked at any further. */
export function size({ draft, envelope }: ProveRequest): readonly Diagnostic[] {
  const widest = Math.max(
    0,
    ...draft.nodes
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
    nodes: draft.nodes.length,
    edges: draft.edges?.length ?? 0,
    constraints: envelope.outputContract.constraints.length,
    perNode: widest,
  }
  return (Object.keys(planLimits) as (keyof typeof planLimits)[])
    .filter((what) => counts[what] > planLimits[what])
    .map((what) =>
      finding('plan/limit', {
        constraint: `${what} <= ${planLimits[what]}`,
        suggestion: 'Split the work into several runs',
        details: { limit: planLimits[what], actual: counts[what] },
      }),
    )
}
