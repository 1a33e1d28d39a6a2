/** Decides what follows a failed attempt, in this order: retry, alternate capability, fail edge, ask, fail the node. */
import { backoffMs } from '../base/retry.ts'
import type { Failure, FailureOutcome, NewEvent } from '../domain/event.ts'
import type { AttemptResult, Outcome } from '../domain/output.ts'
import { formatFailure, outputFormatOf } from '../domain/output-format.ts'
import { violationCode } from '../domain/rao-error.ts'
import type { NodeState, RunState } from '../domain/run.ts'
import { compileSchema } from '../schema/compile.ts'
import { afterAsks, askFacts, type WantedAsk } from './asks.ts'
import { factsFor, type Moment } from './fact.ts'
import { feedbackFact, feedbackFor } from './feedback.ts'
import { brokenConditions } from './obligations.ts'
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
/** The attempt has tried as often as it may, with pauses: the next alternate is called instead. */
const triedEnough: ReadonlySet<Outcome> = new Set(['throttled', 'unavailable'])

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
    facts.push(
      ...policyFacts(state, moment, {
        kinds: ['onValidationFail'],
        node,
        values: () => knownValues(state, result.output?.value, node),
        ...(result.output && { fresh: result.output.value }),
      }),
    )
  }
  const again = nextTry(node, result)
  if (again) {
    const timerId = `retry:${id}:${node.attempts}`
    const purpose = { kind: 'retry', nodeId: id, candidate: again.candidate } as const
    return [
      ...facts,
      make('timer_set', { timerId, dueAt: moment.now + again.waitMs, purpose }, { nodeId: id }),
    ]
  }
  return [...facts, ...giveUp(afterAsks(state, facts), moment, node)]
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
  return ask ?? [errorFact(state, moment.now, node)]
}

/** What a person is shown of a failure; an output that was suppressed is not part of it. */
type ShownFailure = Pick<AttemptResult, 'output' | 'issues'> & { readonly outcome: FailureOutcome }

/** Asks a person about a failure, where node or envelope say so, no edge catches it and the run may still ask. */
export function failureAskFacts(
  state: RunState,
  moment: Moment,
  node: NodeState,
  failure: ShownFailure,
): NewEvent[] | undefined {
  const hasFallback = (state.outgoing.get(node.node.id) ?? []).some((edge) => edge.when !== 'pass')
  const onFail = node.node.onFail ?? state.envelope.policies.onNodeFail
  if (onFail !== 'ask' || hasFallback) return undefined
  const ask = askFacts(state, moment, failureAsk(state, node, failure))
  return ask === 'limit' ? undefined : ask
}

/** Shows what came of the last attempt. It can be approved only where the shown value satisfies the contract. */
function failureAsk(state: RunState, node: NodeState, { outcome, output, issues }: ShownFailure): WantedAsk {
  const { id, label, contracts, postConditions } = node.node
  const value = output?.value ?? null
  const isUsable =
    output !== undefined &&
    compileSchema(contracts.output).accepts(value) &&
    brokenConditions(state, node, value).length === 0
  const feedback = feedbackFor(state, id)
  return {
    kind: 'failure',
    nodeId: id,
    question: `"${label ?? id}" failed (${outcome}): give its value, or reject with rejectAction "retry" to try again`,
    value,
    schema: contracts.output,
    ...(postConditions.length > 0 && { conditions: postConditions }),
    issues,
    ...(output?.raw !== undefined && { raw: output.raw }),
    decisions: isUsable ? ['approve', 'edit', 'answer', 'reject'] : ['edit', 'answer', 'reject'],
    producers: [id],
    ...(feedback.length > 0 && { feedback }),
  }
}

export function errorFact(state: RunState, now: number, node: NodeState): NewEvent {
  const result = node.attempt?.result
  const outcome = result?.outcome ?? 'provider_error'
  const first = result?.issues[0]
  // What the budget refused never came to a provider; an answer that is wrong stays wrong, though nothing is left to mend it.
  const spent = outcome === 'provider_error' && first?.code === 'budget/exhausted'
  const format = outcome === 'invalid' ? outputFormatOf(node.node.data) : undefined
  const declared = format && result && formatFailure(format, result)
  const error: Failure = {
    code: spent ? 'budget/exhausted' : `attempt/${outcome}`,
    message: declared?.message ?? first?.message ?? `The attempt ended with ${outcome}`,
    ...(result && result.issues.length > 0 && { issues: result.issues }),
    ...(declared && { details: { ...declared.details } }),
    ...(spent && { details: { ...usedUpWithin(state, node) } }),
    ...(first?.code === violationCode && { details: { error: 'SchemaViolation' } }),
  }
  return factsFor(state, now)(
    'node_error',
    { attempt: node.attempts, outcome, error },
    { nodeId: node.node.id },
  )
}
