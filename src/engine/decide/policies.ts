/** Runtime policies: finds the policy that an event triggers, and creates the events of its action. First match wins. */
import { type Json, own } from '../../base/json.ts'
import type { Decision } from '../../domain/ask.ts'
import type { NewEvent } from '../../domain/event.ts'
import {
  type Action,
  listTriggers,
  type RuntimePolicy,
  type Selector,
  type TriggerKind,
} from '../../domain/policy.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import { getCandidate } from '../capabilities.ts'
import { type DecisionContext, factsFor } from '../events.ts'
import { askFacts, askLimitFailure, type WantedAsk } from './ask/asks.ts'
import { askedAgain } from './ask/failure-asks.ts'
import { reopenFacts } from './ask/reopen.ts'
import { holds, type Verdict } from './checks/conditions.ts'

/** The input of the policy rules: what has happened. */
interface PolicyInput {
  /** All triggers that apply: the first policy that matches any of them wins. */
  readonly kinds: readonly TriggerKind[]
  readonly node?: NodeState
  /** Values for conditions, computed only if a policy needs them. */
  readonly values: () => Json
  /** Numbers that `onMetricBelow` may name; facet paths are resolved in `fresh`. */
  readonly metrics?: { readonly [name: string]: number | undefined }
  /** The new value of this event. */
  readonly fresh?: Json
  /** Creates the ask about it, if it is a failure. */
  readonly failure?: () => WantedAsk
}

/** Returns the events of the first policy that the input triggers; none if no policy matches. */
export function policyFacts(state: RunState, context: DecisionContext, input: PolicyInput): NewEvent[] {
  const exhausted: NewEvent[] = []
  for (const policy of listTriggers(state.envelope.policies)) {
    const verdict = matches(policy, input)
    if (verdict === 'no') continue
    if (!mayAct(state, policy)) {
      // Inputs about the whole answer end the run with a reason, and `emit` guards nothing: neither needs a log entry.
      if (input.node && policy.action.type !== 'emit')
        exhausted.push(exhaustedFact(state, context.now, policy, input.node))
      continue
    }
    // A condition that cannot be evaluated must not open a gate: asks a person instead.
    const action: Action =
      verdict === 'yes'
        ? policy.action
        : { type: 'hitl', rationale: `The condition of policy "${policy.id}" cannot be decided` }
    const acted = actionFacts(state, context, {
      policyId: policy.id,
      action,
      trigger: policy.trigger.kind,
      nodeId: input.node?.node.id,
      shown: input.fresh,
      ...(input.failure && { failure: input.failure }),
    })
    return [...exhausted, ...acted]
  }
  return exhausted
}

/** Logs that a policy matched but has used up its `maxAttempts`. */
function exhaustedFact(state: RunState, now: number, policy: RuntimePolicy, { node }: NodeState): NewEvent {
  const payload = { policyId: policy.id, maxAttempts: policy.maxAttempts ?? 0 }
  return factsFor(state, now)('log', { event: 'policy.exhausted', payload }, { nodeId: node.id })
}

function matches(policy: RuntimePolicy, input: PolicyInput): Verdict {
  const { trigger } = policy
  if (!policy.enabled || !input.kinds.includes(trigger.kind)) return 'no'
  switch (trigger.kind) {
    case 'onNodeComplete':
    case 'onValidationFail': {
      if (!selects(trigger.selector, input.node)) return 'no'
      if (trigger.condition === undefined) return 'yes'
      return holds(trigger.condition, input.values())
    }
    case 'onMetricBelow': {
      const value = metric(trigger.metric, input)
      return value !== undefined && value < trigger.threshold ? 'yes' : 'no'
    }
    default:
      return 'yes'
  }
}

/** Whether the policy is below its own limit; the total number of new plans is limited by the run. */
export function mayAct(
  state: RunState,
  { id, maxAttempts = Number.POSITIVE_INFINITY }: RuntimePolicy,
): boolean {
  return (state.policyFired.get(id) ?? 0) < maxAttempts
}

/** Selects by the capability or the current alternate; also for values from a person, which have no attempt. */
function selects(selector: Selector | undefined, node: NodeState | undefined): boolean {
  if (selector === undefined) return true
  if (node === undefined || (selector.kind !== undefined && node.node.kind !== selector.kind)) return false
  return selector.capabilityId === undefined || getCandidate(node) === selector.capabilityId
}

/** Reads a named metric, or a number inside the new value; a missing or non-numeric value never counts as low. */
function metric(name: string, input: PolicyInput): number | undefined {
  const named = input.metrics && own(input.metrics, name)
  if (typeof named === 'number') return named
  let value: unknown = input.fresh
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined
    value = own(value, part)
  }
  return typeof value === 'number' ? value : undefined
}

/** Previous names of the actions, for clients that still read them. */
const legacyNames: Record<Action['type'], string> = {
  replan: 'replan',
  hitl: 'hitl_pause',
  fail: 'fail_run',
  pause: 'pause',
  emit: 'emit_event',
  retry: 'retry',
}

interface Ordered {
  readonly policyId: string
  readonly action: Action
  readonly trigger: TriggerKind | 'follow_up'
  readonly nodeId?: string | undefined
  readonly by?: string
  readonly requestId?: string
  /** The value to show in an ask. */
  readonly shown?: Json | undefined
  /** Creates the ask about a failure. */
  readonly failure?: () => WantedAsk
}

export function actionFacts(state: RunState, context: DecisionContext, ordered: Ordered): NewEvent[] {
  const { policyId, action, trigger, nodeId, by, requestId } = ordered
  const make = factsFor(state, context.now)
  const triggered = (details: Action) =>
    make(
      'policy_triggered',
      {
        policyId,
        trigger,
        actionDetails: details,
        action: legacyNames[details.type],
        ...(by !== undefined && { by }),
        ...(requestId !== undefined && { requestId }),
      },
      { nodeId },
    )
  switch (action.type) {
    case 'emit':
      return [
        triggered(action),
        make('log', { event: action.event, ...(action.payload && { payload: action.payload }) }, { nodeId }),
      ]
    case 'hitl': {
      const ask = askFacts(state, context, policyAsk(state, ordered, action))
      if (ask !== 'limit') return [triggered(action), ...ask]
      const { message } = askLimitFailure(state, `policy "${policyId}"`)
      return [triggered({ type: 'fail', message })]
    }
    case 'retry': {
      const nodes = nodeId === undefined ? [] : [nodeId]
      return [triggered(action), ...reopenFacts(state, context.now, { requestId: requestId ?? '', nodes })]
    }
    default:
      return [triggered(action)]
  }
}

type AskAction = Extract<Action, { readonly type: 'hitl' }>

/** For a failure, shows the failed value and accepts a replacement; otherwise asks whether the run may continue. */
function policyAsk(state: RunState, ordered: Ordered, action: AskAction): WantedAsk {
  const { policyId } = ordered
  const about = failureAsk(state, ordered) ?? plainAsk(state, ordered)
  const { rationale, approveAction, rejectAction } = action
  return {
    ...about,
    policyId,
    ...(rationale !== undefined && { question: rationale }),
    ...(approveAction && { approveAction }),
    ...(rejectAction && { rejectAction }),
    ...(about.decisions && { decisions: withApproval(about.decisions, approveAction) }),
  }
}

function failureAsk(state: RunState, { failure, requestId = '' }: Ordered): WantedAsk | undefined {
  const before = state.asks.get(requestId)
  return failure?.() ?? (before?.kind === 'failure' ? askedAgain(before) : undefined)
}

/** Actions that approval can trigger even if the shown value cannot be used. */
const instead: ReadonlySet<Action['type']> = new Set(['replan', 'fail', 'pause', 'hitl'])

function withApproval(
  decisions: readonly Decision[],
  approveAction: Action | undefined,
): readonly Decision[] {
  const isOffered = approveAction === undefined || !instead.has(approveAction.type)
  return isOffered || decisions.includes('approve') ? decisions : ['approve', ...decisions]
}

function plainAsk(state: RunState, { policyId, nodeId, shown }: Ordered): WantedAsk {
  const node = nodeId === undefined ? undefined : state.nodes.get(nodeId)
  return {
    kind: 'policy',
    ...(nodeId !== undefined && { nodeId, producers: [nodeId] }),
    question: `Policy "${policyId}" asks whether the run may continue`,
    value: shown ?? node?.output?.value ?? null,
  }
}
