/** Finishes a run: composes the answer from the outputs of the nodes and checks it against the caller's contract. */
import type { Issue } from '../../base/errors/issue.ts'
import { type Json, setOwn } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import { toAttemptRef } from '../../domain/attempt/call-key.ts'
import type { EventPayloads, Failure, NewEvent, Provenance } from '../../domain/event.ts'
import { notesAbout } from '../../domain/output.ts'
import { namesIn } from '../../domain/plan/node-summary.ts'
import type { Source } from '../../domain/plan.ts'
import { findValue } from '../../domain/run/bound-values.ts'
import { refusal } from '../../domain/run/fold-replies.ts'
import { unaccountedCalls } from '../../domain/run/fold-uncertain-calls.ts'
import type { AskReply, RunState } from '../../domain/run.ts'
import { type DecisionContext, factsFor } from '../events.ts'
import { finalAskOpen } from '../journal/run-head.ts'
import { askFacts, askLimitFailure, expireFact } from './ask/asks.ts'
import { answerFailureAsk } from './ask/failure-asks.ts'
import { feedbackFact, feedbackFor } from './ask/feedback.ts'
import { reopenFacts } from './ask/reopen.ts'
import { producingNodes, usualRejectAction } from './ask/rework.ts'
import { answerConditions, checkAnswer, degradedNodes } from './checks/obligations.ts'
import { knownValues } from './checks/values.ts'
import { policyFacts } from './policies.ts'

/** Called when all nodes are settled: completes with the answer, or decides what follows if it cannot be accepted. */
export function finishFacts(state: RunState, context: DecisionContext): NewEvent[] {
  const composed = compose(state)
  const reply = state.finalReply
  if (reply?.decision === 'reject' || reply?.decision === 'expired')
    return rejectedFacts(state, context, reply)
  const output = reply?.value === undefined ? composed.output : reply.value
  const verdict = checkAnswer(state, output)
  const unmet = [...(reply?.value === undefined ? composed.issues : []), ...verdict.issues]
  const issues = unmet.length > 0 ? unmet : (context.refuseAnswer?.(state, output) ?? [])
  if (issues.length > 0)
    return unmetFacts(state, context, { output, issues, satisfaction: verdict.satisfaction })
  const low = reply ? [] : satisfactionFacts(state, context, verdict.satisfaction)
  if (low.length > 0) return low
  if (!reply && asksAtTheEnd(state)) return askFinal(state, context, output)
  const degraded = degradedNodes(state)
  return endFacts(state, context.now, {
    status: 'completed',
    output,
    provenance: provenanceWith(composed.provenance, reply),
    observedSatisfaction: verdict.satisfaction,
    ...(degraded.length > 0 && { degraded }),
  })
}

/** The answer was rejected: reopens its producing nodes, or ends the run. (A new plan is requested earlier.) */
function rejectedFacts(state: RunState, context: DecisionContext, reply: AskReply): NewEvent[] {
  const { requestId, action } = reply
  const nodes = state.asks.get(requestId)?.producers ?? []
  if (action?.type === 'retry') return reopenFacts(state, context.now, { requestId, nodes })
  return endFacts(state, context.now, {
    status: 'failed',
    error: { code: 'ask/rejected', message: refusal(reply) },
  })
}

/** Whether the caller requires approval of the answer, or of a label that no node of the plan has. */
function asksAtTheEnd({ envelope, plan }: RunState): boolean {
  const { askBeforeFinish, hitlRequiredFor } = envelope.policies.planner.directives ?? {}
  if (askBeforeFinish === true) return true
  if (!Array.isArray(hitlRequiredFor)) return false
  const names = namesIn(plan?.nodes ?? [])
  return hitlRequiredFor.some((label) => !names.has(String(label)))
}

/** A policy on low satisfaction acts once per plan: after approval by a person, the run continues without another ask. */
function satisfactionFacts(state: RunState, context: DecisionContext, satisfaction: number): NewEvent[] {
  if (state.answerJudged === state.planVersion) return []
  return policyFacts(state, context, {
    kinds: ['onMetricBelow'],
    values: () => knownValues(state),
    metrics: { satisfaction },
  })
}

function askFinal(state: RunState, context: DecisionContext, output: Json): NewEvent[] {
  if (finalAskOpen(state)) return []
  const producers = producingNodes(state)
  const feedback = feedbackFor(state, ...producers)
  const ask = askFacts(state, context, {
    kind: 'final',
    question: 'Approve the answer?',
    value: output,
    schema: state.envelope.outputContract.schema,
    ...answerConditions(state),
    producers,
    rejectAction: usualRejectAction(state),
    ...(feedback.length > 0 && { feedback }),
  })
  if (ask !== 'limit') return ask
  return endFacts(state, context.now, {
    status: 'failed',
    error: askLimitFailure(state, 'the answer needs approval'),
  })
}

/**
 * The contract is not met: applies a policy once per plan and after each rework (which may do better), else fails the run
 * with the reasons. An unmet contract cannot be approved; a person who is asked can submit another answer.
 */
function unmetFacts(
  state: RunState,
  context: DecisionContext,
  unmet: { output: Json; issues: readonly Issue[]; satisfaction: number },
): NewEvent[] {
  const { output, issues } = unmet
  const error: Failure = {
    code: 'contract/unmet',
    message: `The answer does not satisfy the contract: ${issues[0]?.message ?? ''}`,
    issues,
  }
  const end = { status: 'failed', error, observedSatisfaction: unmet.satisfaction } as const
  if (state.answerJudged === state.planVersion) return endFacts(state, context.now, end)
  const reported = [
    factsFor(state, context.now)('validation_error', { scope: 'output', errors: issues }),
    feedbackFact(state, context.now, {
      source: 'goal',
      nodes: producingNodes(state, issues),
      value: output,
      issues,
    }),
  ]
  const acted = policyFacts(state, context, {
    kinds: ['onValidationFail'],
    values: () => knownValues(state, output),
    fresh: output,
    failure: () => answerFailureAsk(state, output, issues),
  })
  return [...reported, ...(acted.length > 0 ? acted : endFacts(state, context.now, end))]
}

/** Emits the final event, after expiring all open asks. */
export function endFacts(state: RunState, now: number, payload: EventPayloads['complete']): NewEvent[] {
  const { budget } = state
  const { calls, tokens, inputTokens, costUsd } = budget
  // Omits the cost if none was reported: unknown is not zero.
  const cost = costUsd > 0 ? { costUsd } : {}
  const usage = { calls, inputTokens, outputTokens: tokens - inputTokens, ...cost }
  const facts: NewEvent[] = []
  let audit = state.audit
  for (const requestId of state.openAsks) {
    const event = expireFact({ ...state, audit }, now, { requestId, note: 'The run ended' })
    if (event.type === 'hitl_resolved') audit = event.payload.audit.hash
    facts.push(event)
  }
  const inDoubt = unaccountedCalls(state).map(({ capabilityId, idempotencyKey, outcome, ...call }) => ({
    ...toAttemptRef(call),
    ...{ capabilityId, idempotencyKey, outcome },
  }))
  const doubts = inDoubt.length > 0 ? { inDoubt } : {}
  const warnings = state.plan?.diagnostics.warnings ?? []
  return [...facts, factsFor(state, now)('complete', { ...payload, ...doubts, warnings, usage })]
}

/**
 * Approval of the whole answer is recorded on each part, beside the part's own provenance; an answer written by a person
 * has that person as its only source.
 */
function provenanceWith(parts: readonly Provenance[], reply: AskReply | undefined): readonly Provenance[] {
  if (reply === undefined) return parts
  if (reply.value !== undefined) return [{ pointer: '', person: reply.by }]
  return parts.map((part) => ({ ...part, approvedBy: reply.by }))
}

interface Composed {
  readonly output: Json
  readonly provenance: Provenance[]
  readonly issues: Issue[]
}

/** Composes the answer from the sources that the plan binds. */
function compose(state: RunState): Composed {
  const binding = state.plan?.output ?? []
  const provenance: Provenance[] = []
  const take = (sources: readonly Source[], pointer: string): Json | undefined => {
    const found = findValue(state, sources)
    if (found) provenance.push(findProvenance(state, found.source, pointer))
    return found?.value
  }
  if (!('properties' in binding)) {
    const output = take(binding, '')
    if (output !== undefined) return { output, provenance, issues: [] }
    const message = 'No node that was to give the answer has completed'
    return { output: null, provenance, issues: [{ code: 'output/missing', at: { pointer: '' }, message }] }
  }
  const output: { [property: string]: Json } = {}
  for (const [property, sources] of Object.entries(binding.properties)) {
    const value = take(sources, child('', property))
    if (value !== undefined) setOwn(output, property, value)
  }
  return { output, provenance, issues: [] }
}

function findProvenance(state: RunState, source: Source, pointer: string): Provenance {
  if (!('node' in source)) return { pointer }
  const node = state.nodes.get(source.node)
  const done = node?.completed
  const facet = node?.node.facetProvenance.output.find(
    (entry) => entry.pointer === (source.pointer ?? ''),
  )?.facet
  const repairs = notesAbout(done?.output.repairs ?? [], source.pointer ?? '')
  return {
    pointer,
    nodeId: source.node,
    ...(done?.capabilityId !== undefined && { capabilityId: done.capabilityId }),
    ...(done && { attempt: done.attempt }),
    ...(facet !== undefined && { facet }),
    ...(repairs.length > 0 && { repairs }),
    ...(done?.output.degraded && { degraded: true }),
    ...(done?.person !== undefined && { person: done.person }),
  }
}
