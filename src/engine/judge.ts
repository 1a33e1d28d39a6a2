/** What becomes of an attempt that has ended, or of a node that a person has spoken about. Never decided by the model. */
import type { Json } from '../base/json.ts'
import type { Ask } from '../domain/ask.ts'
import { type DoubtfulCall, refOf } from '../domain/call-key.ts'
import { raoError } from '../domain/error-envelope.ts'
import type { Failure, FailureOutcome, NewEvent } from '../domain/event.ts'
import { decidesValue, refusal } from '../domain/fold-replies.ts'
import { isDoomed } from '../domain/iterations.ts'
import type { Output } from '../domain/output.ts'
import type { Action } from '../domain/policy.ts'
import { findRaoContract } from '../domain/rao/effective.ts'
import { isRaoError, type RaoDecision, routeConfidence, type Thresholds } from '../domain/rao.ts'
import { cut } from '../domain/rao-error.ts'
import type { AskReply, NodeState, RunState } from '../domain/run.ts'
import { askFacts, askLimitFailure, unaskedFailure } from './asks.ts'
import { factsFor, type Moment } from './fact.ts'
import { failureAskFacts } from './failure-asks.ts'
import { feedbackFor } from './feedback.ts'
import { isToGoOn } from './head.ts'
import { errorFact, failureFacts, nextFacts, unaskedFact } from './ladder.ts'
import { candidateOf } from './missing.ts'
import { brokenConditions } from './obligations.ts'
import { policyFacts } from './policies.ts'
import { reopenFacts, usualRejectAction } from './rework.ts'
import { knownValues } from './values.ts'

export function judgeFacts(state: RunState, moment: Moment, node: NodeState): NewEvent[] {
  if (node.reply) return replyFacts(state, moment, node, node.reply)
  const result = node.attempt?.result
  if (!result) return []
  if (state.cancel || state.failing || isDoomed(state, node)) return [errorFact(state, moment.now, node)]
  if (result.interrupted && state.fatal.size > 0 && !isToGoOn(state))
    return [errorFact(state, moment.now, node)]
  if (result.outcome === 'outcome_unknown' && !result.notApplied && !node.attempt?.idempotent)
    return (
      unknownFacts(state, moment, node, { inputs: node.attempt?.inputs ?? null }) ?? [
        unaskedFact(state, moment.now, node),
      ]
    )
  if (result.outcome === 'unclear') return clarifyFacts(state, moment, node)
  if (result.outcome !== 'ok' || !result.output) return failureFacts(state, moment, node)
  const failed = withBrokenConditions(state, node)
  if (failed === node) return routeFacts(state, moment, node, result.output)
  return failureFacts(state, moment, { ...failed, failures: node.failures + 1 })
}

/** A value that its conditions do not hold for counts as invalid. */
function withBrokenConditions(state: RunState, node: NodeState): NodeState {
  const { attempt } = node
  const result = attempt?.result
  if (!attempt || result?.outcome !== 'ok' || !result.output) return node
  const broken = brokenConditions(state, node, result.output.value)
  if (broken.length === 0) return node
  return { ...node, attempt: { ...attempt, result: { ...result, outcome: 'invalid', issues: broken } } }
}

/** By the contract that the answer is under: on, to a person, or suppressed. */
function routeFacts(state: RunState, moment: Moment, node: NodeState, output: Output): NewEvent[] {
  const contract = findRaoContract(node.node, node.attempt?.capabilityId ?? candidateOf(node))
  if (contract !== undefined) {
    if (isRaoError(contract))
      return [
        nodeError(state, moment, node, {
          outcome: 'rejected',
          code: 'rao/contract',
          message: contract.message,
          details: { ...raoError(contract).details, error: contract.error },
        }),
      ]
    const rao = decideRoute(contract.thresholds, output)
    const payload = { attempt: node.attempts, ...rao }
    const decided = factsFor(state, moment.now)('rao_decision', payload, { nodeId: node.node.id })
    if (rao.decision === 'suppress') return [decided, ...suppressFacts(state, moment, node, rao)]
    if (rao.decision === 'human_review') {
      const question = reviewQuestion(node, output)
      return [decided, ...approvalFacts(state, moment, node, { output, question, rao })]
    }
    return [decided, ...approvedFacts(state, moment, node, output)]
  }
  return approvedFacts(state, moment, node, output)
}

/** No confidence where one is due can only mean the most careful way. */
function decideRoute(thresholds: Thresholds, output: Output): RaoDecision {
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

/** What a reviewer has to know: the confidence, whether the model escalated, and its reasoning. */
function reviewQuestion({ node }: NodeState, { confidence, escalate, reasoning }: Output): string {
  const sure = confidence === undefined ? 'No confidence was reported' : `Confidence ${confidence}`
  const why = reasoning === undefined ? '' : `. Reasoning: ${cut(reasoning)}`
  return `Approve the output of "${node.label ?? node.id}"? ${sure}${escalate ? ', escalated' : ''}${why}`
}

/** Completes the node, or asks first where the caller wants a person at it. */
function approvedFacts(state: RunState, moment: Moment, node: NodeState, output: Output): NewEvent[] {
  if (asksFor(state, node))
    return approvalFacts(state, moment, node, {
      output,
      question: `Approve the output of "${node.node.label ?? node.node.id}"?`,
      rejectAction: usualRejectAction(state),
    })
  return completeFacts(state, moment, node, { output })
}

/** The caller asked for a person at this node (`hitlRequiredFor`: its id, label, kind or capability). */
function asksFor(state: RunState, node: NodeState): boolean {
  const labels = state.envelope.policies.planner.directives?.hitlRequiredFor
  if (!Array.isArray(labels)) return false
  const { id, bodyId, label, kind, capabilityId } = node.node
  return [id, bodyId, label, kind, capabilityId].some((name) => name !== undefined && labels.includes(name))
}

function approvalFacts(
  state: RunState,
  moment: Moment,
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
  const feedback = feedbackFor(state, id)
  const ask = askFacts(state, moment, {
    kind: 'approval',
    nodeId: id,
    question,
    value: output.value,
    schema: contracts.output,
    producers: [id],
    ...(rao && { rao }),
    ...(rejectAction && { rejectAction }),
    ...(feedback.length > 0 && { feedback }),
  })
  if (ask !== 'limit') return ask
  const failure = askLimitFailure(state, `the output of "${label ?? id}" needs approval`)
  return [nodeError(state, moment, node, { outcome: 'rejected', ...failure })]
}

/** How many questions a node may ask before it is given up. */
const maxQuestions = 3

/** It is called again with the answer; who keeps asking is given up, and so is who asks when the run has asked enough. */
function clarifyFacts(state: RunState, moment: Moment, node: NodeState): NewEvent[] {
  const { attempt, questions } = node
  const { text, schema } = attempt?.result?.question ?? { text: 'It needs to be told more' }
  const tooMany = questions > maxQuestions
  const ask = tooMany
    ? 'limit'
    : askFacts(state, moment, {
        kind: 'clarify',
        nodeId: node.node.id,
        // Who asks is said, too: the words may be a stranger's.
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
  return [nodeError(state, moment, node, { outcome: 'rejected', ...failure })]
}

/** The output is dropped, also where a person is asked about the failure. */
function suppressFacts(state: RunState, moment: Moment, node: NodeState, rao: RaoDecision): NewEvent[] {
  const code = 'rao/suppressed'
  const message = `The output was suppressed: confidence ${rao.confidence} is too low`
  const issues = [{ code, at: { pointer: '' }, message }]
  const ask = failureAskFacts(state, moment, node, { outcome: 'suppressed', issues, rao })
  if (ask !== undefined && ask !== 'limit') return ask
  const failure: Failure = { code, message }
  const error = ask === 'limit' ? unaskedFailure(state, failure) : failure
  return [nodeError(state, moment, node, { outcome: 'suppressed', ...error })]
}

/** Only a person can say whether what may have taken effect is done again; nothing if the run has asked enough. */
export function unknownFacts(
  state: RunState,
  moment: Moment,
  node: NodeState,
  about: { readonly inputs: Json; readonly earlier?: DoubtfulCall | undefined },
): NewEvent[] | undefined {
  const { inputs, earlier } = about
  const { id, label, contracts } = node.node
  const ask = askFacts(state, moment, {
    kind: 'unknown_outcome',
    nodeId: id,
    question: `"${label ?? id}" ${doubtIn(id, node.unsure ?? earlier)}: approve to do it again, or give its result`,
    value: inputs,
    schema: contracts.output,
    ...(earlier && { continues: refOf(earlier) }),
  })
  return ask === 'limit' ? undefined : ask
}

/** What a person is told of a call in doubt. */
function doubtIn(nodeId: string, call: DoubtfulCall | undefined): string {
  const what =
    call?.outcome === 'ok' ? 'was done before' : 'did not come to its end and may have taken effect'
  return call === undefined || call.nodeId === nodeId
    ? what
    : `makes the call of "${call.nodeId}" under plan ${call.planVersion} again, which ${what}`
}

/** A person approved, edited or gave the value; or refused. */
function replyFacts(state: RunState, moment: Moment, node: NodeState, reply: AskReply): NewEvent[] {
  if (reply.action?.type === 'retry')
    return reopenFacts(state, moment.now, { requestId: reply.requestId, nodes: [node.node.id] })
  const ask = state.asks.get(reply.requestId)
  if (ask?.policyId !== undefined && !decidesValue(reply)) return undecidedFacts(state, moment, node, ask)
  if (reply.decision === 'reject' || reply.decision === 'expired')
    return [
      nodeError(state, moment, node, { outcome: 'rejected', code: 'ask/rejected', message: refusal(reply) }),
    ]
  const own = node.attempt?.result?.output
  // What a person gives is an answer, whatever it replaces.
  const { degraded: _, ...rest } = own ?? {}
  const output: Output | undefined = reply.value === undefined ? own : { ...rest, value: reply.value }
  if (output === undefined) return [errorFact(state, moment.now, node)]
  return completeFacts(state, moment, node, { output, person: reply.by })
}

/** The output of a map or a loop does not satisfy its contract: a person is asked where node or envelope say so. */
export function unmetFacts(
  state: RunState,
  moment: Moment,
  node: NodeState,
  { value, issues = [] }: Pick<Ask, 'value' | 'issues'>,
): NewEvent[] {
  const ask = failureAskFacts(state, moment, node, { outcome: 'invalid', output: { value }, issues })
  if (ask !== undefined && ask !== 'limit') return ask
  const message = `The output of "${node.node.id}" does not satisfy its contract: ${issues[0]?.message ?? ''}`
  const failure: Failure = { code: 'attempt/invalid', message, issues }
  const error = ask === 'limit' ? unaskedFailure(state, failure) : failure
  return [nodeError(state, moment, node, { outcome: 'invalid', ...error })]
}

/** A policy says that the run continues, and nobody has said which value counts: what would have followed without the ask. */
function undecidedFacts(state: RunState, moment: Moment, node: NodeState, ask: Ask): NewEvent[] {
  // A map or a loop has no attempt to repeat.
  if (node.iterations) return unmetFacts(state, moment, node, ask)
  return nextFacts(state, moment, withBrokenConditions(state, node))
}

export function completeFacts(
  state: RunState,
  moment: Moment,
  node: NodeState,
  done: { readonly output: Output; readonly person?: string; readonly chosen?: readonly string[] },
): NewEvent[] {
  const { output, person, chosen } = done
  const { raw: _evidence, ...kept } = output
  const capabilityId = candidateOf(node)
  const complete = factsFor(state, moment.now)(
    'node_complete',
    {
      output: kept,
      // A late result may be that of an attempt under an earlier plan.
      attempt: node.attempt?.attempt ?? node.attempts,
      ...(capabilityId !== '' && { capabilityId }),
      ...(chosen && { chosen }),
      ...(person !== undefined && { person }),
      facetProvenance: node.node.facetProvenance,
    },
    { nodeId: node.node.id },
  )
  const triggered = policyFacts(state, moment, {
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
  moment: Moment,
  node: NodeState,
  why: {
    readonly outcome: FailureOutcome
  } & Failure,
): NewEvent {
  const { outcome, ...error } = why
  return factsFor(state, moment.now)(
    'node_error',
    { attempt: node.attempts, outcome, error },
    { nodeId: node.node.id },
  )
}
