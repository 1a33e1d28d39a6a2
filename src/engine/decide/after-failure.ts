/** Decides what follows a failed attempt, in this order: retry, alternate capability, fail edge, ask, fail the node. */
import type { Issue } from '../../base/errors/issue.ts'
import { backoffMs } from '../../base/time/retry.ts'
import {
  answerFailure,
  formatFailure,
  readExpectedAnswer,
  readOutputFormat,
} from '../../domain/attempt/output-format.ts'
import type { Failure, NewEvent } from '../../domain/event.ts'
import type { AttemptResult, Outcome } from '../../domain/output.ts'
import { violationCode } from '../../domain/rao/rao-contract.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import { type DecisionContext, factsFor } from '../events.ts'
import { unaskedFailure } from './ask/asks.ts'
import { failureAskFacts, nodeFailureAsk } from './ask/failure-asks.ts'
import { feedbackFact } from './ask/feedback.ts'
import { knownValues } from './checks/values.ts'
import { policyFacts } from './policies.ts'

/** Model calls per attempt, if the node sets no limit. */
export const defaultCallBudget = 4
/** Maximum repetitions of attempts with an unknown outcome. */
const maxUnknowns = 10
const longestBackoffMs = 5 * 60_000

/** Outcomes after which no other attempt is made. */
const nonRetryable: ReadonlySet<Outcome> = new Set(['cancelled'])
/** Outcomes after which the next alternate is called: another attempt of the same capability would end in the same way. */
const triedEnough: ReadonlySet<Outcome> = new Set(['throttled', 'unavailable', 'refused'])

export function failureFacts(state: RunState, context: DecisionContext, node: NodeState): NewEvent[] {
  const result = node.attempt?.result
  if (!result) return []
  const make = factsFor(state, context.now)
  const { id } = node.node
  const facts: NewEvent[] = []
  if (result.outcome === 'invalid') {
    facts.push(make('validation_error', { scope: `node:${id}`, errors: result.issues }, { nodeId: id }))
    const { output, issues } = result
    const value = output && { value: output.value }
    facts.push(feedbackFact(state, context.now, { source: 'validation', nodes: [id], ...value, issues }))
    const acted = policyFacts(state, context, {
      kinds: ['onValidationFail'],
      node,
      values: () => knownValues(state, result.output?.value, node),
      ...(result.output && { fresh: result.output.value }),
      failure: () => nodeFailureAsk(state, node, { ...result, outcome: 'invalid' }),
    })
    facts.push(...acted)
    // The person decides what follows.
    if (acted.some(({ type }) => type === 'hitl_request')) return facts
  }
  return [...facts, ...nextFacts(state, context, node)]
}

/** Decides what follows a reported failure: another attempt, else an ask, else the end of the node. */
export function nextFacts(state: RunState, context: DecisionContext, node: NodeState): NewEvent[] {
  const result = node.attempt?.result
  const again = result && nextTry(node, result)
  if (!again) return giveUp(state, context, node)
  const { id } = node.node
  const timerId = `retry:${id}:${node.attempts}`
  const purpose = { kind: 'retry', nodeId: id, candidate: again.candidate } as const
  const dueAt = context.now + again.waitMs
  return [factsFor(state, context.now)('timer_set', { timerId, dueAt, purpose }, { nodeId: id })]
}

/**
 * The inputs do not satisfy the contract of the current alternate, which therefore fails without a call. Continues with
 * the next alternate, else with what follows the last attempt.
 */
export function unfitFacts(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  issues: readonly Issue[],
): NewEvent[] {
  const { id, alternates = [] } = node.node
  const make = factsFor(state, context.now)
  const candidate = node.candidate + 1
  const errors = make('validation_error', { scope: `input:${id}`, errors: issues }, { nodeId: id })
  if (candidate > alternates.length) return [errors, ...giveUp(state, context, node)]
  const timerId = `retry:${id}:${node.attempts}:${candidate}`
  const purpose = { kind: 'retry', nodeId: id, candidate } as const
  return [errors, make('timer_set', { timerId, dueAt: context.now, purpose }, { nodeId: id })]
}

/** Selects the next attempt: the same capability until its retries are used up, then the next alternate. */
function nextTry(node: NodeState, result: AttemptResult): { candidate: number; waitMs: number } | undefined {
  const { retry = {}, alternates = [] } = node.node
  if (nonRetryable.has(result.outcome)) return undefined
  const alternate =
    node.candidate < alternates.length ? { candidate: node.candidate + 1, waitMs: 0 } : undefined
  if (result.final || triedEnough.has(result.outcome)) return alternate
  if (result.outcome === 'outcome_unknown')
    return node.unknowns <= maxUnknowns ? { candidate: node.candidate, waitMs: 0 } : undefined
  if (node.failures <= (retry.max ?? 0))
    return { candidate: node.candidate, waitMs: backoff(retry.backoffMs ?? 0, node.failures) }
  return alternate
}

/** Without jitter: the decision function is pure, and a replay must decide the same. */
function backoff(baseMs: number, failures: number): number {
  return backoffMs(
    { max: failures + 1, baseMs, factor: 2, capMs: longestBackoffMs, jitter: 'none' },
    failures,
  )
}

function giveUp(state: RunState, context: DecisionContext, node: NodeState): NewEvent[] {
  const result = node.attempt?.result
  const ask = result && failureAskFacts(state, context, node, result)
  if (ask === 'limit') return [unaskedFact(state, context.now, node)]
  return ask ?? [errorFact(state, context.now, node)]
}

/** Ends a node about which a person would have been asked, had the run not reached its limit of asks. */
export function unaskedFact(state: RunState, now: number, node: NodeState): NewEvent {
  return endFact(state, now, { node, error: unaskedFailure(state, toFailure(state, node)) })
}

export function errorFact(state: RunState, now: number, node: NodeState): NewEvent {
  return endFact(state, now, { node, error: toFailure(state, node) })
}

function endFact(
  state: RunState,
  now: number,
  { node, error }: { readonly node: NodeState; readonly error: Failure },
): NewEvent {
  const outcome = node.attempt?.result?.outcome ?? 'provider_error'
  const payload = { attempt: node.attempts, outcome, error }
  return factsFor(state, now)('node_error', payload, { nodeId: node.node.id })
}

/** Returns why the last attempt failed. */
function toFailure(state: RunState, node: NodeState): Failure {
  const result = node.attempt?.result
  const outcome = result?.outcome ?? 'provider_error'
  const first = result?.issues[0]
  // A call that the budget refused never reached a provider. An invalid answer stays `invalid`, even if no budget is left to
  // repair it.
  const spent = outcome === 'provider_error' && first?.code === 'budget/exhausted'
  const format = outcome === 'invalid' ? readOutputFormat(node.node.data) : undefined
  const expected = outcome === 'invalid' ? readExpectedAnswer(node.node.data) : undefined
  const declared =
    result && ((format && formatFailure(format, result)) ?? (expected && answerFailure(expected, result)))
  return {
    code: spent ? 'budget/exhausted' : `attempt/${outcome}`,
    message: declared?.message ?? first?.message ?? `The attempt ended with ${outcome}`,
    ...(result && result.issues.length > 0 && { issues: result.issues }),
    ...(declared && { details: { ...declared.details } }),
    ...(spent && { details: { ...usedUpWithin(state, node) } }),
    ...(first?.code === violationCode && { details: { error: 'SchemaViolation' } }),
  }
}

// Names the limit that a run or a node has reached, for the details of `budget/exhausted`.

/** In the terms of the error taxonomy. */
type UsedUp = {
  readonly resource: 'turns' | 'context'
  readonly limitName: string
  readonly metrics: { readonly used: number; readonly limit: number }
}

/** Before a node starts: the first of the run's calls, cost and tokens. */
export function usedUp({ plan, budget }: RunState): UsedUp {
  const { maxCalls, maxTokens, maxCostUsd } = plan?.limits ?? {}
  if (maxCalls !== undefined && (budget.calls >= maxCalls || (maxTokens ?? maxCostUsd) === undefined))
    return { resource: 'turns', limitName: 'maxCalls', metrics: { used: budget.calls, limit: maxCalls } }
  if (maxCostUsd !== undefined && (budget.costUsd >= maxCostUsd || maxTokens === undefined))
    return {
      resource: 'turns',
      limitName: 'maxCostUsd',
      metrics: { used: budget.costUsd, limit: maxCostUsd },
    }
  const limit = maxTokens ?? 0
  return { resource: 'context', limitName: 'maxTokens', metrics: { used: budget.tokens, limit } }
}

/**
 * During a call: for tokens and for cost, picks the limit of node or run that leaves less; of these two, the one with the
 * larger used share. Calls are counted before they are made.
 */
function usedUpWithin({ plan, budget }: RunState, node: NodeState): UsedUp | undefined {
  const { maxTokens, maxCostUsd } = plan?.limits ?? {}
  const { tokenBudget, costBudgetUsd } = node.node
  const tokens = tighter(
    getLimit('tokenBudget', 'context', { used: node.tokens, limit: tokenBudget }),
    getLimit('maxTokens', 'context', { used: budget.tokens, limit: maxTokens }),
  )
  const cost = tighter(
    getLimit('costBudgetUsd', 'turns', { used: node.costUsd, limit: costBudgetUsd }),
    getLimit('maxCostUsd', 'turns', { used: budget.costUsd, limit: maxCostUsd }),
  )
  return tokens && cost ? (share(cost) > share(tokens) ? cost : tokens) : (tokens ?? cost)
}

function getLimit(
  limitName: string,
  resource: UsedUp['resource'],
  { used, limit }: { readonly used: number; readonly limit: number | undefined },
): UsedUp | undefined {
  return limit === undefined ? undefined : { resource, limitName, metrics: { used, limit } }
}

function tighter(own: UsedUp | undefined, whole: UsedUp | undefined): UsedUp | undefined {
  if (!own || !whole) return own ?? whole
  return left(whole) < left(own) ? whole : own
}

function left({ metrics: { used, limit } }: UsedUp): number {
  return limit - used
}

function share({ metrics: { used, limit } }: UsedUp): number {
  return limit > 0 ? used / limit : 1
}
