/**
 * Default retries of the nodes that a planner creates: two with backoff. They are part of the draft, so that proof,
 * estimate, journal and engine see the same number. Drafts submitted by a caller are not changed.
 */
import type { Capability } from '../domain/capability.ts'
import type { Draft, DraftNode, Retry } from '../domain/plan.ts'
import { checkId } from './builtin-capabilities.ts'

/** The delays are 0.5 s and 1 s. */
export const plannedRetry = { max: 2, backoffMs: 500 } as const satisfies Retry

/** Fewer retries for derived work, which a capability supports without declaring it. */
const derivedRetry = { max: 1, backoffMs: 500 } as const satisfies Retry

interface PlannedWork {
  readonly derived?: boolean | undefined
  /**
   * The node returns a verdict that the contract depends on; a retry would repeat the question until the verdict is
   * positive.
   */
  readonly judges: boolean
}

/** Returns no retry for people, checks, verdicts, and side effects that are not idempotent. */
export function retryFor(capability: Capability, { derived, judges }: PlannedWork): Pick<DraftNode, 'retry'> {
  const { kind, capabilityId, sideEffect, idempotent } = capability
  if (kind === 'human' || capabilityId === checkId || judges || (sideEffect && !idempotent)) return {}
  return { retry: derived ? derivedRetry : plannedRetry }
}

/** Adds the default retry to every node without a `retry` of its own, nodes of bodies included. */
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
