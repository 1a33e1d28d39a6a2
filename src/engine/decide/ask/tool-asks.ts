/** Asks about calls that an agent wants to make: one per call, so that each is decided by itself and in any order. */
import type { Json } from '../../../base/json.ts'
import type { NewEvent } from '../../../domain/event.ts'
import { callsToAsk, findCall, type PlacedCall } from '../../../domain/loop/loop-state.ts'
import { isGrantable } from '../../../domain/loop-facts.ts'
import { createRedactor } from '../../../domain/redaction/redact.ts'
import type { NodeState, RunState } from '../../../domain/run.ts'
import type { DecisionContext } from '../../events.ts'
import { askFacts, type WantedAsk } from './asks.ts'

const redactor = createRedactor()

/**
 * Asks about the next call that is undecided and not asked about; nothing if there is none, `limit` if the run has reached
 * its limit of asks.
 */
export function toolAskFacts(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
): NewEvent[] | 'limit' | undefined {
  const [found] = node.loop ? callsToAsk(node.loop) : []
  return found && askFacts(state, context, toAsk(state, { context, node, found }))
}

interface AskedCall {
  readonly context: DecisionContext
  readonly node: NodeState
  readonly found: PlacedCall
}

function toAsk(
  { threadId }: Pick<RunState, 'threadId'>,
  { context, node: { node, loop }, found }: AskedCall,
): WantedAsk {
  const { call, within } = found
  const { turn, call: position, tool, capabilityId = '', start, asked } = call
  const [caller] = within.slice(-1)
  const own = caller ? findCall(loop, { ...caller, within: within.slice(0, -1) })?.loop : loop
  const pinned = own?.tools.find(({ name }) => name === tool)
  const name = [node.label ?? node.id, ...within.map((each) => each.tool)].join(' > ')
  const common = {
    kind: 'tool',
    nodeId: node.id,
    capabilityId,
    toolCall: { turn, call: position, tool, ...(within.length > 0 && { within }) },
    value: redactor.value(start?.inputs ?? asked?.inputs ?? call.input ?? null) as Json,
  } as const
  const output = pinned && { schema: pinned.outputSchema }
  if (start)
    return {
      ...common,
      ...output,
      question: `"${name}" called "${tool}", which did not come to its end and may have taken effect: approve to do it again, or give its result. If you reject, the agent reads that the outcome is unknown`,
      decisions: ['approve', 'answer', 'reject'],
    }
  if (asked)
    return {
      ...common,
      ...(asked.question.schema !== undefined && { schema: asked.question.schema }),
      question: `"${name}" called "${tool}", which asks: ${asked.question.text}`,
      decisions: ['answer', 'reject'],
    }
  if (context.capability(capabilityId)?.kind === 'human')
    return {
      ...common,
      ...output,
      question: `"${name}" asks for "${tool}": ${pinned?.description || 'give its result'}`,
      decisions: ['answer', 'reject'],
    }
  return {
    ...common,
    ...(pinned && { schema: pinned.inputSchema }),
    ...((call.causes ?? []).every(isGrantable) && {
      grants: threadId === undefined ? (['run'] as const) : (['run', 'thread'] as const),
    }),
    question: `"${name}" wants to call "${tool}": ${call.reason ?? 'it needs an approval'}. Go ahead?`,
  }
}
