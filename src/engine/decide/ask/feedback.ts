/** Records feedback as events, and selects the entries for each attempt and each planner request. */
import type { Issue } from '../../../base/errors/issue.ts'
import type { Json } from '../../../base/json.ts'
import type { Reply } from '../../../domain/ask.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import type { NewEvent } from '../../../domain/event.ts'
import { type Feedback, feedbackLimits, type RecordedFeedback } from '../../../domain/feedback.ts'
import type { BodyPlan } from '../../../domain/plan.ts'
import { createRedactor } from '../../../domain/redaction/redact.ts'
import { instanceId, isInItem, isInside, nodeIdIn } from '../../../domain/run/body-instance.ts'
import type { RunState } from '../../../domain/run.ts'
import { factsFor } from '../../events.ts'
import { producingNodes } from './rework.ts'

const redactor = createRedactor()

/** The event of one entry: redacted, and truncated to its limits. */
export function feedbackFact(
  state: Pick<RunState, 'planVersion'>,
  now: number,
  { value, issues, note, ...entry }: Feedback,
): NewEvent {
  const [nodeId, ...others] = entry.nodes ?? []
  return factsFor(state, now)(
    'feedback_recorded',
    {
      ...entry,
      ...(note !== undefined && { note: cutText(note, feedbackLimits.note) }),
      ...(value !== undefined && cutValue(redactor.value(value) as Json)),
      ...(issues && { issues: issues.slice(0, feedbackLimits.issues).map(cutIssue) }),
    },
    { nodeId: others.length === 0 ? nodeId : undefined },
  )
}

/** Feedback of a reply about the shown value: none for a plain approval or an answer. */
export function replyFeedback(state: RunState, now: number, reply: Reply): NewEvent[] {
  const { requestId, decision, note, by, value } = reply
  const ask = state.asks.get(requestId)
  // An agent reads what was said about a call as the result of the call.
  if (
    ask === undefined ||
    ask.toolCall ||
    (note === undefined && decision !== 'reject' && decision !== 'edit')
  )
    return []
  const nodes = ask.producers ?? (ask.nodeId === undefined ? [] : [ask.nodeId])
  // What is shown before the work is done (inputs of a task or a side effect) is not a value of the node.
  const shown = ask.producers === undefined ? undefined : ask.value
  const about = value ?? shown
  return [
    feedbackFact(state, now, {
      source: 'reply',
      ...(nodes.length > 0 && { nodes }),
      requestId,
      decision,
      ...(note !== undefined && { note }),
      ...(about !== undefined && { value: about }),
      ...(ask.issues && { issues: ask.issues }),
      by,
    }),
  ]
}

/** Converts the reasons of a draft's rejection to issues. */
export function diagnosticIssues(failures: readonly Diagnostic[]): Issue[] {
  return failures.map(({ constraint, cause, suggestion, nodeId }) => ({
    code: `plan/${cause}`,
    at: { pointer: nodeId === undefined ? '' : `/nodes/${nodeId}` },
    message: constraint === undefined ? cause : `It does not hold that ${constraint}`,
    ...(suggestion !== undefined && { hint: suggestion }),
  }))
}

/**
 * Selects the feedback for the next attempt of a node: the latest entries about it, or about any of the maps and loops
 * around it. Entries about an item apply to that item only. Replies about the state that a round of a loop yields apply to
 * later rounds, too. Entries about nodes that the current plan does not have go to the nodes that produce the answer.
 */
export function feedbackFor(state: RunState, ...nodeIds: readonly string[]): Feedback[] {
  if (state.feedback.length === 0) return []
  let producers: readonly string[] | undefined
  const concerns = ({ nodes, source }: RecordedFeedback) => {
    if (nodes === undefined) return false
    if (nodeIds.some((id) => nodes.includes(id))) return true
    if (nodes.some((id) => isInForce(state, id)))
      return source === 'reply' && nodeIds.some((id) => followsRound(state, id, nodes))
    producers ??= producingNodes(state)
    // If the map is gone, an item has no counterpart: the entry does not go to other items.
    const addressed = nodes.every(isInItem) ? nodeIds.slice(0, 1) : nodeIds
    return addressed.some((id) => producers?.includes(id))
  }
  return latest(state.feedback.filter(concerns))
}

/** Whether the current plan has the node, or the map or loop that contains it; finished items and rounds count. */
function isInForce({ nodes, plan }: RunState, nodeId: string): boolean {
  return nodes.has(nodeId) || (plan?.nodes ?? []).some(({ id, body }) => body && isInside(nodeId, id))
}

/** Whether a node yields the state of a round after one in which the same node is among these. */
function followsRound(state: RunState, nodeId: string, nodes: readonly string[]): boolean {
  const { node, instance = '' } = state.nodes.get(nodeId) ?? {}
  const { of = '', index = 0 } = state.instances.get(instance) ?? {}
  const loop = state.nodes.get(of)?.node
  const { bodyId } = node ?? {}
  if (loop?.loop === undefined || bodyId === undefined || !yields(loop.body, bodyId)) return false
  const rounds = Array.from({ length: index - 1 }, (_, before) => instanceId(loop, before + 1))
  return rounds.some((round) => nodes.includes(nodeIdIn(round, bodyId)))
}

function yields(body: BodyPlan | undefined, nodeId: string): boolean {
  const output = body?.output ?? []
  const sources = 'properties' in output ? Object.values(output.properties).flat() : output
  return sources.some((source) => 'node' in source && source.node === nodeId)
}

/**
 * Selects the feedback for a planner: the latest entries of the run. Findings about the previous draft are in the
 * diagnostics of the request.
 */
export function plannerFeedback(state: RunState): Feedback[] {
  return latest(state.feedback.filter(({ source }) => source !== 'plan'))
}

function latest(entries: readonly RecordedFeedback[]): Feedback[] {
  return entries.slice(-feedbackLimits.entries).map(({ planVersion: _, ...entry }) => entry)
}

function cutValue(value: Json): Pick<Feedback, 'value' | 'cut'> {
  const text = JSON.stringify(value)
  return text.length <= feedbackLimits.value
    ? { value }
    : { value: cutText(text, feedbackLimits.value), cut: true }
}

function cutText(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

/** Drops the values that an issue may contain: they are in `value`. */
function cutIssue({ code, at, message, hint }: Issue): Issue {
  return {
    code,
    at,
    message: cutText(message, feedbackLimits.message),
    ...(hint !== undefined && { hint: cutText(hint, feedbackLimits.message) }),
  }
}
