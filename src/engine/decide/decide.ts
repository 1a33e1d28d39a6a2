/**
 * Decides the next step of a run. Pure: the same state and decision context always give the same result. Events come
 * first, one group at a time; `decide-until-idle.ts` applies them and decides again until only work is left.
 */
import { findRootCause, plannerFailed } from '../../domain/diagnostic.ts'
import { asPlannerFailure } from '../../domain/errors/planner-failure.ts'
import type { Failure, NewEvent } from '../../domain/event.ts'
import type { AttemptResult } from '../../domain/output.ts'
import { listTriggers } from '../../domain/policy.ts'
import type { Considered } from '../../domain/ports/planner.ts'
import { isActivated, unmetNeed } from '../../domain/run/fold-graph.ts'
import { isDoomed } from '../../domain/run/iterations.ts'
import type { RunState } from '../../domain/run.ts'
import { envelopeLimits } from '../../plan/index.ts'
import { policyFields } from '../capabilities.ts'
import { type DecisionContext, factsFor } from '../events.ts'
import { firstDue, isHeld, isToContinue, policyAskOpen } from '../journal/run-head.ts'
import { expireFact, withdrawFact } from './ask/asks.ts'
import { overdueFact } from './ask/assign.ts'
import { mayReplan, replanLimitFailure } from './ask/rework.ts'
import { charged, deadlineFacts, settlement, worstCaseUsage } from './budget.ts'
import { knownValues } from './checks/values.ts'
import { endFacts, finishFacts } from './finish.ts'
import { iterationFacts } from './iterations.ts'
import { judgeFacts } from './judge.ts'
import { actionFacts, policyFacts } from './policies.ts'

type Decision =
  | ({ readonly kind: 'facts' } & Facts)
  /** Nodes may start, within capacity (`start-nodes.ts`). */
  | { readonly kind: 'ready' }
  /** A draft has to be made and proved. */
  | { readonly kind: 'plan' }
  /** Nothing to do until the next event. */
  | { readonly kind: 'wait' }

interface Facts {
  readonly facts: readonly NewEvent[]
  /** With a request for a plan: the candidates and their prices, for the planner. */
  readonly considered?: Considered
}

const maxPlanAttempts = 3

/** Each rule handles one kind of pending decision; the first one that returns events wins. */
const rules: readonly ((state: RunState, context: DecisionContext) => readonly NewEvent[] | Facts)[] = [
  dueTimers,
  interruptFacts,
  judged,
  followedUp,
  skipped,
  iterated,
  ended,
  replanned,
  planned,
  finished,
]

export function decide(state: RunState, context: DecisionContext): Decision {
  if (state.finished) return { kind: 'wait' }
  for (const rule of rules) {
    const decided = rule(state, context)
    if ('facts' in decided) return { kind: 'facts', ...decided }
    if (decided.length > 0) return { kind: 'facts', facts: decided }
  }
  if (state.planning && !state.planning.rejected && !state.cancel && !state.failing) return { kind: 'plan' }
  if (!isHeld(state) && state.ready.size > 0) return { kind: 'ready' }
  return { kind: 'wait' }
}

/** What the owning process knows about an attempt: in flight here, never sent, or unknown. */
export type AttemptLocation = 'here' | 'never-left' | 'unknown'

/** Ends attempts that no process performs any more: their outcome is unknown, unless they were never sent. */
export function orphanFacts(
  state: RunState,
  context: Pick<DecisionContext, 'now' | 'capability'>,
  whereIs: (nodeId: string, attempt: number) => AttemptLocation,
): NewEvent[] {
  const { now } = context
  const make = factsFor(state, now)
  const facts: NewEvent[] = []
  for (const nodeId of state.running) {
    const node = state.nodes.get(nodeId)
    // An accepted call is awaited by the process that owns the run.
    if (node?.attempt?.accepted) continue
    const attempt = node?.attempts ?? 0
    const where = whereIs(nodeId, attempt)
    if (where === 'here') continue
    const left = where === 'unknown'
    const usage = left ? worstCaseUsage(state, context, nodeId) : { calls: 0 }
    facts.push(...settlement(state, now, { nodeId, attempt, usage }))
    const end = {
      attempt,
      outcome: 'outcome_unknown',
      issues: [],
      usage,
      ...(!left && { notApplied: true }),
    } as const
    facts.push(make('attempt_end', end, { nodeId }))
  }
  return facts
}

function dueTimers(state: RunState, context: DecisionContext): NewEvent[] {
  const due = firstDue(state, context.now)
  if (due === undefined) return []
  const { timerId, purpose } = due
  const fired = factsFor(state, context.now)('timer_fired', { timerId })
  if (purpose.kind === 'ask') {
    if (!state.openAsks.has(purpose.requestId)) return [fired]
    const { requestId } = purpose
    return [
      fired,
      overdueFact(state, context.now, requestId) ?? expireFact(state, context.now, { requestId }),
    ]
  }
  if (purpose.kind !== 'policy') return [fired]
  const policy = listTriggers(state.envelope.policies).find(({ id }) => id === purpose.policyId)
  if (!policy) return [fired]
  return [
    fired,
    ...actionFacts(state, context, { policyId: policy.id, action: policy.action, trigger: 'onTimeout' }),
  ]
}

function judged(state: RunState, context: DecisionContext): NewEvent[] {
  for (const nodeId of state.judging) {
    const node = state.nodes.get(nodeId)
    const facts = node ? judgeFacts(state, context, node) : []
    if (facts.length > 0) return facts
  }
  return []
}

function followedUp(state: RunState, context: DecisionContext): NewEvent[] {
  const [next] = state.followUps
  // Nodes run again once no attempt is in flight that could depend on them.
  if (next?.action.type === 'retry' && state.running.size > 0) return []
  return next ? actionFacts(state, context, { ...next, trigger: 'follow_up' }) : []
}

function skipped(state: RunState, { now }: DecisionContext): NewEvent[] {
  const make = factsFor(state, now)
  return [...state.dead].map((nodeId) =>
    make('node_skipped', { reason: skipReason(state, nodeId) }, { nodeId }),
  )
}

function skipReason(state: RunState, nodeId: string): string {
  const node = state.nodes.get(nodeId)
  const need = node && isActivated(node) ? unmetNeed(state, node) : undefined
  if (need === undefined) return 'No control edge to it was followed'
  const sources = need.from.map((id) => `"${id}"`).join(' or ')
  return `Required input "${need.input}" has no source: ${sources} did not complete`
}

/** Continues maps and loops. */
function iterated(state: RunState, context: DecisionContext): NewEvent[] {
  return state.iterating.size > 0 ? iterationFacts(state, context) : []
}

/** Ends a run that is cancelled, failing or has lost a node for good, once no attempt is in flight. */
function ended(state: RunState, { now }: DecisionContext): NewEvent[] {
  if (state.running.size > 0) return []
  if (state.cancel) {
    const { by, reason } = state.cancel
    const message = `Cancelled by ${by}${reason ? `: ${reason}` : ''}`
    return endFacts(state, now, { status: 'cancelled', error: { code: 'run/cancelled', message } })
  }
  if (state.failing) return endFacts(state, now, { status: 'failed', error: state.failing })
  if (state.fatal.size === 0 || isToContinue(state)) return []
  const [nodeId] = state.fatal
  const failed = state.nodes.get(nodeId ?? '')?.failed?.error
  const error = failed ?? { code: 'node/failed', message: `"${nodeId}" failed` }
  return endFacts(state, now, {
    status: 'failed',
    error: { ...error, details: { ...error.details, nodeId: nodeId ?? '' } },
  })
}

/** Requests an ordered new plan as soon as no attempt is in flight, within the limit of new plans. */
function replanned(state: RunState, context: DecisionContext): readonly NewEvent[] | Facts {
  const { replan } = state
  if (!replan || state.running.size > 0 || state.paused || policyAskOpen(state)) return []
  if (!mayReplan(state))
    return endFacts(state, context.now, { status: 'failed', error: replanLimitFailure(state, replan) })
  const [open] = state.openAsks
  if (open !== undefined) return [withdrawFact(state, context.now, open)]
  return requestPlan(state, context, 1)
}

/** Requests the first plan, and the next draft after a rejected one. */
function planned(state: RunState, context: DecisionContext): readonly NewEvent[] | Facts {
  if (state.planning?.rejected) {
    const { attempt, phase, final } = state.planning
    const tries = final !== undefined || (state.draft && phase === 'initial') ? 1 : maxPlanAttempts
    if (attempt < tries) return requestPlan(state, context, attempt + 1)
    const failure = findRootCause(state.planning.rejected.failures)
    const [what, why] = [failure?.constraint ?? 'the draft can be used', failure?.cause ?? 'rejected']
    const closing = final === undefined ? '' : `; ${final}`
    const message =
      failure?.details?.['code'] === plannerFailed
        ? `Cannot plan: ${what}${closing}`
        : `No plan satisfies the contract: it does not hold that ${what} (${why})${closing}`
    const unanswered = asPlannerFailure(failure?.details)
    const error: Failure = {
      code: unanswered ? `planner/${unanswered.outcome}` : 'plan/rejected',
      message,
      details: { ...unanswered, diagnostics: state.planning.rejected as never },
    }
    return endFacts(state, context.now, { status: 'failed', error })
  }
  return state.plan || state.planning || state.paused || policyAskOpen(state)
    ? []
    : requestPlan(state, context, 1)
}

function requestPlan(state: RunState, context: DecisionContext, attempt: number): Facts {
  const trigger = state.replan ?? state.planning?.trigger
  const { recorded, considered } = context.considerCapabilities(state)
  const request = factsFor(state, context.now)('plan_requested', {
    attempt,
    phase: state.plan ? 'replan' : 'initial',
    ...policyFields(state),
    ...recorded,
    ...(trigger && { trigger }),
  })
  return { facts: [request], ...(considered && { considered }) }
}

/** Finishes the run when all nodes are settled. */
function finished(state: RunState, context: DecisionContext): NewEvent[] {
  if (!state.plan || isHeld(state) || state.unsettled > 0 || state.running.size > 0) return []
  return finishFacts(state, context)
}

/** The events that follow `start`: timers, and the actions of policies on start. */
export function openingFacts(state: RunState, context: DecisionContext): NewEvent[] {
  const make = factsFor(state, context.now)
  // The caller's deadline also applies before there is a plan: to planners, and to asks on start.
  const facts = deadlineFacts(state, context.now, envelopeLimits(state.envelope))
  for (const { id, enabled, trigger } of listTriggers(state.envelope.policies)) {
    if (!enabled || trigger.kind !== 'onTimeout') continue
    const purpose = { kind: 'policy', policyId: id } as const
    facts.push(make('timer_set', { timerId: `policy:${id}`, dueAt: context.now + trigger.ms, purpose }))
  }
  return [...facts, ...policyFacts(state, context, { kinds: ['onStart'], values: () => knownValues(state) })]
}

// Interrupts attempts in flight. An action that changes the course of the run (a new plan, a policy's ask, a pause, a
// failure, a cancellation) does not wait for them: their attempts end in the same append as `outcome_unknown`, and the
// actor aborts the calls after it.

/** Returns why running attempts must stop; nothing if they may continue. */
function interruptReason(state: RunState): string | undefined {
  const { cancel, failing, paused, replan, fatal } = state
  if (cancel) return `the run was cancelled by ${cancel.by}${cancel.reason ? ` (${cancel.reason})` : ''}`
  if (failing) return `the run fails (${failing.message})`
  if (replan) return `a new plan was ordered${replan.policyId ? ` by policy "${replan.policyId}"` : ''}`
  if (paused) return `the run was ${paused.isQuarantine ? 'quarantined' : 'paused'} (${paused.reason})`
  if (policyAskOpen(state)) return 'a policy asks a person before the run continues'
  if (fatal.size > 0 && !isToContinue(state)) return `the run fails ("${[...fatal][0]}" failed)`
  return undefined
}

/** Ends all running attempts of an interrupted run, and those of items and rounds that have failed. */
function interruptFacts(state: RunState, context: DecisionContext): NewEvent[] {
  if (state.running.size === 0) return []
  const whole = interruptReason(state)
  if (whole === undefined && state.instances.size === 0) return []
  const make = factsFor(state, context.now)
  return [...state.running].flatMap((nodeId) => {
    const reason = whole ?? doomReason(state, nodeId)
    if (reason === undefined) return []
    const attempt = state.nodes.get(nodeId)?.attempts ?? 0
    const result = interruptedResult(state, context, { nodeId, attempt, reason })
    return [
      ...settlement(state, context.now, { nodeId, attempt, usage: result.usage }),
      make('attempt_end', { attempt, ...result }, { nodeId }),
    ]
  })
}

/** Attempts inside a failed item, round, map or loop no longer count. */
function doomReason(state: RunState, nodeId: string): string | undefined {
  const node = state.nodes.get(nodeId)
  return node && isDoomed(state, node) ? `what "${nodeId}" is part of has failed` : undefined
}

/** Charges the known usage of the call, else the full reservation; a call that was not sent costs nothing. */
function interruptedResult(
  state: RunState,
  context: DecisionContext,
  { nodeId, attempt, reason }: { readonly nodeId: string; readonly attempt: number; readonly reason: string },
): AttemptResult {
  const call = context.call?.(nodeId, attempt)
  const left = call !== 'not-sent'
  const spent = left ? call?.spent : { calls: 0 }
  const most = worstCaseUsage(state, context, nodeId)
  const issue = {
    code: 'attempt/interrupted',
    at: { pointer: '' },
    message: `The attempt was interrupted: ${reason}`,
  }
  return {
    outcome: 'outcome_unknown',
    interrupted: true,
    issues: [issue],
    // A local function never counts calls, even if usage is known.
    usage: spent && most.calls > 0 ? charged(state, nodeId, spent) : most,
    ...(!left && { notApplied: true }),
  }
}
