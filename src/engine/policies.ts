/** Runtime policies: which one an event sets off, and the facts that its action consists of. First match wins. */
import type { Json } from '../base/json.ts'
import { own } from '../base/json.ts'
import type { Decision } from '../domain/ask.ts'
import type { NewEvent } from '../domain/event.ts'
import {
  type Action,
  listTriggers,
  type RuntimePolicy,
  type Selector,
  type TriggerKind,
} from '../domain/policy.ts'
import type { NodeState, RunState } from '../domain/run.ts'
import { askFacts, askLimitFailure, type WantedAsk } from './asks.ts'
import { holds, type Verdict } from './conditions.ts'
import { factsFor, type Moment } from './fact.ts'
import { askedAgain } from './failure-asks.ts'
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
  /** How a person is asked about it, where it is a failure. */
  readonly failure?: () => WantedAsk
}

/** The facts of the first policy that the signal sets off; none if there is no such policy. */
export function policyFacts(state: RunState, moment: Moment, signal: Signal): NewEvent[] {
  for (const policy of listTriggers(state.envelope.policies)) {
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
      ...(signal.failure && { failure: signal.failure }),
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
  /** How a person is asked about a failure. */
  readonly failure?: () => WantedAsk
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
      const ask = askFacts(state, moment, policyAsk(state, ordered, action))
      if (ask !== 'limit') return [triggered(action), ...ask]
      const { message } = askLimitFailure(state, `policy "${policyId}"`)
      return [triggered({ type: 'fail', message })]
    }
    case 'retry': {
      const nodes = nodeId === undefined ? [] : [nodeId]
      return [triggered(action), ...reopenFacts(state, moment.now, { requestId: requestId ?? '', nodes })]
    }
    default:
      return [triggered(action)]
  }
}

type AskAction = Extract<Action, { readonly type: 'hitl' }>

/** About a failure, what failed is shown and can be replaced; about anything else, whether the run may continue. */
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

/** What approval can lead to although the shown value cannot be used. */
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
    question: `Policy "${policyId}" asks whether the run may go on`,
    value: shown ?? node?.output?.value ?? null,
  }
}
