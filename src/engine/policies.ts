/** Runtime policies: which one an event sets off, and the facts that its action consists of. First match wins. */
import type { Json } from '../base/json.ts'
import { own } from '../base/json.ts'
import type { NewEvent } from '../domain/event.ts'
import type { Action, RuntimePolicy, Selector, TriggerKind } from '../domain/policy.ts'
import type { NodeState, RunState } from '../domain/run.ts'
import { askFacts } from './asks.ts'
import { holds, type Verdict } from './conditions.ts'
import { factsFor, type Moment } from './fact.ts'
import { candidateOf } from './missing.ts'
import { reopenFacts } from './rework.ts'

/** What has happened, as far as policies care. */
export interface Signal {
  /** Every trigger that it may set off: among all of them together the first policy wins. */
  readonly kinds: readonly TriggerKind[]
  readonly node?: NodeState
  /** What conditions see; made only when a policy asks. */
  readonly values: () => Json
  /** Numbers that `onMetricBelow` may name; facet paths are looked up in `fresh`. */
  readonly metrics?: { readonly [name: string]: number | undefined }
  /** The value that is new with this event. */
  readonly fresh?: Json
}

/** The facts of the first policy that the signal sets off; none if there is no such policy. */
export function policyFacts(state: RunState, moment: Moment, signal: Signal): NewEvent[] {
  for (const policy of state.envelope.policies.runtime) {
    const verdict = matches(state, policy, signal)
    if (verdict === 'no') continue
    // A condition that cannot be decided must not open a gate: a person looks at it.
    const action: Action =
      verdict === 'yes'
        ? policy.action
        : { type: 'hitl', rationale: `The condition of policy "${policy.id}" cannot be decided` }
    return actionFacts(state, moment, {
      policyId: policy.id,
      action,
      trigger: policy.trigger.kind,
      nodeId: signal.node?.node.id,
      shown: signal.fresh,
    })
  }
  return []
}

function matches(state: RunState, policy: RuntimePolicy, signal: Signal): Verdict {
  const { trigger } = policy
  if (!policy.enabled || !signal.kinds.includes(trigger.kind)) return 'no'
  if (!mayAct(state, policy)) return 'no'
  switch (trigger.kind) {
    case 'onNodeComplete':
    case 'onValidationFail': {
      if (!selects(trigger.selector, signal.node)) return 'no'
      if (trigger.condition === undefined) return 'yes'
      return holds(trigger.condition, signal.values())
    }
    case 'onMetricBelow': {
      const value = metric(trigger.metric, signal)
      return value !== undefined && value < trigger.threshold ? 'yes' : 'no'
    }
    default:
      return 'yes'
  }
}

/** Whether it has not acted as often as it may. */
export function mayAct(state: RunState, policy: RuntimePolicy): boolean {
  return (state.policyFired.get(policy.id) ?? 0) < limitOf(policy)
}

const defaultReplans = 2

function limitOf(policy: RuntimePolicy): number {
  return policy.maxAttempts ?? (policy.action.type === 'replan' ? defaultReplans : Number.POSITIVE_INFINITY)
}

/** By who did the work: the capability, or the stand-in whose turn it was; a person's too, who needs no attempt. */
function selects(selector: Selector | undefined, node: NodeState | undefined): boolean {
  if (selector === undefined) return true
  if (node === undefined || (selector.kind !== undefined && node.node.kind !== selector.kind)) return false
  return selector.capabilityId === undefined || candidateOf(node) === selector.capabilityId
}

/** A named number, or a number inside what the event brought; a missing or other value never counts as low. */
function metric(name: string, signal: Signal): number | undefined {
  const named = signal.metrics && own(signal.metrics, name)
  if (typeof named === 'number') return named
  let place: unknown = signal.fresh
  for (const part of name.split('.')) {
    if (typeof place !== 'object' || place === null) return undefined
    place = own(place, part)
  }
  return typeof place === 'number' ? place : undefined
}

/** The names that the action had before, for clients that still read them. */
const legacyNames: Record<Action['type'], string> = {
  replan: 'replan',
  hitl: 'hitl_pause',
  fail: 'fail_run',
  pause: 'pause',
  emit: 'emit_event',
  retry: 'retry',
}

export interface Ordered {
  readonly policyId: string
  readonly action: Action
  readonly trigger: TriggerKind | 'follow_up'
  readonly nodeId?: string | undefined
  readonly by?: string
  readonly requestId?: string
  /** What a person is shown. */
  readonly shown?: Json | undefined
}

export function actionFacts(state: RunState, moment: Moment, ordered: Ordered): NewEvent[] {
  const { policyId, action, trigger, nodeId, by, requestId } = ordered
  const make = factsFor(state, moment.now)
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
      const ask = askFacts(state, moment, {
        kind: 'policy',
        policyId,
        ...(nodeId !== undefined && { nodeId, ...producersOf(state, nodeId) }),
        question: action.rationale ?? `Policy "${policyId}" asks whether the run may go on`,
        value:
          ordered.shown ??
          (nodeId === undefined ? undefined : state.nodes.get(nodeId)?.output?.value) ??
          null,
        ...(action.approveAction && { approveAction: action.approveAction }),
        ...(action.rejectAction && { rejectAction: action.rejectAction }),
      })
      if (ask !== 'limit') return [triggered(action), ...ask]
      return [
        triggered({
          type: 'fail',
          message: `Policy "${policyId}" asks a person, but the run has asked as often as it may`,
        }),
      ]
    }
    case 'retry': {
      const nodes = nodeId === undefined ? [] : [nodeId]
      return [triggered(action), ...reopenFacts(state, moment.now, { requestId: requestId ?? '', nodes })]
    }
    default:
      return [triggered(action)]
  }
}

/** A node of an item or a round is not run again once it has completed: the item or round may be over. */
function producersOf(state: RunState, nodeId: string): { readonly producers?: readonly string[] } {
  return state.nodes.get(nodeId)?.instance === undefined ? { producers: [nodeId] } : {}
}
