/**
 * External input to a run, which any process may execute: replies, cancellations, resumptions, manual policy triggers.
 * Optimistic concurrency: each is appended at the sequence number it was checked against; on a conflict it is checked
 * again against the new state.
 */
import { type ErrorCode, ProvisoError } from '../../base/errors/error.ts'
import type { Reply } from '../../domain/ask.ts'
import type { NewEvent } from '../../domain/event.ts'
import { plainCopy } from '../../domain/parse/plain-copy.ts'
import { summariseNodes } from '../../domain/plan/node-summary.ts'
import { listTriggers } from '../../domain/policy.ts'
import type { Store } from '../../domain/ports/store.ts'
import { applyEvent } from '../../domain/run/fold.ts'
import type { RunState } from '../../domain/run.ts'
import type { CompileOptions } from '../../schema/compile/compile.ts'
import {
  approvalFact,
  checkReply,
  needsMoreApprovals,
  type ReplyRefusal,
  resolveFact,
} from '../decide/ask/asks.ts'
import { replyFeedback } from '../decide/ask/feedback.ts'
import { mayReplan, replanLimitFailure } from '../decide/ask/rework.ts'
import { actionFacts, mayAct } from '../decide/policies.ts'
import { type DecisionContext, factsFor } from '../events.ts'
import { loadState } from '../journal/journal.ts'
import { buildRunHead, getRunStatus } from '../journal/run-head.ts'
import type { PendingInputs } from './pending-inputs.ts'

/** Attempts to append under contention; each lost race means that another writer made progress. */
const tries = 100

export interface Outside {
  readonly store: Store
  readonly compileOptions?: CompileOptions
  readonly decisionContext: (tenant: string) => DecisionContext
  readonly pending: PendingInputs
  /** Called after the events are applied to the state and stored in the journal. */
  readonly onAppended: (state: RunState, events: readonly NewEvent[]) => void
}

/** Appends the events that `make` returns for the current state; an empty list means that there is nothing to do. */
export async function appendChecked(
  outside: Outside,
  runId: string,
  given: { readonly by: string; readonly note?: string; readonly reason?: string },
  make: (state: RunState, context: DecisionContext) => readonly NewEvent[],
): Promise<RunState> {
  // Checked at run time, too, for untyped callers: `by` goes into the journal and the audit chain.
  if (typeof given?.by !== 'string' || given.by === '')
    throw new ProvisoError('option/invalid', 'Who decides must be named', { hint: 'Give `by`, a name' })
  for (const name of ['note', 'reason'] as const)
    if (given[name] !== undefined && typeof given[name] !== 'string')
      throw new ProvisoError('option/invalid', `What is said as \`${name}\` must be a text`)
  const end = outside.pending.begin(runId)
  try {
    return await appendInTurn(outside, runId, make)
  } finally {
    end()
  }
}

async function appendInTurn(
  outside: Outside,
  runId: string,
  make: (state: RunState, context: DecisionContext) => readonly NewEvent[],
): Promise<RunState> {
  for (let attempt = 0; attempt < tries; attempt++) {
    const state = await loadState(outside.store, runId, outside.compileOptions)
    const context = outside.decisionContext(state.tenant)
    const expectedSeq = state.seq
    const events = make(state, context)
    if (events.length === 0) return state
    for (const event of events) applyEvent(state, event)
    const result = await outside.store.append({
      runId,
      expectedSeq,
      events,
      head: buildRunHead(state, context.now),
    })
    if (result.kind === 'appended') {
      outside.onAppended(state, events)
      return state
    }
  }
  throw new ProvisoError('run/busy', `The run "${runId}" could not be written to after ${tries} tries`)
}

const refusalCodes: Record<ReplyRefusal['reason'], ErrorCode> = {
  unknown: 'ask/unknown',
  resolved: 'ask/resolved',
  expired: 'ask/expired',
  stale: 'ask/stale',
  invalid: 'ask/invalid',
  claimed: 'task/claimed',
  forbidden: 'task/forbidden',
}

export function toError({ reason, message, ...details }: ReplyRefusal): ProvisoError {
  return new ProvisoError(refusalCodes[reason], message, details)
}

/** Records a person's decision. Only one counts: a second one is refused with `ask/resolved`. */
export async function reply(outside: Outside, runId: string, given: Reply): Promise<RunState> {
  const own = withOwnValue(given)
  return appendChecked(outside, runId, own, (state, context) => {
    const { now } = context
    const refusal = checkReply(state, now, own) ?? refuseAnswer(state, context, own)
    if (!refusal && needsMoreApprovals(state, own)) return [approvalFact(state, now, own)]
    if (!refusal) return [resolveFact(state, now, own), ...replyFeedback(state, now, own)]
    throw toError(refusal)
  })
}

/** Refuses an edited answer that the validator of the caller refuses: the run could not complete with it. */
function refuseAnswer(
  state: RunState,
  context: DecisionContext,
  { requestId, value }: Reply,
): ReplyRefusal | undefined {
  if (value === undefined || state.asks.get(requestId)?.kind !== 'final') return undefined
  const issues = context.refuseAnswer?.(state, value) ?? []
  const [first] = issues
  return first && { reason: 'invalid', message: `The reply cannot be used: ${first.message}`, issues }
}

/** Copies the value, so that the caller cannot change it after the decision. */
function withOwnValue(given: Reply): Reply {
  if (given?.value === undefined) return given
  const copy = plainCopy(given.value, { holes: 'refuse' })
  if (copy.ok) return { ...given, value: copy.value }
  const { code, message, hint } = copy.issue
  const at = { pointer: `/value${'pointer' in copy.issue.at ? copy.issue.at.pointer : ''}` }
  const issues = [{ code, at, message, ...(hint !== undefined && { hint }) }]
  throw new ProvisoError('ask/invalid', `The reply cannot be used: ${at.pointer} ${message}`, { at, issues })
}

/** Requests cancellation; has no effect on a finished run. */
export function cancel(
  outside: Outside,
  runId: string,
  given: { by: string; reason?: string },
): Promise<RunState> {
  return appendChecked(outside, runId, given, (state, { now }) => {
    const { by, reason } = given
    const said = { by, ...(reason !== undefined && { reason }) }
    return state.finished || state.cancel ? [] : [factsFor(state, now)('cancel_requested', said)]
  })
}

/** Resumes a paused run under its current plan. */
export function resume(
  outside: Outside,
  runId: string,
  given: { by: string; note?: string; expectedPlanVersion?: number },
): Promise<RunState> {
  return appendChecked(outside, runId, given, (state, { now }) => {
    const { expectedPlanVersion, by, note } = given
    if (expectedPlanVersion !== undefined && expectedPlanVersion !== state.planVersion)
      throw new ProvisoError(
        'plan/stale-version',
        `The run has plan version ${state.planVersion}, not ${expectedPlanVersion}`,
      )
    if (!state.paused || state.finished)
      throw new ProvisoError(
        'run/state',
        `Only a paused run can be resumed; this one is ${getRunStatus(state)}`,
        {
          hint:
            state.openAsks.size > 0
              ? 'It waits for a person: reply to its ask'
              : 'Nothing to resume: the run is not paused',
        },
      )
    const diagnostics = state.plan?.diagnostics ?? {
      status: 'accepted',
      satisfactionScore: 1,
      failures: [],
      warnings: [],
      infos: [],
    }
    const { satisfactionScore } = diagnostics
    const metadata = {
      ...state.plan?.metadata,
      resumed: true as const,
      by,
      ...(note !== undefined && { note }),
    }
    const plan = state.plan ?? null
    return [
      factsFor(state, now)('plan_generated', {
        plan,
        planVersion: state.planVersion,
        ...(plan && { nodes: summariseNodes(plan, (id) => state.nodes.get(id)?.status ?? 'pending') }),
        satisfactionScore,
        diagnostics,
        metadata,
      }),
    ]
  })
}

/** Triggers a policy manually. */
export function triggerPolicy(
  outside: Outside,
  runId: string,
  given: { policyId: string; by: string },
): Promise<RunState> {
  return appendChecked(outside, runId, given, (state, context) => {
    const policy = listTriggers(state.envelope.policies).find(({ id }) => id === given.policyId)
    if (!policy?.enabled || policy.trigger.kind !== 'manual')
      throw new ProvisoError(
        'policy/unknown',
        `The run has no policy "${given.policyId}" that can be fired by hand`,
      )
    if (state.finished)
      throw new ProvisoError('run/state', `The run is ${getRunStatus(state)}: no policy acts any more`, {
        hint: 'Nothing is left to do: begin a new run',
      })
    if (!mayAct(state, policy))
      throw new ProvisoError('run/state', `The policy "${policy.id}" has acted as often as it may`, {
        hint: 'Begin a run in which its maxAttempts is higher',
      })
    if (policy.action.type === 'replan' && !mayReplan(state)) {
      const { message } = replanLimitFailure(state, { policyId: policy.id })
      throw new ProvisoError('run/state', message, {
        hint: 'Begin a run in which `constraints.maxReplans` is higher',
      })
    }
    return actionFacts(state, context, {
      policyId: policy.id,
      action: policy.action,
      trigger: 'manual',
      by: given.by,
    })
  })
}
