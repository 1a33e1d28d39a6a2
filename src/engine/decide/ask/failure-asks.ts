/**
 * Asks about failures: of a node before it fails for good, and of an answer that does not satisfy its contract. Each shows
 * the last value, the text it was parsed from, the issues and the contract, and accepts a replacement value.
 */
import type { Issue } from '../../../base/errors/issue.ts'
import type { Json } from '../../../base/json.ts'
import type { Ask } from '../../../domain/ask.ts'
import type { FailureOutcome, NewEvent } from '../../../domain/event.ts'
import type { AttemptResult } from '../../../domain/output.ts'
import { outputContractFor } from '../../../domain/plan.ts'
import type { NodeState, RunState } from '../../../domain/run.ts'
import { compileSchema } from '../../../schema/compile/compile.ts'
import type { DecisionContext } from '../../events.ts'
import { answerConditions, brokenConditions, shownConditions } from '../checks/obligations.ts'
import { askFacts, type WantedAsk } from './asks.ts'
import { feedbackFor } from './feedback.ts'
import { producingNodes } from './rework.ts'

/** What an ask shows of a failure; a suppressed output is not included. */
type ShownFailure = Pick<AttemptResult, 'output' | 'raw' | 'issues'> &
  Pick<Ask, 'rao'> & { readonly outcome: FailureOutcome }

/**
 * Asks about a failure if node or envelope request it and no edge handles the failure; otherwise returns nothing. Returns
 * `limit` if the run has reached its limit of asks.
 */
export function failureAskFacts(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  failure: ShownFailure,
): NewEvent[] | undefined | 'limit' {
  const hasFallback = (state.outgoing.get(node.node.id) ?? []).some((edge) => edge.when !== 'pass')
  const onFail = node.node.onFail ?? state.envelope.policies.onNodeFail
  if (onFail !== 'ask' || hasFallback) return undefined
  return askFacts(state, context, nodeFailureAsk(state, node, failure))
}

/** Ask about the last attempt of a node. Can be approved only if the shown value satisfies the contract. */
export function nodeFailureAsk(
  state: RunState,
  node: NodeState,
  { outcome, output, raw = output?.raw, issues, rao }: ShownFailure,
): WantedAsk {
  const { id, label, contracts } = node.node
  const value = output?.value ?? null
  const isUsable =
    output !== undefined &&
    compileSchema(outputContractFor(node.node, node.attempt?.capabilityId), state.compileOptions).accepts(
      value,
    ) &&
    brokenConditions(state, node, value, node.attempt?.capabilityId).length === 0
  const feedback = feedbackFor(state, id)
  return {
    kind: 'failure',
    nodeId: id,
    question: `"${label ?? id}" failed (${outcome}): give its value, or reject with rejectAction "retry" to try again`,
    value,
    schema: contracts.output,
    ...shownConditions(node.node),
    issues,
    ...(rao && { rao }),
    ...(raw !== undefined && { raw }),
    decisions: isUsable ? ['approve', 'edit', 'answer', 'reject'] : ['edit', 'answer', 'reject'],
    producers: [id],
    ...(feedback.length > 0 && { feedback }),
  }
}

/** Ask about an answer that does not satisfy the caller's contract: it cannot be approved unchanged. */
export function answerFailureAsk(state: RunState, value: Json, issues: readonly Issue[]): WantedAsk {
  const { schema } = state.envelope.outputContract
  const producers = producingNodes(state, issues)
  const feedback = feedbackFor(state, ...producers)
  const [only, ...others] = producers.map((id) => state.nodes.get(id)?.output?.raw)
  return {
    kind: 'failure',
    question:
      'The answer does not satisfy the contract: give another, or reject with rejectAction "retry" to make it again',
    value,
    schema,
    ...answerConditions(state),
    issues,
    ...(only !== undefined && others.length === 0 && { raw: only }),
    decisions: ['edit', 'answer', 'reject'],
    producers,
    ...(feedback.length > 0 && { feedback }),
  }
}

/** Repeats an ask, where a policy requires a second person. */
export function askedAgain(ask: Ask): WantedAsk {
  const { kind, nodeId, question, value, schema, conditions, rao, issues, raw, ...rest } = ask
  const { decisions, producers, feedback } = rest
  return {
    kind,
    question,
    value,
    decisions,
    ...(nodeId !== undefined && { nodeId }),
    ...(schema !== undefined && { schema }),
    ...(conditions && { conditions }),
    ...(rao && { rao }),
    ...(issues && { issues }),
    ...(raw !== undefined && { raw }),
    ...(producers && { producers }),
    ...(feedback && { feedback }),
  }
}
