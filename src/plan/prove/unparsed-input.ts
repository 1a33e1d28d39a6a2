/**
 * Detects input that was passed without parsing. This module trusts its input, so an envelope without defaults or a
 * capability still wrapped by `defineCapability` would only show as a failing check; this reports it with a hint. A draft that is too large is refused as well.
 */
import { isObject } from '../../base/json.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { Draft, DraftNode } from '../../domain/plan.ts'
import { createDiagnostic } from '../diagnostics.ts'
import type { ProveRequest } from './proof-request.ts'

interface UnparsedInput {
  /** The requirement that is violated. */
  readonly wanted: string
  readonly hint: string
}

/** Detects a draft that is not an object with nodes, such as the text that a planner returned. */
export function findUnparsedDraft({ draft }: Pick<ProveRequest, 'draft'>): UnparsedInput | undefined {
  if (isObject(draft) && Array.isArray(draft.nodes)) return undefined
  const got =
    draft === null
      ? 'null'
      : Array.isArray(draft)
        ? 'a list'
        : isObject(draft)
          ? 'an object without `nodes`'
          : `a ${typeof draft}`
  return {
    wanted: `the draft is an object with a list of nodes, not ${got}`,
    hint: 'Return { nodes: [{ id, capabilityId }] } from the planner, or pass such a draft',
  }
}

/** Returns the first part of a request that was not parsed. */
export function findUnparsedInput(
  request: Pick<ProveRequest, 'envelope' | 'facets' | 'capabilities'>,
): UnparsedInput | undefined {
  return rows.find(({ isParsed }) => !isParsed(request ?? {}))
}

const rows: readonly (UnparsedInput & {
  readonly isParsed: (request: Parameters<typeof findUnparsedInput>[0]) => boolean
})[] = [
  {
    wanted: 'the envelope was parsed, with its defaults filled in',
    hint: 'Pass the `value` of parseEnvelope(envelope); createApp parses it by itself',
    isParsed: ({ envelope }) =>
      isObject(envelope) &&
      isObject(envelope.inputs) &&
      isObject(envelope.constraints) &&
      Array.isArray(envelope.specialInstructions) &&
      isObject(envelope.policies?.planner) &&
      Array.isArray(envelope.policies.runtime) &&
      Array.isArray(envelope.outputContract?.constraints),
  },
  {
    wanted: 'facets is a list',
    hint: 'Pass [], or the facets of a preset such as proviso/presets/marketing',
    isParsed: ({ facets }) => Array.isArray(facets),
  },
  {
    wanted: 'capabilities is a list of parsed capabilities',
    hint: 'For the result of defineCapability pass its `capability`, for external data the `value` of parseCapability',
    isParsed: ({ capabilities }) =>
      Array.isArray(capabilities) &&
      capabilities.every(
        (each) => isObject(each) && typeof each.capabilityId === 'string' && 'nodeKind' in each,
      ),
  },
]

// Upper bounds on the size of a plan, which bound the work of everything after it.

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
