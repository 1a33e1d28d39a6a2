/**
 * Interrupts attempts in flight. An action that changes the course of the run (a new plan, a policy's ask, a pause, a
 * failure, a cancellation) does not wait for them: their attempts end in the same append as `outcome_unknown`, and the
 * actor aborts the calls after it.
 */
import type { NewEvent } from '../../domain/event.ts'
import type { AttemptResult } from '../../domain/output.ts'
import { isDoomed } from '../../domain/run/iterations.ts'
import type { RunState } from '../../domain/run.ts'
import { type DecisionContext, factsFor } from '../events.ts'
import { isToContinue, policyAskOpen } from '../journal/run-head.ts'
import { charged, settlement, worstCaseUsage } from './budget.ts'

/** Returns why running attempts must stop; nothing if they may continue. */
export function interruptReason(state: RunState): string | undefined {
  const { cancel, failing, paused, replan, fatal } = state
  if (cancel) return `the run was cancelled by ${cancel.by}${cancel.reason ? ` (${cancel.reason})` : ''}`
  if (failing) return `the run fails (${failing.message})`
  if (replan) return `a new plan was ordered${replan.policyId ? ` by policy "${replan.policyId}"` : ''}`
  if (paused) return `the run was paused (${paused.reason})`
  if (policyAskOpen(state)) return 'a policy asks a person before the run continues'
  if (fatal.size > 0 && !isToContinue(state)) return `the run fails ("${[...fatal][0]}" failed)`
  return undefined
}

/** Ends all running attempts of an interrupted run, and those of items and rounds that have failed. */
export function interruptFacts(state: RunState, context: DecisionContext): NewEvent[] {
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
