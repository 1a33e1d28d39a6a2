/** Decides what follows an ended attempt, or the reply of a person about a node. Deterministic: the model has no part in it. */
import type { Json } from '../../base/json.ts'
import type { Ask } from '../../domain/ask.ts'
import { type DoubtfulCall, toAttemptRef } from '../../domain/attempt/call-key.ts'
import { raoError } from '../../domain/errors/error-envelope.ts'
import type { Failure, FailureOutcome, NewEvent } from '../../domain/event.ts'
import type { Output } from '../../domain/output.ts'
import { listNodeNames } from '../../domain/plan/node-summary.ts'
import type { Action } from '../../domain/policy.ts'
import {
  cut,
  findRaoContract,
  isRaoError,
  type RaoDecision,
  routeConfidence,
  type Thresholds,
} from '../../domain/rao/rao-contract.ts'
import { assembleInputs } from '../../domain/run/bound-values.ts'
import { decidesValue, refusal } from '../../domain/run/fold-replies.ts'
import { isDoomed } from '../../domain/run/iterations.ts'
import type { AskReply, NodeState, RunState } from '../../domain/run.ts'
import { getCandidate } from '../capabilities.ts'
import { type DecisionContext, factsFor } from '../events.ts'
import { isToContinue } from '../journal/run-head.ts'
import { errorFact, failureFacts, nextFacts, unaskedFact } from './after-failure.ts'
import { askFacts, askLimitFailure, unaskedFailure } from './ask/asks.ts'
import { failureAskFacts } from './ask/failure-asks.ts'
import { feedbackFor } from './ask/feedback.ts'
import { reopenFacts } from './ask/reopen.ts'
import { listProducers, usualRejectAction } from './ask/rework.ts'
import { toolAskFacts } from './ask/tool-asks.ts'
import { brokenConditions, shownConditions } from './checks/obligations.ts'
import { takeRoute } from './checks/routes.ts'
import { knownValues } from './checks/values.ts'
import { policyFacts } from './policies.ts'

export function judgeFacts(state: RunState, context: DecisionContext, node: NodeState): NewEvent[] {
  if (node.reply) return replyFacts(state, context, node, node.reply)
  const result = node.attempt?.result
  if (!result) return []
  const isOver = node.instance !== undefined && isDoomed(state, node)
  if (state.cancel || state.failing || isOver) return [errorFact(state, context.now, node)]
  if (result.interrupted && state.fatal.size > 0 && !isToContinue(state))
    return [errorFact(state, context.now, node)]
  if (result.outcome === 'outcome_unknown' && !result.notApplied && !node.attempt?.idempotent)
    return (
      unknownFacts(state, context, node, { inputs: node.attempt?.inputs ?? null }) ?? [
        unaskedFact(state, context.now, node),
      ]
    )
  if (result.outcome === 'unclear')
    return toolFacts(state, context, node) ?? clarifyFacts(state, context, node)
  if (result.outcome !== 'ok' || !result.output) return failureFacts(state, context, node)
  const failed = withBrokenConditions(state, node)
  if (failed === node) return routeFacts(state, context, node, result.output)
  return failureFacts(state, context, { ...failed, failures: node.failures + 1 })
}

/** A value that violates its conditions counts as invalid. */
export function withBrokenConditions(state: RunState, node: NodeState): NodeState {
  const { attempt } = node
  const result = attempt?.result
  if (!attempt || result?.outcome !== 'ok' || !result.output) return node
  const broken = brokenConditions(state, node, result.output.value, attempt.capabilityId)
  if (broken.length === 0) return node
  return { ...node, attempt: { ...attempt, result: { ...result, outcome: 'invalid', issues: broken } } }
}

/** Routes the output by its confidence contract: accept, human review, or suppress. */
function routeFacts(state: RunState, context: DecisionContext, node: NodeState, output: Output): NewEvent[] {
  const contract = findRaoContract(node.node, node.attempt?.capabilityId ?? getCandidate(node))
  if (contract !== undefined) {
    if (isRaoError(contract))
      return [
        nodeError(state, context, node, {
          outcome: 'rejected',
          code: 'rao/contract',
          message: contract.message,
          details: { ...raoError(contract).details, error: contract.error },
        }),
      ]
    const rao = decideRoute(contract.thresholds, output)
    const payload = { attempt: node.attempts, ...rao }
    const decided = factsFor(state, context.now)('rao_decision', payload, { nodeId: node.node.id })
    if (rao.decision === 'suppress') return [decided, ...suppressFacts(state, context, node, rao)]
    if (rao.decision === 'human_review') {
      const question = reviewQuestion(node, output)
      return [decided, ...approvalFacts(state, context, node, { output, question, rao })]
    }
    return [decided, ...approvedFacts(state, context, node, { output })]
  }
  return approvedFacts(state, context, node, { output })
}

/** A missing confidence leads to human review, the most careful route. */
export function decideRoute(thresholds: Thresholds, output: Output): RaoDecision {
  const { confidence = null, confidenceType = null, escalate = true, reasoning } = output
  return {
    thresholds,
    confidence,
    type: confidenceType,
    escalate,
    decision: confidence === null ? 'human_review' : routeConfidence(thresholds, confidence, escalate),
    ...(reasoning !== undefined && { reasoning }),
  }
}

/** Shows the reviewer the confidence, whether the model escalated, and its reasoning. */
function reviewQuestion({ node }: NodeState, { confidence, escalate, reasoning }: Output): string {
  const sure = confidence === undefined ? 'No confidence was reported' : `Confidence ${confidence}`
  const why = reasoning === undefined ? '' : `. Reasoning: ${cut(reasoning)}`
  return `Approve the output of "${node.label ?? node.id}"? ${sure}${escalate ? ', escalated' : ''}${why}`
}

/** Completes the node, or asks for approval first where the caller requires it: for calls, iterations and routes. */
export function approvedFacts(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  done: { readonly output: Output; readonly chosen?: readonly string[] },
): NewEvent[] {
  if (!asksFor(state, node)) return completeFacts(state, context, node, done)
  const { label, id } = node.node
  const targets = done.chosen?.map((target) => `"${state.nodes.get(target)?.node.label ?? target}"`)
  return approvalFacts(state, context, node, {
    output: done.output,
    question: targets
      ? `Approve the route of "${label ?? id}" to ${targets.join(' and ')}?`
      : `Approve the output of "${label ?? id}"?`,
    rejectAction: usualRejectAction(state),
  })
}

/** Whether the caller requires approval of this node (`hitlRequiredFor`). */
export function asksFor(state: RunState, node: Pick<NodeState, 'node'>): boolean {
  const labels = state.envelope.policies.planner.directives?.hitlRequiredFor
  return Array.isArray(labels) && listNodeNames(node.node).some((name) => labels.includes(name))
}

function approvalFacts(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  shown: {
    readonly output: Output
    readonly question: string
    readonly rao?: RaoDecision
    readonly rejectAction?: Action
  },
): NewEvent[] {
  const { id, label, contracts } = node.node
  const { output, question, rao, rejectAction } = shown
  const producers = listProducers(state, node)
  const feedback = feedbackFor(state, id, ...producers)
  const ask = askFacts(state, context, {
    kind: 'approval',
    nodeId: id,
    question,
    value: output.value,
    schema: contracts.output,
    ...shownConditions(node.node),
    producers,
    ...(rao && { rao }),
    ...(rejectAction && { rejectAction }),
    ...(feedback.length > 0 && { feedback }),
  })
  if (ask !== 'limit') return ask
  const failure = askLimitFailure(state, `the output of "${label ?? id}" needs approval`)
  return [nodeError(state, context, node, { outcome: 'rejected', ...failure })]
}

/** Asks about the calls of an agent that has ended its attempt for that; nothing if it has no such calls. */
function toolFacts(state: RunState, context: DecisionContext, node: NodeState): NewEvent[] | undefined {
  const ask = toolAskFacts(state, context, node)
  if (ask !== 'limit') return ask
  const failure = askLimitFailure(
    state,
    `a tool call of "${node.node.label ?? node.node.id}" needs a decision`,
    'tool',
  )
  return [nodeError(state, context, node, { outcome: 'rejected', ...failure })]
}

/** Maximum number of clarifying questions per node before it fails. */
const maxQuestions = 3

/**
 * Asks a clarifying question; the capability is called again with the answer. Fails the node if it, or the run, has
 * reached its limit of asks.
 */
function clarifyFacts(state: RunState, context: DecisionContext, node: NodeState): NewEvent[] {
  const { attempt, questions } = node
  const { text, schema } = attempt?.result?.question ?? { text: 'More information is needed' }
  const tooMany = questions > maxQuestions
  const ask = tooMany
    ? 'limit'
    : askFacts(state, context, {
        kind: 'clarify',
        nodeId: node.node.id,
        // Names the node that asks: the text may be untrusted.
        question: `"${node.node.label ?? node.node.id}" asks: ${text}`,
        value: attempt?.inputs ?? null,
        ...(schema !== undefined && { schema }),
      })
  if (ask !== 'limit') return ask
  const failure: Failure = tooMany
    ? {
        code: 'ask/limit',
        message: `"${node.node.id}" has asked ${maxQuestions} questions, which is the limit, and still asks: ${text}`,
      }
    : askLimitFailure(state, `"${node.node.id}" asks: ${text}`)
  return [nodeError(state, context, node, { outcome: 'rejected', ...failure })]
}

/** Drops the output, even if a person is asked about the failure. */
function suppressFacts(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  rao: RaoDecision,
): NewEvent[] {
  const code = 'rao/suppressed'
  const message = `The output was suppressed: confidence ${rao.confidence} is too low`
  const issues = [{ code, at: { pointer: '' }, message }]
  const ask = failureAskFacts(state, context, node, { outcome: 'suppressed', issues, rao })
  if (ask !== undefined && ask !== 'limit') return ask
  const failure: Failure = { code, message }
  const error = ask === 'limit' ? unaskedFailure(state, failure) : failure
  return [nodeError(state, context, node, { outcome: 'suppressed', ...error })]
}

/**
 * Asks whether to repeat a call that may have taken effect, which only a person can decide; returns nothing at the limit
 * of asks.
 */
export function unknownFacts(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  about: { readonly inputs: Json; readonly earlier?: DoubtfulCall | undefined },
): NewEvent[] | undefined {
  const { inputs, earlier } = about
  const { id, label, contracts } = node.node
  const ask = askFacts(state, context, {
    kind: 'unknown_outcome',
    nodeId: id,
    question: `"${label ?? id}" ${doubtIn(id, node.unsure ?? earlier)}: approve to do it again, or give its result`,
    value: inputs,
    schema: contracts.output,
    ...shownConditions(node.node),
    ...(earlier && { continues: toAttemptRef(earlier) }),
  })
  return ask === 'limit' ? undefined : ask
}

/** Describes a call in doubt for the question. */
function doubtIn(nodeId: string, call: DoubtfulCall | undefined): string {
  const what =
    call?.outcome === 'ok' ? 'was done before' : 'did not come to its end and may have taken effect'
  return call === undefined || call.nodeId === nodeId
    ? what
    : `makes the call of "${call.nodeId}" under plan ${call.planVersion} again, which ${what}`
}

/** Applies a reply: the value was approved, edited or submitted, or the ask was rejected. */
function replyFacts(state: RunState, context: DecisionContext, node: NodeState, reply: AskReply): NewEvent[] {
  const ask = state.asks.get(reply.requestId)
  const { id, routing } = node.node
  if (reply.action?.type === 'retry') {
    // The producers of a routing node have completed: other nodes that read them may still be running.
    if (routing && state.running.size > 0) return []
    const nodes = routing ? (ask?.producers ?? []) : [id]
    return reopenFacts(state, context.now, { requestId: reply.requestId, nodes })
  }
  if (ask?.policyId !== undefined && !decidesValue(reply)) return undecidedFacts(state, context, node, ask)
  const alternate =
    ask && !state.cancel && !state.failing ? alternateFact(state, context, node, ask) : undefined
  if (alternate) return [alternate]
  if (reply.decision === 'reject' || reply.decision === 'expired')
    return [
      nodeError(state, context, node, { outcome: 'rejected', code: 'ask/rejected', message: refusal(reply) }),
    ]
  if (routing) return routedFacts(state, context, node, reply)
  // A map or a loop has no attempt: its output is the shown value.
  const own = node.iterations ? { value: ask?.value ?? null } : node.attempt?.result?.output
  // A value from a person is never degraded, even if it replaces a degraded one.
  const { degraded: _, ...rest } = own ?? {}
  const output: Output | undefined = reply.value === undefined ? own : { ...rest, value: reply.value }
  if (output === undefined) return [errorFact(state, context.now, node)]
  return completeFacts(state, context, node, { output, person: reply.by })
}

/** A task that no one has done passes to the next alternate: every assignee declined it, or its time was over. */
function alternateFact(
  state: RunState,
  { now }: DecisionContext,
  node: NodeState,
  { kind, assignment }: Ask,
): NewEvent | undefined {
  const { id, alternates = [] } = node.node
  const isUndone = node.reply?.decision === 'expired' || assignment?.isDeclined === true
  const candidate = node.candidate + 1
  if (kind !== 'task' || !isUndone || candidate > alternates.length) return undefined
  const timerId = `retry:${id}:${node.attempts}:${candidate}`
  const purpose = { kind: 'retry', nodeId: id, candidate } as const
  return factsFor(state, now)('timer_set', { timerId, dueAt: now, purpose }, { nodeId: id })
}

/** Takes the approved route; or the one that the conditions choose for the value in the reply. */
function routedFacts(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  reply: AskReply,
): NewEvent[] {
  const inputs = reply.value ?? assembleInputs(state, node.node.inputs)
  const taken = takeRoute(node, inputs)
  if (!taken) return [errorFact(state, context.now, node)]
  const { value, chosen } = taken
  return completeFacts(state, context, node, { output: { value }, chosen, person: reply.by })
}

/** The output of a map or a loop does not satisfy its contract: asks a person if node or envelope request it. */
export function unmetFacts(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  { value, issues = [] }: Pick<Ask, 'value' | 'issues'>,
): NewEvent[] {
  const ask = failureAskFacts(state, context, node, { outcome: 'invalid', output: { value }, issues })
  if (ask !== undefined && ask !== 'limit') return ask
  const message = `The output of "${node.node.id}" does not satisfy its contract: ${issues[0]?.message ?? ''}`
  const failure: Failure = { code: 'attempt/invalid', message, issues }
  const error = ask === 'limit' ? unaskedFailure(state, failure) : failure
  return [nodeError(state, context, node, { outcome: 'invalid', ...error })]
}

/** A policy's reply lets the run continue without deciding the value: does what would have followed without the ask. */
function undecidedFacts(state: RunState, context: DecisionContext, node: NodeState, ask: Ask): NewEvent[] {
  // A map or a loop has no attempt to repeat.
  if (node.iterations) return unmetFacts(state, context, node, ask)
  return nextFacts(state, context, withBrokenConditions(state, node))
}

function completeFacts(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  done: { readonly output: Output; readonly person?: string; readonly chosen?: readonly string[] },
): NewEvent[] {
  const { output, person, chosen } = done
  const { raw: _evidence, ...kept } = output
  const capabilityId = getCandidate(node)
  const complete = factsFor(state, context.now)(
    'node_complete',
    {
      output: kept,
      // A late result may belong to an attempt under an earlier plan.
      attempt: node.attempt?.attempt ?? node.attempts,
      ...(capabilityId !== '' && { capabilityId }),
      ...(chosen && { chosen }),
      ...(person !== undefined && { person }),
      facetProvenance: node.node.facetProvenance,
    },
    { nodeId: node.node.id },
  )
  const triggered = policyFacts(state, context, {
    kinds: ['onNodeComplete', 'onMetricBelow'],
    node,
    values: () => knownValues(state, output.value, node),
    fresh: output.value,
    metrics: { confidence: output.confidence },
  })
  return [complete, ...triggered]
}

export function nodeError(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  why: {
    readonly outcome: FailureOutcome
  } & Failure,
): NewEvent {
  const { outcome, ...error } = why
  return factsFor(state, context.now)(
    'node_error',
    { attempt: node.attempts, outcome, error },
    { nodeId: node.node.id },
  )
}
