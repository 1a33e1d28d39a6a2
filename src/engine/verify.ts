/**
 * The one checker of histories: what must hold of every journal, whatever crashed while it was written. The simulation, the
 * kill tests and `proviso verify` all ask it.
 */
import type { Issue } from '../base/issue.ts'
import type { JournalEvent } from '../domain/event.ts'
import { applyEvent, begin } from '../domain/fold.ts'
import type { AuditRow } from '../domain/ports/store.ts'
import type { RunHead, RunState } from '../domain/run.ts'
import { statusOf } from './head.ts'
import { createRules } from './history-rules.ts'

/** What a journal is held against, where it is known. */
export interface Beside {
  readonly head?: Pick<RunHead, 'seq' | 'status' | 'planVersion'>
  readonly audit?: readonly AuditRow[]
}

/** Every violation, located by sequence number; empty for a history that is as it should be. */
export function verifyHistory(events: readonly JournalEvent[], beside: Beside = {}): Issue[] {
  const issues: Issue[] = []
  const report = (seq: number, rule: string, message: string) =>
    issues.push({ code: `history/${rule}`, at: { pointer: `/${seq}` }, message: `event ${seq}: ${message}` })
  const rules = createRules()
  let state: RunState | undefined
  for (const [index, event] of events.entries()) {
    if (event.seq !== index + 1) report(event.seq, 'gap', `its place is ${index + 1}`)
    for (const rule of rules) rule(event, state, (name, message) => report(event.seq, name, message))
    try {
      if (state) applyEvent(state, event)
      else state = begin(event.runId, event)
      for (const message of stateFaults(state)) report(event.seq, 'state', message)
    } catch (cause) {
      report(event.seq, 'fold', cause instanceof Error ? cause.message : String(cause))
      return issues
    }
  }
  if (state) compareHead(state, beside, (rule, message) => report(events.length, rule, message))
  return issues
}

/** What no prefix of a history may show. */
function* stateFaults(state: RunState): Generator<string> {
  const { budget, plan } = state
  const { maxCalls, maxTokens } = plan?.limits ?? {}
  if (budget.reservedCostUsd < -1e-9) yield 'more cost was given back than reserved'
  if (budget.reservedCalls < 0 || budget.reservedTokens < 0) yield 'more was given back than reserved'
  if (maxCalls !== undefined && budget.calls + budget.reservedCalls > maxCalls)
    yield `the budget of ${maxCalls} calls is exceeded`
  if (maxTokens !== undefined && budget.reservedTokens > maxTokens)
    yield `more than ${maxTokens} tokens are reserved`
  if (state.finished && state.running.size > 0)
    yield `the run is over while ${[...state.running].join(', ')} run`
  if (state.finished && state.openAsks.size > 0) yield 'the run is over while an ask is open'
  if (state.finished && state.reserved.size > 0) yield 'the run is over while something is reserved'
  if (state.unsettled < 0) yield 'more nodes are settled than there are'
}

function compareHead(
  state: RunState,
  { head, audit }: Beside,
  report: (rule: string, message: string) => void,
): void {
  if (head && head.seq !== state.seq)
    report('head', `the head is at ${head.seq}, the journal at ${state.seq}`)
  if (head && head.planVersion !== state.planVersion)
    report('head', `the head has plan version ${head.planVersion}, the journal ${state.planVersion}`)
  if (head && head.status !== statusOf(state))
    report('head', `the head says ${head.status}, the journal ${statusOf(state)}`)
  const last = audit?.at(-1)
  if (audit && (last?.hash ?? '') !== state.audit)
    report('audit', 'the audit table does not end where the journal does')
}
