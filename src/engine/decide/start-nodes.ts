/** Decides how a ready node starts: with an attempt, a route, an ask first, or an error at once. */

import { sha256Hex } from '../../base/canonical.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import { callInDoubt, type DoubtfulCall, toAttemptRef } from '../../domain/attempt/call-key.ts'
import type { EventPayloads, Failure, NewEvent } from '../../domain/event.ts'
import { defaultLimits } from '../../domain/loop/agent-settings.ts'
import { isIterated, outputContractFor, withFacets } from '../../domain/plan.ts'
import { findRaoContract, isRaoError } from '../../domain/rao/rao-contract.ts'
import { createRedactor } from '../../domain/redaction/redact.ts'
import { isApartInMap } from '../../domain/run/body-instance.ts'
import { assembleInputs, describeSource } from '../../domain/run/bound-values.ts'
import {
  earlierCall,
  isApproved,
  otherCallInDoubt,
  ownCall,
  unsureCall,
} from '../../domain/run/fold-uncertain-calls.ts'
import { around, isDoomed } from '../../domain/run/iterations.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import { modelSettingsFor } from '../../domain/settings/model-settings.ts'
import { toAssignment } from '../../domain/task/assignment.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import { getCandidate } from '../capabilities.ts'
import { type DecisionContext, factsFor } from '../events.ts'
import { unfitFacts, usedUp } from './after-failure.ts'
import { askFacts, askLimitFailure, unaskedFailure } from './ask/asks.ts'
import { failureAskFacts } from './ask/failure-asks.ts'
import { feedbackFor } from './ask/feedback.ts'
import { type Reserved, reservation } from './budget.ts'
import { shownConditions } from './checks/obligations.ts'
import { takeRoute } from './checks/routes.ts'
import { countIterations } from './iterations.ts'
import { approvedFacts, nodeError, unknownFacts, withBrokenConditions } from './judge.ts'

/** An attempt that may be sent as soon as these events are in the journal (write-ahead). */
export interface Start {
  readonly nodeId: string
  readonly capabilityId: string
  /** The inputs of the call; the journal records them without the values of keys that name secrets. */
  readonly inputs: Json
  readonly events: readonly NewEvent[]
}

/**
 * Events without an attempt; a start; `later` (budget may become available again); or `missing`: only a process that has
 * the capability can decide and start it.
 */
type StartDecision =
  | { readonly facts: NewEvent[] }
  | { readonly start: Start }
  | { readonly missing: string }
  | 'later'

export function decideStart(state: RunState, context: DecisionContext, node: NodeState): StartDecision {
  // Its item or round has failed, and ends once none of its attempts is in flight.
  if (node.instance !== undefined && isDoomed(state, node)) return 'later'
  const inputs = assembleInputs(state, node.node.inputs)
  const found = compileSchema(node.node.contracts.input, state.compileOptions).validate(inputs)
  const issues = [...absentInputs(node, inputs), ...withFacets(found, node.node.facetProvenance.input)]
  if (issues.length > 0) return { facts: invalidInput(state, context, node, issues) }
  if (node.node.routing) return { facts: routeFacts(state, context, node, inputs) }
  if (isIterated(node.node)) return { facts: iteratedFacts(state, context, node, inputs) }
  const capabilityId = getCandidate(node)
  const unfit = alternateIssues(state, node, inputs)
  if (unfit.length > 0) return { facts: unfitFacts(state, context, withBrokenConditions(state, node), unfit) }
  const known = context.capability(capabilityId)
  if (known === undefined) return { missing: capabilityId }
  const left = findLeftToOthers(context, node, capabilityId)
  if (left !== undefined) return { missing: left }
  const asked = askedFirst(state, context, node, inputs)
  if (asked) return { facts: asked }
  const earlier = earlierCall(state, node, { capabilityId, inputs: () => redactInputs(inputs) })?.call
  if (known.kind === 'human') return { facts: taskFacts(state, context, node, redactInputs(inputs)) }
  const reserved = reservation(state, node, {
    kind: known.kind,
    tokens: known.tokens,
    turns: known.turns ?? (node.node.tools && defaultLimits.turns),
    prompt: () => promptBytes(state, node, inputs),
  })
  if (reserved === 'later') return 'later'
  if (reserved === 'exhausted') return { facts: exhausted(state, context, node) }
  return {
    start: toStart(state, context, node, {
      inputs,
      capabilityId,
      idempotent: known.idempotent,
      sideEffect: known.sideEffect,
      reserved,
      earlier,
    }),
  }
}

/** The capability that another process has to execute: the node's own, or a tool that its agent calls where it runs itself. */
function findLeftToOthers(
  { isServed }: DecisionContext,
  { node }: NodeState,
  capabilityId: string,
): string | undefined {
  if (!isServed) return undefined
  const tools = (node.tools ?? []).map((tool) => (typeof tool === 'string' ? tool : tool.capabilityId))
  return [capabilityId, ...tools].find((id) => !isServed(id))
}

/** A bound input needs a value, even if the contract does not name it: no call or route happens without it. */
function absentInputs({ node }: NodeState, inputs: object): readonly Issue[] {
  const absent = (node.requires ?? []).filter((name) => !Object.hasOwn(inputs, name))
  return absent.map((name) => {
    const from = (node.inputs[name] ?? []).map(describeSource).join(' and ')
    return {
      code: 'schema/required',
      at: { pointer: child('', name) },
      message: `input "${name}" has no value${from && ` (${from})`}`,
      hint: `Bind another source, or name "${name}" in contracts.input of the node without requiring it if it is optional`,
    }
  })
}

/** An alternate is called only with inputs that satisfy its own contract. */
function alternateIssues({ compileOptions }: RunState, node: NodeState, inputs: Json): readonly Issue[] {
  const input = node.candidate > 0 ? node.node.alternateContracts?.[getCandidate(node)]?.input : undefined
  return input === undefined ? [] : compileSchema(input, compileOptions).validate(inputs)
}

interface Chosen {
  readonly inputs: Json
  readonly capabilityId: string
  readonly idempotent: boolean
  readonly sideEffect: boolean
  readonly reserved: Reserved | undefined
  /** The call of an earlier plan that this one repeats. */
  readonly earlier: DoubtfulCall | undefined
}

/**
 * Asks for approval before the call where needed: of a side effect, or of repeating a call in doubt. An approval of a side
 * effect is bound to the call that was shown: another capability or other inputs are asked about again.
 */
function askedFirst(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  given: Json,
): NewEvent[] | undefined {
  const capabilityId = getCandidate(node)
  const wanted = { capabilityId, inputs: () => redactInputs(given) }
  const unsure = unsureCall(node, wanted)
  const earlier = unsure === undefined ? earlierCall(state, node, wanted) : undefined
  const isRepeated = unsure ?? ownCall(node, wanted) ?? earlier
  const other = isRepeated ? undefined : otherCallInDoubt(state, node, wanted)
  const isUnchecked =
    context.capability(capabilityId)?.sideEffect === true && needsApproval(state, node, context)
  if ((isUnchecked || other) && !isApproved(state, node, wanted))
    return sideEffectFacts(state, context, node, { inputs: redactInputs(given), isUnchecked, other })
  if (unsure === undefined && !earlier?.mustAsk) return undefined
  const about = { inputs: redactInputs(given), earlier: earlier?.call }
  return unknownFacts(state, context, node, about) ?? [tooManyAsks(state, context, node)]
}

function toStart(state: RunState, context: DecisionContext, node: NodeState, chosen: Chosen): Start {
  const make = factsFor(state, context.now)
  const { id } = node.node
  const attempt = node.attempts + 1
  const events: NewEvent[] = []
  if (!node.started) events.push(startFact(state, context, node))
  if (chosen.reserved) events.push(make('budget_reserved', { attempt, ...chosen.reserved }, { nodeId: id }))
  const allowed = getDuration(node)
  const inputs = redactInputs(chosen.inputs)
  const { capabilityId } = chosen
  const repeated = ownCall(node, { capabilityId, inputs: () => inputs }) ?? chosen.earlier
  const known = context.capability(capabilityId)
  const settings =
    known?.kind === 'model' &&
    modelSettingsFor({ own: known.modelSettings, envelope: state.envelope, data: node.node.data })
  const payload: EventPayloads['attempt_start'] = {
    attempt,
    capabilityId,
    idempotencyKey: repeated?.idempotencyKey ?? newKey(state, node, capabilityId),
    idempotent: chosen.idempotent,
    ...(chosen.sideEffect && { sideEffect: true }),
    inputs,
    ...(allowed !== undefined && { deadlineAt: context.now + allowed }),
    ...(settings && { modelSettings: settings }),
    ...(chosen.earlier && { continues: toAttemptRef(chosen.earlier) }),
  }
  events.push(make('attempt_start', payload, { nodeId: id }))
  return { nodeId: id, capabilityId: chosen.capabilityId, inputs: chosen.inputs, events }
}

/**
 * Creates the idempotency key of a call that is not a repetition. If a call in doubt of the same capability had other
 * inputs, its number is not used again.
 */
function newKey({ runId }: RunState, { node, key }: NodeState, capabilityId: string): string {
  const number = callInDoubt(key, capabilityId) ? key.used + 1 : key.logical
  return sha256Hex(`${runId}\n${node.id}\n${key.version}\n${number}`)
}

/** Estimates the prompt of a model: instructions, inputs, and the schema twice, as text and for the provider. */
function promptBytes(state: RunState, called: NodeState, inputs: Json): number {
  const { envelope } = state
  const { node, clarifications } = called
  const feedback = feedbackFor(state, node.id, ...around(state, called))
  const schema = JSON.stringify(outputContractFor(node, getCandidate(called)))
  const words = [
    envelope.objective,
    ...envelope.specialInstructions,
    node.instructions,
    ...(clarifications.length > 0 ? [JSON.stringify(clarifications)] : []),
    ...(feedback.length > 0 ? [JSON.stringify(feedback)] : []),
  ]
  return Buffer.byteLength([...words, JSON.stringify(inputs), schema, schema].join(' ')) + instructions
}

/** Bytes of the package's own instructions around a task. */
const instructions = 1000

const redactor = createRedactor()

/** Redacts inputs for the journal and for asks; a call gets the real ones, which are assembled anew for every attempt. */
function redactInputs(inputs: Json): Json {
  return redactor.value(inputs) as Json
}

/** Returns the shortest time limit of the node. */
function getDuration(node: NodeState): number | undefined {
  const { timeoutMs, constraints } = node.node
  const contract = findRaoContract(node.node, getCandidate(node))
  const limits = [
    timeoutMs,
    constraints?.max_duration_ms,
    contract === undefined || isRaoError(contract) ? undefined : contract.maxInferenceMs,
  ]
  const given = limits.filter((limit) => limit !== undefined)
  return given.length > 0 ? Math.min(...given) : undefined
}

function startFact(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  iterations?: number,
): NewEvent {
  const { id, capabilityId, label, derived, facetProvenance, kind } = node.node
  return factsFor(state, context.now)(
    'node_start',
    {
      facetProvenance,
      ...(capabilityId !== undefined && { capabilityId }),
      ...(label !== undefined && { label }),
      ...(derived && { derived }),
      ...(node.instance !== undefined && { kind }),
      ...(iterations !== undefined && { iterations }),
    },
    { nodeId: id },
  )
}

/** Starts a map or a loop, or fails it if it has too many items. */
function iteratedFacts(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  inputs: { readonly [name: string]: Json },
): NewEvent[] {
  const count = countIterations(node, inputs)
  if (typeof count === 'number') return [startFact(state, context, node, count)]
  return [startFact(state, context, node), nodeError(state, context, node, { outcome: 'rejected', ...count })]
}

/**
 * Whether the run has read untrusted content that no person has approved (DECISIONS 31). Items of one map read nothing of
 * each other: whether a person is asked about one does not depend on how many run at once.
 */
export function needsApproval(
  state: RunState,
  node: NodeState,
  context: Pick<DecisionContext, 'capability'>,
): boolean {
  if (state.envelope.policies.planner.directives?.sideEffects === 'allow') return false
  for (const other of state.nodes.values()) {
    if (isApartInMap(node.node.id, other.node.id)) continue
    for (const read of other.unapproved ?? []) if (context.capability(read)?.untrusted ?? true) return true
    if (other === node || other.status !== 'completed' || other.completed?.person !== undefined) continue
    const capabilityId = other.completed?.capabilityId
    if (capabilityId !== undefined && (context.capability(capabilityId)?.untrusted ?? true)) return true
  }
  return false
}

interface Change {
  readonly inputs: Json
  /** Whether the run has read untrusted content that no person has checked. */
  readonly isUnchecked: boolean
  /** A call in doubt of the same capability with other inputs. */
  readonly other: DoubtfulCall | undefined
}

function sideEffectFacts(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  change: Change,
): NewEvent[] {
  const { inputs, isUnchecked, other } = change
  const name = node.node.label ?? node.node.id
  const capabilityId = getCandidate(node)
  const reasons = [
    ...(isUnchecked
      ? [
          `"${name}" calls "${capabilityId}", which has a side effect, after content that no person has checked.`,
        ]
      : []),
    ...(other
      ? [
          `"${name}" calls "${other.capabilityId}", and "${other.nodeId}" called it under plan ${other.planVersion} with other inputs, which may have taken effect.`,
        ]
      : []),
  ]
  const ask = askFacts(state, context, {
    kind: 'side_effect',
    nodeId: node.node.id,
    capabilityId,
    question: `${reasons.join(' ')} Go ahead?`,
    value: inputs,
  })
  return ask === 'limit' ? [tooManyAsks(state, context, node)] : ask
}

/** A person does the work: the ask is the call, and the reply its result. */
function taskFacts(state: RunState, context: DecisionContext, node: NodeState, inputs: Json): NewEvent[] {
  const { id, label, instructions } = node.node
  const feedback = feedbackFor(state, id)
  const capabilityId = getCandidate(node)
  const human = context.capability(capabilityId)?.human
  const ask = askFacts(state, context, {
    kind: 'task',
    nodeId: id,
    question: instructions || messageIn(inputs) || `Do "${label ?? id}"`,
    value: inputs,
    schema: outputContractFor(node.node, getCandidate(node)),
    ...shownConditions(node.node),
    ...(feedback.length > 0 && { feedback }),
    ...(human && { capabilityId, assignment: toAssignment(human) }),
  })
  const started = node.started ? [] : [startFact(state, context, node)]
  return ask === 'limit' ? [...started, tooManyAsks(state, context, node)] : [...started, ...ask]
}

/** Returns a question that is part of the inputs, such as the message of a pipeline step. */
function messageIn(inputs: Json): string | undefined {
  const message = isObject(inputs) ? inputs['message'] : undefined
  return typeof message === 'string' ? message : undefined
}

function tooManyAsks(state: RunState, context: DecisionContext, node: NodeState): NewEvent {
  const failure = askLimitFailure(state, `"${node.node.label ?? node.node.id}" needs one`)
  return nodeError(state, context, node, { outcome: 'rejected', ...failure })
}

/**
 * The input does not satisfy the node's contract, so no attempt is made. Asks a person for the output if node or envelope
 * request it; not for a routing node, whose value would choose no route.
 */
function invalidInput(
  state: RunState,
  context: DecisionContext,
  node: NodeState,
  issues: EventPayloads['validation_error']['errors'],
): NewEvent[] {
  const { id, routing } = node.node
  const errors = factsFor(state, context.now)(
    'validation_error',
    { scope: `input:${id}`, errors: issues },
    { nodeId: id },
  )
  const facts = [...(node.started ? [] : [startFact(state, context, node)]), errors]
  const ask = routing
    ? undefined
    : failureAskFacts(state, context, node, { outcome: 'input_invalid', issues })
  if (ask !== undefined && ask !== 'limit') return [...facts, ...ask]
  const failure: Failure = {
    code: 'node/input-invalid',
    message: `The input of "${id}" does not satisfy its contract: ${issues[0]?.message ?? ''}`,
    issues,
  }
  const error = ask === 'limit' ? unaskedFailure(state, failure) : failure
  return [...facts, nodeError(state, context, node, { outcome: 'input_invalid', ...error })]
}

function exhausted(state: RunState, context: DecisionContext, node: NodeState): NewEvent[] {
  const facts = node.started ? [] : [startFact(state, context, node)]
  return [
    ...facts,
    nodeError(state, context, node, {
      outcome: 'rejected',
      code: 'budget/exhausted',
      message: `The budget of the run does not allow "${node.node.id}" to start`,
      details: { ...usedUp(state) },
    }),
  ]
}

function routeFacts(state: RunState, context: DecisionContext, node: NodeState, inputs: Json): NewEvent[] {
  const taken = takeRoute(node, inputs)
  const start = startFact(state, context, node)
  if (!taken) {
    return [
      start,
      nodeError(state, context, node, {
        outcome: 'rejected',
        code: 'node/no-route',
        message: `No route of "${node.node.id}" applies, and it has no elseTo`,
      }),
    ]
  }
  const { value, chosen } = taken
  return [start, ...approvedFacts(state, context, node, { output: { value }, chosen })]
}
