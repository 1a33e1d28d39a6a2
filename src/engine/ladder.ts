/** Decides what follows a failed attempt, in this order: retry, alternate capability, fail edge, ask, fail the node. */
import { backoffMs } from '../base/retry.ts'
import type { Failure, NewEvent } from '../domain/event.ts'
import type { AttemptResult, Outcome } from '../domain/output.ts'
import { formatFailure, outputFormatOf } from '../domain/output-format.ts'
import { violationCode } from '../domain/rao-error.ts'
import type { NodeState, RunState } from '../domain/run.ts'
import { unaskedFailure } from './asks.ts'
import { factsFor, type Moment } from './fact.ts'
import { failureAskFacts, nodeFailureAsk } from './failure-asks.ts'
import { feedbackFact } from './feedback.ts'
import { policyFacts } from './policies.ts'
import { usedUpWithin } from './used-up.ts'
import { knownValues } from './values.ts'

/** Generated answers of one attempt, where the node does not say. */
export const defaultCallBudget = 4
/** Repetitions of attempts with unknown outcome. */
const maxUnknowns = 10
const longestBackoffMs = 5 * 60_000

/** No other attempt is made. */
const nonRetryable: ReadonlySet<Outcome> = new Set(['cancelled'])
/** The next alternate is called instead: another attempt would end in the same way. */
const triedEnough: ReadonlySet<Outcome> = new Set(['throttled', 'unavailable', 'refused'])

export function failureFacts(state: RunState, moment: Moment, node: NodeState): NewEvent[] {
  const result = node.attempt?.result
  if (!result) return []
  const make = factsFor(state, moment.now)
  const { id } = node.node
  const facts: NewEvent[] = []
  if (result.outcome === 'invalid') {
    facts.push(make('validation_error', { scope: `node:${id}`, errors: result.issues }, { nodeId: id }))
    const { output, issues } = result
    const value = output && { value: output.value }
    facts.push(feedbackFact(state, moment.now, { source: 'validation', nodes: [id], ...value, issues }))
    const acted = policyFacts(state, moment, {
      kinds: ['onValidationFail'],
      node,
      values: () => knownValues(state, result.output?.value, node),
      ...(result.output && { fresh: result.output.value }),
      failure: () => nodeFailureAsk(state, node, { ...result, outcome: 'invalid' }),
    })
    facts.push(...acted)
    // The person who is asked decides what becomes of the node.
    if (acted.some(({ type }) => type === 'hitl_request')) return facts
  }
  return [...facts, ...nextFacts(state, moment, node)]
}

/** What follows a failure that has been reported: another attempt, else an ask, else the end of the node. */
export function nextFacts(state: RunState, moment: Moment, node: NodeState): NewEvent[] {
  const result = node.attempt?.result
  const again = result && nextTry(node, result)
  if (!again) return giveUp(state, moment, node)
  const { id } = node.node
  const timerId = `retry:${id}:${node.attempts}`
  const purpose = { kind: 'retry', nodeId: id, candidate: again.candidate } as const
  const dueAt = moment.now + again.waitMs
  return [factsFor(state, moment.now)('timer_set', { timerId, dueAt, purpose }, { nodeId: id })]
}

/** The next attempt: of the same capability as often as its retries allow, then of the next alternate. */
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

/** Without jitter: deciding is pure, and a replay decides the same. */
function backoff(baseMs: number, failures: number): number {
  return backoffMs(
    { max: failures + 1, baseMs, factor: 2, capMs: longestBackoffMs, jitter: 'none' },
    failures,
  )
}

function giveUp(state: RunState, moment: Moment, node: NodeState): NewEvent[] {
  const result = node.attempt?.result
  const ask = result && failureAskFacts(state, moment, node, result)
  if (ask === 'limit') return [unaskedFact(state, moment.now, node)]
  return ask ?? [errorFact(state, moment.now, node)]
}

/** The end of a node about which a person would have been asked, had the run not asked as often as it may. */
export function unaskedFact(state: RunState, now: number, node: NodeState): NewEvent {
  return endFact(state, now, { node, error: unaskedFailure(state, failureOf(state, node)) })
}

export function errorFact(state: RunState, now: number, node: NodeState): NewEvent {
  return endFact(state, now, { node, error: failureOf(state, node) })
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

/** Why the last attempt failed. */
function failureOf(state: RunState, node: NodeState): Failure {
  const result = node.attempt?.result
  const outcome = result?.outcome ?? 'provider_error'
  const first = result?.issues[0]
  // What the budget refused never came to a provider; an answer that is wrong stays wrong, though nothing is left to mend it.
  const spent = outcome === 'provider_error' && first?.code === 'budget/exhausted'
  const format = outcome === 'invalid' ? outputFormatOf(node.node.data) : undefined
  const declared = format && result && formatFailure(format, result)
  return {
    code: spent ? 'budget/exhausted' : `attempt/${outcome}`,
    message: declared?.message ?? first?.message ?? `The attempt ended with ${outcome}`,
    ...(result && result.issues.length > 0 && { issues: result.issues }),
    ...(declared && { details: { ...declared.details } }),
    ...(spent && { details: { ...usedUpWithin(state, node) } }),
    ...(first?.code === violationCode && { details: { error: 'SchemaViolation' } }),
  }
}
