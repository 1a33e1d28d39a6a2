/**
 * Retries of the nodes that a planner makes, where it does not say otherwise: two with backoff. They are part of the draft,
 * so that proof, estimate, journal and engine all see the same number. A draft that a caller sends says itself what it wants.
 */
import type { Capability } from '../domain/capability.ts'
import type { Draft, DraftNode, Retry } from '../domain/plan.ts'
import { checkId } from './builtins.ts'

/** The pauses are 0.5 s and 1 s. */
export const plannedRetry = { max: 2, backoffMs: 500 } as const satisfies Retry

/** Tighter for work that a capability supports without declaring it. */
const derivedRetry = { max: 1, backoffMs: 500 } as const satisfies Retry

export interface PlannedWork {
  readonly derived?: boolean | undefined
  /** A verdict that the contract depends on: it is not asked for again until it is the one that is wanted. */
  readonly judges: boolean
}

/** No retries for people, for verdicts, and for what changes the world and must not be called twice. */
export function retryFor(capability: Capability, { derived, judges }: PlannedWork): Pick<DraftNode, 'retry'> {
  const { kind, capabilityId, sideEffect, idempotent } = capability
  if (kind === 'human' || capabilityId === checkId || judges || (sideEffect && !idempotent)) return {}
  return { retry: derived ? derivedRetry : plannedRetry }
}

/** The draft with retries at the nodes that do not say how often they are tried, those of bodies included. */
export function withRetries(draft: Draft, capabilities: readonly Capability[]): Draft {
  const byId = new Map(capabilities.map((capability) => [capability.capabilityId, capability]))
  const completed = (node: DraftNode): DraftNode => {
    if (node.body) return { ...node, body: { ...node.body, nodes: node.body.nodes.map(completed) } }
    const capability = byId.get(node.capabilityId ?? '')
    if (node.retry !== undefined || capability === undefined) return node
    const judges = (node.kind ?? capability.nodeKind) === 'validation'
    return { ...node, ...retryFor(capability, { derived: node.derived, judges }) }
  }
  return { ...draft, nodes: draft.nodes.map(completed) }
}
