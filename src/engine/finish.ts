/** The end of a run: the answer put together from what the nodes gave, checked once more against the caller's contract. */
import type { Issue } from '../base/issue.ts'
import { type Json, setOwn } from '../base/json.ts'
import { child } from '../base/pointer.ts'
import { findValue } from '../domain/bound-values.ts'
import { refOf } from '../domain/call-key.ts'
import type { EventPayloads, Failure, NewEvent, Provenance } from '../domain/event.ts'
import { unaccountedCalls } from '../domain/fold-doubts.ts'
import { refusal } from '../domain/fold-replies.ts'
import type { PlanNode, Source } from '../domain/plan.ts'
import { notesAbout } from '../domain/repair-notes.ts'
import type { AskReply, RunState } from '../domain/run.ts'
import { askFacts, askLimitFailure, expireFact } from './asks.ts'
import { factsFor, type Moment } from './fact.ts'
import { answerFailureAsk } from './failure-asks.ts'
import { feedbackFact, feedbackFor } from './feedback.ts'
import { finalAskOpen } from './head.ts'
import { checkAnswer, degradedNodes } from './obligations.ts'
import { policyFacts } from './policies.ts'
import { producingNodes, reopenFacts, usualRejectAction } from './rework.ts'
import { knownValues } from './values.ts'

/** Everything is settled: the answer, or what keeps it from being one. */
export function finishFacts(state: RunState, moment: Moment): NewEvent[] {
  const composed = compose(state)
  const reply = state.finalReply
  if (reply?.decision === 'reject' || reply?.decision === 'expired')
    return rejectedFacts(state, moment, reply)
  const output = reply?.value === undefined ? composed.output : reply.value
  const verdict = checkAnswer(state, output)
  const issues = [...(reply?.value === undefined ? composed.issues : []), ...verdict.issues]
  if (issues.length > 0)
    return unmetFacts(state, moment, { output, issues, satisfaction: verdict.satisfaction })
  const low = reply ? [] : satisfactionFacts(state, moment, verdict.satisfaction)
  if (low.length > 0) return low
  if (!reply && asksAtTheEnd(state)) return askFinal(state, moment, output)
  const degraded = degradedNodes(state)
  return endFacts(state, moment.now, {
    status: 'completed',
    output,
    provenance: provenanceWith(composed.provenance, reply),
    observedSatisfaction: verdict.satisfaction,
    ...(degraded.length > 0 && { degraded }),
  })
}

/** The answer was rejected: its producing nodes run again, or the run ends. (A new plan is requested before this is asked.) */
function rejectedFacts(state: RunState, moment: Moment, reply: AskReply): NewEvent[] {
  const { requestId, action } = reply
  const nodes = state.asks.get(requestId)?.producers ?? []
  if (action?.type === 'retry') return reopenFacts(state, moment.now, { requestId, nodes })
  return endFacts(state, moment.now, {
    status: 'failed',
    error: { code: 'ask/rejected', message: refusal(reply) },
  })
}

/** The caller wants to approve the answer, or something that no node of the plan is (DECISIONS 19). */
function asksAtTheEnd({ envelope, plan }: RunState): boolean {
  const { askBeforeFinish, hitlRequiredFor } = envelope.policies.planner.directives ?? {}
  if (askBeforeFinish === true) return true
  const names = new Set(namesIn(plan?.nodes ?? []))
  return Array.isArray(hitlRequiredFor) && hitlRequiredFor.some((label) => !names.has(String(label)))
}

/** What the nodes at which a person can be asked are called. A map or a loop asks nobody: its nodes do. */
function namesIn(nodes: readonly PlanNode[]): readonly (string | undefined)[] {
  return nodes.flatMap(({ id, label, kind, capabilityId, body }) =>
    body ? namesIn(body.nodes) : [id, label, kind, capabilityId],
  )
}

/** A policy on low satisfaction acts once under each plan: a person who said that the run may go on is not asked again. */
function satisfactionFacts(state: RunState, moment: Moment, satisfaction: number): NewEvent[] {
  if (state.answerJudged === state.planVersion) return []
  return policyFacts(state, moment, {
    kinds: ['onMetricBelow'],
    values: () => knownValues(state),
    metrics: { satisfaction },
  })
}

function askFinal(state: RunState, moment: Moment, output: Json): NewEvent[] {
  if (finalAskOpen(state)) return []
  const producers = producingNodes(state)
  const feedback = feedbackFor(state, ...producers)
  const ask = askFacts(state, moment, {
    kind: 'final',
    question: 'Approve the answer?',
    value: output,
    schema: state.envelope.outputContract.schema,
    producers,
    rejectAction: usualRejectAction(state),
    ...(feedback.length > 0 && { feedback }),
  })
  if (ask !== 'limit') return ask
  return endFacts(state, moment.now, {
    status: 'failed',
    error: askLimitFailure(state, 'the answer needs approval'),
  })
}

/**
 * A contract that is not met: what a policy says, once under each plan and after each rework (it may do better), else the
 * end with the account of why. Nobody can wave it through; a person who is asked can give another answer.
 */
function unmetFacts(
  state: RunState,
  moment: Moment,
  unmet: { output: Json; issues: readonly Issue[]; satisfaction: number },
): NewEvent[] {
  const { output, issues } = unmet
  const error: Failure = {
    code: 'contract/unmet',
    message: `The answer does not satisfy the contract: ${issues[0]?.message ?? ''}`,
    issues,
  }
  const end = { status: 'failed', error, observedSatisfaction: unmet.satisfaction } as const
  if (state.answerJudged === state.planVersion) return endFacts(state, moment.now, end)
  const told = [
    factsFor(state, moment.now)('validation_error', { scope: 'output', errors: issues }),
    feedbackFact(state, moment.now, {
      source: 'goal',
      nodes: producingNodes(state, issues),
      value: output,
      issues,
    }),
  ]
  const acted = policyFacts(state, moment, {
    kinds: ['onValidationFail'],
    values: () => knownValues(state, output),
    fresh: output,
    failure: () => answerFailureAsk(state, output, issues),
  })
  return [...told, ...(acted.length > 0 ? acted : endFacts(state, moment.now, end))]
}

/** The last event, after every ask that is still open has been taken back. */
export function endFacts(state: RunState, now: number, payload: EventPayloads['complete']): NewEvent[] {
  const { budget } = state
  const { calls, tokens, inputTokens, costUsd } = budget
  // What nobody has told the cost of did not cost nothing.
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
    ...refOf(call),
    ...{ capabilityId, idempotencyKey, outcome },
  }))
  const doubts = inDoubt.length > 0 ? { inDoubt } : {}
  return [...facts, factsFor(state, now)('complete', { ...payload, ...doubts, usage })]
}

/** Who approved the whole answer stands on every part of it, beside who answers for the part; who wrote it stands alone. */
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

/** The answer as the plan says where it comes from. */
export function compose(state: RunState): Composed {
  const binding = state.plan?.output ?? []
  const provenance: Provenance[] = []
  const take = (sources: readonly Source[], pointer: string): Json | undefined => {
    const found = findValue(state, sources)
    if (found) provenance.push(provenanceOf(state, found.source, pointer))
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

function provenanceOf(state: RunState, source: Source, pointer: string): Provenance {
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
