/** What to do with nodes that may start: an attempt, the choice of a route, a question first, or an error at once. */
import { sha256Hex } from '../base/hash.ts'
import { isObject, type Json } from '../base/json.ts'
import { assembleInputs } from '../domain/bound-values.ts'
import { callInDoubt, type DoubtfulCall, refOf } from '../domain/call-key.ts'
import type { EventPayloads, NewEvent } from '../domain/event.ts'
import { withFacets } from '../domain/facet-issue.ts'
import { around, isDoomed } from '../domain/iterations.ts'
import { isIterated } from '../domain/plan.ts'
import { findRaoContract } from '../domain/rao/effective.ts'
import { isRaoError } from '../domain/rao.ts'
import { createRedactor } from '../domain/redact.ts'
import type { NodeState, RunState } from '../domain/run.ts'
import { compileSchema } from '../schema/compile.ts'
import { askFacts, askLimitFailure } from './asks.ts'
import { type Reserved, reservation } from './budget.ts'
import { holds } from './conditions.ts'
import { earlierCall, otherCallInDoubt } from './earlier-calls.ts'
import { factsFor, type Moment } from './fact.ts'
import { feedbackFor } from './feedback.ts'
import { countIterations } from './iterations.ts'
import { completeFacts, nodeError, unknownFacts } from './judge.ts'
import { candidateOf } from './missing.ts'
import { usedUp } from './used-up.ts'

/** An attempt that may leave as soon as these events are in the journal. */
export interface Start {
  readonly nodeId: string
  readonly capabilityId: string
  /** What goes to the call; the journal has it without the values under keys that name secrets. */
  readonly inputs: Json
  readonly events: readonly NewEvent[]
}

/**
 * Facts that need nobody, a start, nothing yet (the budget may become free again), or nothing here: only a process that
 * knows the capability can decide and start it.
 */
export type StartDecision =
  | { readonly facts: NewEvent[] }
  | { readonly start: Start }
  | { readonly missing: string }
  | 'later'

export function decideStart(state: RunState, moment: Moment, node: NodeState): StartDecision {
  // Its item or round has failed, and ends once nothing of it is in flight.
  if (isDoomed(state, node)) return 'later'
  const inputs = assembleInputs(state, node.node.inputs)
  const found = compileSchema(node.node.contracts.input).validate(inputs)
  const issues = withFacets(found, node.node.facetProvenance.input)
  if (issues.length > 0) return { facts: invalidInput(state, moment, node, issues) }
  if (node.node.routing) return { facts: routeFacts(state, moment, node, inputs) }
  if (isIterated(node.node)) return { facts: iteratedFacts(state, moment, node, inputs) }
  const capabilityId = candidateOf(node)
  const known = moment.capability(capabilityId)
  if (known === undefined) return { missing: capabilityId }
  const asked = askedFirst(state, moment, node, inputs)
  if (asked) return { facts: asked }
  const earlier = earlierCall(state, node, { capabilityId, inputs: () => told(inputs) })?.call
  if (known.kind === 'human') return { facts: taskFacts(state, moment, node, told(inputs)) }
  const reserved = reservation(state, node, {
    kind: known.kind,
    tokens: known.tokens,
    prompt: () => promptBytes(state, node, inputs),
  })
  if (reserved === 'later') return 'later'
  if (reserved === 'exhausted') return { facts: exhausted(state, moment, node) }
  return {
    start: startOf(state, moment, node, {
      inputs,
      capabilityId,
      idempotent: known.idempotent,
      sideEffect: known.sideEffect,
      reserved,
      earlier,
    }),
  }
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

/** What a person has to say before the call is made: that the world may be changed, or that a call in doubt is made again. */
function askedFirst(state: RunState, moment: Moment, node: NodeState, given: Json): NewEvent[] | undefined {
  const capabilityId = candidateOf(node)
  const wanted = { capabilityId, inputs: () => told(given) }
  const earlier = node.unsure === undefined ? earlierCall(state, node, wanted) : undefined
  const isRepeated = node.unsure ?? callInDoubt(node.key, capabilityId) ?? earlier
  const other = isRepeated ? undefined : otherCallInDoubt(state, wanted)
  const isUnchecked =
    moment.capability(capabilityId)?.sideEffect === true && needsApproval(state, node, moment)
  if (!node.approved && (isUnchecked || other))
    return sideEffectFacts(state, moment, node, { inputs: told(given), isUnchecked, other })
  if (node.unsure === undefined && !earlier?.mustAsk) return undefined
  const about = { inputs: told(given), earlier: earlier?.call }
  return unknownFacts(state, moment, node, about) ?? [tooManyAsks(state, moment, node)]
}

function startOf(state: RunState, moment: Moment, node: NodeState, chosen: Chosen): Start {
  const make = factsFor(state, moment.now)
  const { id } = node.node
  const attempt = node.attempts + 1
  const events: NewEvent[] = []
  if (!node.started) events.push(startFact(state, moment, node))
  if (chosen.reserved) events.push(make('budget_reserved', { attempt, ...chosen.reserved }, { nodeId: id }))
  const allowed = durationOf(node)
  const repeated = callInDoubt(node.key, chosen.capabilityId) ?? chosen.earlier
  const payload: EventPayloads['attempt_start'] = {
    attempt,
    capabilityId: chosen.capabilityId,
    idempotencyKey:
      repeated?.idempotencyKey ??
      sha256Hex(`${state.runId}\n${id}\n${node.key.version}\n${node.key.logical}`),
    idempotent: chosen.idempotent,
    ...(chosen.sideEffect && { sideEffect: true }),
    inputs: told(chosen.inputs),
    ...(allowed !== undefined && { deadlineAt: moment.now + allowed }),
    ...(chosen.earlier && { continues: refOf(chosen.earlier) }),
  }
  events.push(make('attempt_start', payload, { nodeId: id }))
  return { nodeId: id, capabilityId: chosen.capabilityId, inputs: chosen.inputs, events }
}

/** What a model is told: its words, its inputs, and the schema once as words and once for the provider. */
function promptBytes(state: RunState, told: NodeState, inputs: Json): number {
  const { envelope } = state
  const { node, clarifications } = told
  const feedback = feedbackFor(state, node.id, ...around(state, told))
  const schema = JSON.stringify(node.contracts.output)
  const words = [
    envelope.objective,
    ...envelope.specialInstructions,
    node.instructions,
    ...clarifications,
    ...(feedback.length > 0 ? [JSON.stringify(feedback)] : []),
  ]
  return Buffer.byteLength([...words, JSON.stringify(inputs), schema, schema].join(' ')) + instructions
}

/** What the house says itself around a task, in bytes. */
const instructions = 1000

const redactor = createRedactor()

/** Inputs as the journal and people see them: a call gets the real ones, which are put together anew for every attempt. */
function told(inputs: Json): Json {
  return redactor.value(inputs) as Json
}

/** The shortest of the node's own limits of time. */
function durationOf(node: NodeState): number | undefined {
  const { timeoutMs, constraints } = node.node
  const contract = findRaoContract(node.node, candidateOf(node))
  const limits = [
    timeoutMs,
    constraints?.max_duration_ms,
    contract === undefined || isRaoError(contract) ? undefined : contract.maxInferenceMs,
  ]
  const given = limits.filter((limit) => limit !== undefined)
  return given.length > 0 ? Math.min(...given) : undefined
}

function startFact(state: RunState, moment: Moment, node: NodeState, iterations?: number): NewEvent {
  const { id, capabilityId, label, derived, facetProvenance, kind } = node.node
  return factsFor(state, moment.now)(
    'node_start',
    {
      ...(capabilityId !== undefined && { capabilityId }),
      ...(label !== undefined && { label }),
      ...(derived && { derived }),
      facetProvenance,
      ...(node.instance !== undefined && { kind }),
      ...(iterations !== undefined && { iterations }),
    },
    { nodeId: id },
  )
}

/** A map or a loop begins, if it has no more items than it may. */
function iteratedFacts(
  state: RunState,
  moment: Moment,
  node: NodeState,
  inputs: { readonly [name: string]: Json },
): NewEvent[] {
  const count = countIterations(node, inputs)
  if (typeof count === 'number') return [startFact(state, moment, node, count)]
  return [startFact(state, moment, node), nodeError(state, moment, node, { outcome: 'rejected', ...count })]
}

/** Content that strangers could have written has been read on the way here (DECISIONS 31). */
function needsApproval(state: RunState, node: NodeState, moment: Moment): boolean {
  if (state.envelope.policies.planner.directives?.sideEffects === 'allow') return false
  for (const other of state.nodes.values()) {
    for (const read of other.unapproved ?? []) if (moment.capability(read)?.untrusted ?? true) return true
    if (other === node || other.status !== 'completed' || other.completed?.person !== undefined) continue
    const capabilityId = other.completed?.capabilityId
    if (capabilityId !== undefined && (moment.capability(capabilityId)?.untrusted ?? true)) return true
  }
  return false
}

interface Change {
  readonly inputs: Json
  /** Content that nobody has checked was read on the way here. */
  readonly isUnchecked: boolean
  /** A call of the same capability with other inputs, in doubt. */
  readonly other: DoubtfulCall | undefined
}

function sideEffectFacts(state: RunState, moment: Moment, node: NodeState, change: Change): NewEvent[] {
  const { inputs, isUnchecked, other } = change
  const name = node.node.label ?? node.node.id
  const reasons = [
    ...(isUnchecked
      ? [`"${name}" changes something outside, after content that no person has checked.`]
      : []),
    ...(other
      ? [
          `"${name}" calls "${other.capabilityId}", and "${other.nodeId}" called it under plan ${other.planVersion} with other inputs, which may have taken effect.`,
        ]
      : []),
  ]
  const ask = askFacts(state, moment, {
    kind: 'side_effect',
    nodeId: node.node.id,
    question: `${reasons.join(' ')} Go ahead?`,
    value: inputs,
  })
  return ask === 'limit' ? [tooManyAsks(state, moment, node)] : ask
}

/** A person does the work: the ask is the call, and the reply its result. */
function taskFacts(state: RunState, moment: Moment, node: NodeState, inputs: Json): NewEvent[] {
  const { id, label, instructions, contracts } = node.node
  const feedback = feedbackFor(state, id)
  const ask = askFacts(state, moment, {
    kind: 'task',
    nodeId: id,
    question: instructions || messageIn(inputs) || `Do "${label ?? id}"`,
    value: inputs,
    schema: contracts.output,
    ...(feedback.length > 0 && { feedback }),
  })
  const started = node.started ? [] : [startFact(state, moment, node)]
  return ask === 'limit' ? [...started, tooManyAsks(state, moment, node)] : [...started, ...ask]
}

/** A question that was only put together on the way, such as the message of a pipeline's step. */
function messageIn(inputs: Json): string | undefined {
  const message = isObject(inputs) ? inputs['message'] : undefined
  return typeof message === 'string' ? message : undefined
}

function tooManyAsks(state: RunState, moment: Moment, node: NodeState): NewEvent {
  const failure = askLimitFailure(state, `"${node.node.label ?? node.node.id}" needs one`)
  return nodeError(state, moment, node, { outcome: 'rejected', ...failure })
}

function invalidInput(
  state: RunState,
  moment: Moment,
  node: NodeState,
  issues: EventPayloads['validation_error']['errors'],
): NewEvent[] {
  const facts = node.started ? [] : [startFact(state, moment, node)]
  return [
    ...facts,
    factsFor(state, moment.now)(
      'validation_error',
      { scope: `input:${node.node.id}`, errors: issues },
      { nodeId: node.node.id },
    ),
    nodeError(state, moment, node, {
      outcome: 'input_invalid',
      code: 'node/input-invalid',
      message: `The input of "${node.node.id}" does not satisfy its contract: ${issues[0]?.message ?? ''}`,
      issues,
    }),
  ]
}

function exhausted(state: RunState, moment: Moment, node: NodeState): NewEvent[] {
  const facts = node.started ? [] : [startFact(state, moment, node)]
  return [
    ...facts,
    nodeError(state, moment, node, {
      outcome: 'rejected',
      code: 'budget/exhausted',
      message: `The budget of the run does not allow "${node.node.id}" to start`,
      details: { ...usedUp(state) },
    }),
  ]
}

/** The first route whose condition holds; a condition that runs out of steps does not. */
function routeFacts(state: RunState, moment: Moment, node: NodeState, inputs: Json): NewEvent[] {
  const { routes, elseTo } = node.node.routing ?? { routes: [] }
  const route = routes.find((candidate) => holds(candidate.condition, inputs) === 'yes')
  const target = route?.to ?? elseTo ?? []
  const chosen = typeof target === 'string' ? [target] : target
  const start = startFact(state, moment, node)
  if (chosen.length === 0) {
    return [
      start,
      nodeError(state, moment, node, {
        outcome: 'rejected',
        code: 'node/no-route',
        message: `No route of "${node.node.id}" applies, and it has no elseTo`,
      }),
    ]
  }
  const value = {
    ...(isObject(inputs) ? (inputs as { [name: string]: Json }) : {}),
    ...(route?.label && { route: route.label }),
  }
  return [start, ...completeFacts(state, moment, node, { output: { value }, chosen })]
}
