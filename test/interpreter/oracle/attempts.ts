/**
 * Decides what follows a call of a capability: retries, alternates, asks. From docs/reference/engine.md ("Retries and
 * failures", "Asks", "Rejections").
 */
import type { Answer, CaseNode, CasePolicy, Decision } from '../case.ts'
import {
  answerAt,
  capabilityId,
  computeOutput,
  decideEffect,
  decisionAt,
  editedOutput,
  refuses,
  unknownDecisionAt,
  type Values,
} from '../values.ts'
import type { Call, Decided, Log, NodeEnd, Scope } from './expected.ts'

/** Tries that one attempt may make while it is turned away. */
const mostTries = 5
/** Answers that one attempt may ask a model for. */
const callBudget = 4
/** Questions that one node may ask. */
const mostQuestions = 3
/** How often the same value is made again. */
const mostReworks = 3

interface Work {
  readonly scope: Scope
  readonly node: CaseNode
  readonly address: string
  /** What calls show of the inputs: a model's prompt is not read. */
  readonly inputs: Values
  readonly bound: Values
  /** A required input has no value: nothing is called. */
  readonly isLacking: boolean
  readonly isCaught: boolean
  /** Attempts that have ended, by candidate. */
  readonly ended: number[]
  readonly calls: Call[]
  readonly routes: Decided[]
  questions: number
  noted: boolean
  stalled: boolean
  failureAsks: number
  written: boolean
  doubts: number
  /** The policy on outputs that do not satisfy their contract; it acts once. */
  onInvalid: CasePolicy | undefined
  endedBy: string | undefined
}

/** How the capabilities of a node fare: a value, none, or a person who ends it. */
type Result =
  | { readonly kind: 'value'; readonly output: Values; readonly answer: Answer; readonly written?: true }
  | { readonly kind: 'failed' }
  | { readonly kind: 'ended' }
  | { readonly kind: 'again' }

export function attempt(
  scope: Scope,
  node: CaseNode,
  { inputs, isLacking, isCaught }: { inputs: Values; isLacking: boolean; isCaught: boolean },
): NodeEnd {
  const work: Work = {
    scope,
    node,
    address: `${scope.prefix}${node.id}`,
    inputs: node.executor === 'model' ? {} : inputs,
    bound: inputs,
    isLacking,
    isCaught,
    ended: node.scripts.map(() => 0),
    calls: [],
    routes: [],
    questions: 0,
    noted: false,
    stalled: false,
    failureAsks: 0,
    written: false,
    doubts: 0,
    onInvalid: scope.given.policies.find((policy) => policy.onInvalid && policy.nodeId === node.id),
    endedBy: undefined,
  }
  const output = settle(work)
  const log: Log = {
    calls: work.calls,
    routes: work.routes,
    noted: work.noted ? [work.address] : [],
    stalled: work.stalled,
    ...(work.endedBy !== undefined && { endedBy: work.endedBy }),
  }
  if (output === undefined) return { ...log, status: 'failed' }
  return { ...log, status: 'completed', output, ...(work.written && { written: true }) }
}

/** The value that counts in the end; a person may send it back three times. */
function settle(work: Work): Values | undefined {
  const { scope, node, address } = work
  const decision = decisionAt(scope.given, address)
  if (node.executor === 'human') return refuses(decision) ? undefined : editedOutput(node)
  // The side effect is not approved: it is not called at all.
  if (!work.isLacking && decideEffect(scope.given, node) === 'reject') return undefined
  for (let reworks = 0; ; reworks++) {
    const result = produce(work)
    if (result.kind !== 'value') return undefined
    work.written = result.written === true
    if (!node.labelled || result.written || decision === 'approve' || decision === 'replan')
      return result.output
    if (decision === 'edit') return editedOutput(node)
    // Silence orders no more work.
    if (decision === 'ignore') return undefined
    if (reworks === (decision === 'retry' ? 1 : mostReworks))
      return decision === 'retry' ? result.output : undefined
    work.noted = true
  }
}

const failed: Result = { kind: 'failed' }

/** The capabilities, then the RAO contract, then a person about a failure. */
function produce(work: Work): Result {
  for (;;) {
    const result = work.isLacking ? failed : judge(work, callAll(work))
    if (result.kind === 'again') continue
    if (result.kind !== 'failed') return result
    const reply = askAboutFailure(work)
    if (reply.kind !== 'again') return reply
  }
}

/** The node's own capability with its retries, then each alternate with as many that takes the inputs. */
function callAll(work: Work): Result {
  for (let candidate = 0; candidate < work.node.scripts.length; candidate++) {
    if (!takesInputs(work, candidate)) continue
    const result = callOne(work, candidate)
    if (result.kind !== 'failed') return result
  }
  return { kind: 'failed' }
}

/** An alternate is called only with what its own contract takes, and only if it may supply what the node does. */
function takesInputs({ node, bound }: Work, candidate: number): boolean {
  const { input, never } = node.scripts[candidate]?.unlike ?? {}
  if (never !== undefined) return false
  if (input === undefined) return true
  const value = bound[node.inputs[input.index]!.name]
  if (input.least === undefined) return value !== undefined
  return value === undefined || (value as number) >= input.least
}

function callOne(work: Work, candidate: number): Result {
  const { node, address, inputs, scope } = work
  const id = capabilityId(node, candidate)
  for (let failures = 0; failures <= node.retryMax; ) {
    const answer = answerAt(node, candidate, { address, nth: work.ended[candidate]! })
    work.ended[candidate]!++
    const output = computeOutput(node, id, inputs)
    const score = output[`s${node.key}`] as number
    const own = node.scripts[candidate]?.unlike?.output
    const breaksOwn = own !== undefined && score < own.least
    const [least, most] = triesOf(node, answer, breaksOwn && own.by === 'schema')
    work.calls.push({ address, capabilityId: id, inputs, least, most, cost: costOf(node, answer) })
    if (answer.kind === 'stall') work.stalled = true
    if (brings(answer) && score >= leastOf(node) && !breaksOwn) return { kind: 'value', output, answer }
    const acted = isInvalid(answer) ? actOnInvalid(work) : undefined
    if (acted) return acted
    if (isFinal(answer)) break
    if (answer.kind === 'unclear') {
      // A question is no failure.
      if (++work.questions > mostQuestions || refuses(decisionAt(scope.given, address)))
        return { kind: 'ended' }
      continue
    }
    failures++
    if (failures > node.retryMax || answer.kind === 'not-applied') continue
    const reply = askBeforeRepeating(work)
    // Who lets it be done again lets it have all its retries again.
    if (reply === 'again') failures = 0
    else if (reply !== undefined) return reply
  }
  return { kind: 'failed' }
}

/** The least score that the post-condition and the output contract of a node allow. */
function leastOf({ leastScore = 0, leastInContract = 0 }: CaseNode): number {
  return Math.max(leastScore, leastInContract)
}

function brings(answer: Answer): boolean {
  if (answer.kind === 'throttled') return answer.times < mostTries
  return answer.kind === 'ok' || answer.kind === 'stall'
}

/** An answer with a value that the contract of the node does not allow. */
function isInvalid(answer: Answer): boolean {
  return answer.kind === 'bad-value' || brings(answer)
}

/** A policy acts at once, before any retry: it ends the run, or a person gives the value, wants it made again, or ends it. */
function actOnInvalid(work: Work): Result | undefined {
  const { onInvalid: policy, scope, address, node } = work
  work.onInvalid = undefined
  if (policy?.action !== 'fail' && policy?.action !== 'hitl') return undefined
  const decision = decisionAt(scope.given, address)
  if (policy.action === 'fail' || refuses(decision)) {
    work.endedBy = policy.id
    return { kind: 'ended' }
  }
  return giveOrRepeat(work, decision, node)
}

/** Who wants it tried again says so once, and then gives a value. */
function giveOrRepeat(work: Work, decision: Decision, node: CaseNode): Result {
  if (decision === 'retry' && work.failureAsks++ === 0) {
    work.noted = true
    return { kind: 'again' }
  }
  return { kind: 'value', output: editedOutput(node), answer: { kind: 'ok' }, written: true }
}

/** Another try of the same capability is no use. */
function isFinal(answer: Answer): boolean {
  if (answer.kind === 'final-error' || answer.kind === 'refused') return true
  return answer.kind === 'throttled' && !brings(answer)
}

/** The fewest and the most calls of an attempt; a model is asked to repair what a schema does not allow. */
function triesOf({ executor }: CaseNode, answer: Answer, isWrong: boolean): [number, number] {
  const repairs = executor === 'model' && isWrong && brings(answer) ? callBudget - 1 : 0
  if (answer.kind === 'throttled') {
    const tries = Math.min(answer.times + 1, mostTries)
    return [tries, tries + repairs]
  }
  if (answer.kind === 'stall') return [1, 2]
  if (answer.kind === 'ok') return [1, 1 + repairs]
  const hasFallbacks = executor === 'model' && answer.kind !== 'refused'
  return hasFallbacks ? [1, callBudget] : [1, 1]
}

/** What an attempt counts for `maxCalls`: functions are no calls, and neither is what was turned away. */
function costOf({ executor }: CaseNode, answer: Answer): number {
  if (executor === 'local' || (answer.kind === 'throttled' && !brings(answer))) return 0
  return executor === 'model' ? callBudget : 1
}

/** What changes the world and is not idempotent is called again only if a person says so. */
function askBeforeRepeating(work: Work): Result | 'again' | undefined {
  const { node, scope, address } = work
  if (node.idempotent || !node.sideEffect) return undefined
  const decision = unknownDecisionAt(scope.given, address, ++work.doubts)
  if (refuses(decision)) return { kind: 'ended' }
  if (decision !== 'edit') return 'again'
  return { kind: 'value', output: editedOutput(node), answer: { kind: 'ok' }, written: true }
}

/** RAO: below 0.5 the answer is dropped, above 0.85 it counts, in between (or when the model escalates) a person looks. */
function judge({ scope, node, address, routes }: Work, result: Result): Result {
  if (!node.rao || result.kind !== 'value') return result
  const { confidence = 1, escalate = false } = result.answer.kind === 'ok' ? result.answer : {}
  const route =
    confidence < 0.5 ? 'suppress' : confidence > 0.85 && !escalate ? 'auto_approve' : 'human_review'
  routes.push({ address, route })
  if (route === 'suppress') return { kind: 'failed' }
  const decision = decisionAt(scope.given, address)
  if (route === 'auto_approve') return result
  if (refuses(decision)) return { kind: 'ended' }
  return decision === 'edit' ? { ...result, output: editedOutput(node), written: true } : result
}

/** A fail edge goes before a person. */
function askAboutFailure(work: Work): Result {
  const { scope, node, address } = work
  const asks = (node.onFail ?? scope.given.onNodeFail) === 'ask'
  const decision = decisionAt(scope.given, address)
  if (!asks || work.isCaught || refuses(decision)) return { kind: 'ended' }
  return giveOrRepeat(work, decision, node)
}
