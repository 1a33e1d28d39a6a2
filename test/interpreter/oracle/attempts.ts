/**
 * What becomes of a node that calls a capability: tries, retries, alternates, people. From docs/reference/engine.md ("When
 * an attempt does not succeed", "Asks", "Rejections").
 */
import type { Answer, CaseNode } from '../case.ts'
import {
  answerAt,
  capabilityId,
  decisionAt,
  editedOutput,
  outputOf,
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
  readonly inputs: Values
  readonly isCaught: boolean
  /** Attempts that have ended, by candidate. */
  readonly ended: number[]
  readonly calls: Call[]
  readonly routes: Decided[]
  questions: number
  noted: boolean
  stalled: boolean
  failureAsks: number
  doubts: number
}

/** How the capabilities of a node fare: a value, none, or a person who ends it. */
type Result =
  | { readonly kind: 'value'; readonly output: Values; readonly answer: Answer; readonly written?: true }
  | { readonly kind: 'failed' }
  | { readonly kind: 'ended' }

export function attempt(
  scope: Scope,
  node: CaseNode,
  { inputs, isCaught }: { inputs: Values; isCaught: boolean },
): NodeEnd {
  const work: Work = {
    scope,
    node,
    address: `${scope.prefix}${node.id}`,
    inputs: node.executor === 'model' ? {} : inputs,
    isCaught,
    ended: node.scripts.map(() => 0),
    calls: [],
    routes: [],
    questions: 0,
    noted: false,
    stalled: false,
    failureAsks: 0,
    doubts: 0,
  }
  const output = settle(work)
  const log: Log = {
    calls: work.calls,
    routes: work.routes,
    noted: work.noted ? [work.address] : [],
    stalled: work.stalled,
  }
  return output === undefined ? { ...log, status: 'failed' } : { ...log, status: 'completed', output }
}

/** The value that counts in the end; a person may send it back three times. */
function settle(work: Work): Values | undefined {
  const { scope, node, address } = work
  const decision = decisionAt(scope.given, address)
  if (node.executor === 'human') return refuses(decision) ? undefined : editedOutput(node)
  for (let reworks = 0; ; reworks++) {
    const result = produce(work)
    if (result.kind !== 'value') return undefined
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

/** The capabilities, then the RAO contract, then a person about a failure. */
function produce(work: Work): Result {
  for (;;) {
    const result = judge(work, callAll(work))
    if (result.kind !== 'failed') return result
    const reply = askAboutFailure(work)
    if (reply !== 'again') return reply
  }
}

/** The node's own capability with its retries, then each alternate with as many. */
function callAll(work: Work): Result {
  for (let candidate = 0; candidate < work.node.scripts.length; candidate++) {
    const result = callOne(work, candidate)
    if (result.kind !== 'failed') return result
  }
  return { kind: 'failed' }
}

function callOne(work: Work, candidate: number): Result {
  const { node, address, inputs, scope } = work
  const id = capabilityId(node, candidate)
  for (let failures = 0; failures <= node.retryMax; ) {
    const answer = answerAt(node, candidate, { address, nth: work.ended[candidate]! })
    work.ended[candidate]!++
    const [least, most] = triesOf(node, answer)
    work.calls.push({ address, capabilityId: id, inputs, least, most, cost: costOf(node, answer) })
    if (answer.kind === 'stall') work.stalled = true
    const output = outputOf(node, id, inputs)
    if (brings(answer) && (output[`s${node.key}`] as number) >= (node.leastScore ?? 0))
      return { kind: 'value', output, answer }
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

function brings(answer: Answer): boolean {
  if (answer.kind === 'throttled') return answer.times < mostTries
  return answer.kind === 'ok' || answer.kind === 'stall'
}

/** Another try of the same capability is no use. */
function isFinal(answer: Answer): boolean {
  if (answer.kind === 'final-error' || answer.kind === 'refused') return true
  return answer.kind === 'throttled' && !brings(answer)
}

/** The fewest and the most calls of an attempt. */
function triesOf({ executor }: CaseNode, answer: Answer): [number, number] {
  if (answer.kind === 'throttled') {
    const tries = Math.min(answer.times + 1, mostTries)
    return [tries, tries]
  }
  if (answer.kind === 'stall') return [1, 2]
  const climbs = executor === 'model' && answer.kind !== 'ok' && answer.kind !== 'refused'
  return climbs ? [1, callBudget] : [1, 1]
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

/** A fail edge goes before a person. Who wants it tried again says so once, and then gives a value. */
function askAboutFailure(work: Work): Result | 'again' {
  const { scope, node, address } = work
  const asks = (node.onFail ?? scope.given.onNodeFail) === 'ask'
  const decision = decisionAt(scope.given, address)
  if (!asks || work.isCaught || refuses(decision)) return { kind: 'ended' }
  if (decision === 'retry' && work.failureAsks++ === 0) {
    work.noted = true
    return 'again'
  }
  return { kind: 'value', output: editedOutput(node), answer: { kind: 'ok' }, written: true }
}
