/**
 * Decides whether an append may be ahead of the disk (output commit): whether nothing leaves the process because of it. That
 * is so if it only starts and ends attempts of idempotent local functions: after a power failure that undoes it, they are
 * called again under the same keys. Everything that is not known to be harmless waits for the disk.
 */
import type { EventType, NewEvent } from '../../domain/event.ts'
import type { RunState } from '../../domain/run.ts'
import type { DecisionContext } from '../events.ts'

/** Events that follow from the calls of a node and from nothing else, and that no one outside of the process waits for. */
const harmless: ReadonlySet<EventType> = new Set([
  'node_start',
  'attempt_start',
  'attempt_end',
  'node_complete',
  'node_skipped',
])

/** `events`: as they were applied to the run. */
export function canBeAhead(
  run: RunState,
  events: readonly NewEvent[],
  capability: DecisionContext['capability'],
): boolean {
  if (run.finished !== undefined || run.planning !== undefined) return false
  return events.every(
    ({ type, nodeId, planVersion }) =>
      harmless.has(type) && planVersion === run.planVersion && isHarmless(run, nodeId, capability),
  )
}

/** Whether every capability that the node may call is a function of this process that may simply be called again. */
function isHarmless(
  { nodes }: RunState,
  nodeId: string | undefined,
  capability: DecisionContext['capability'],
): boolean {
  const node = nodeId === undefined ? undefined : nodes.get(nodeId)?.node
  if (node === undefined) return false
  if (node.routing) return true
  if (node.capabilityId === undefined) return false
  return [node.capabilityId, ...(node.alternates ?? [])].every((id) => {
    const known = capability(id)
    return known !== undefined && known.kind === 'local' && known.idempotent && !known.sideEffect
  })
}
