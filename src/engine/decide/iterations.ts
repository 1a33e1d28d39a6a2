/**
 * Maps and loops: starts items and rounds, records the results of finished ones, and ends the node itself. Nodes inside an
 * item are decided like all others.
 */
import type { Json } from '../../base/json.ts'
import type { EventPayloads, Failure, NewEvent } from '../../domain/event.ts'
import { iterationDefaults } from '../../domain/plan.ts'
import { instanceId, isWithin, outputIn } from '../../domain/run/body-instance.ts'
import { composeOutput } from '../../domain/run/bound-values.ts'
import { givenTo, isDoomed, toIndex } from '../../domain/run/iterations.ts'
import type {
  Instance,
  IterationFailure,
  IterationResult,
  Iterations,
  NodeState,
  RunState,
} from '../../domain/run.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import { type DecisionContext, factsFor } from '../events.ts'
import { getConcurrency, isHeld } from '../journal/run-head.ts'
import { expireFact } from './ask/asks.ts'
import { nodeFailureAsk } from './ask/failure-asks.ts'
import { holds, reasonFor } from './checks/conditions.ts'
import { brokenConditions } from './checks/obligations.ts'
import { knownValues } from './checks/values.ts'
import { approvedFacts, nodeError, unmetFacts } from './judge.ts'
import { policyFacts } from './policies.ts'

/** Returns the next events of a map or a loop. */
export function iterationFacts(state: RunState, context: DecisionContext): NewEvent[] {
  // A new plan repeats the work that it was ordered for: the item does not end before.
  if (state.cancel || state.failing || state.replan || state.planning) return []
  for (const nodeId of state.iterating) {
    const node = state.nodes.get(nodeId)
    if (!node?.iterations || node.status !== 'running' || isDoomed(state, node)) continue
    const facts = getFacts(state, context, { node, iterations: node.iterations })
    if (facts.length > 0) return facts
  }
  return []
}

/** Returns the number of items or rounds; or the failure, if there are too many items. */
export function countIterations(
  { node }: NodeState,
  inputs: { readonly [name: string]: Json },
): number | Failure {
  if (node.map === undefined) return node.loop?.maxRounds ?? iterationDefaults.maxRounds
  const { maxItems = iterationDefaults.maxItems } = node.map
  const { length } = inputs['items'] as readonly Json[]
  if (length <= maxItems) return length
  const name = node.label ?? node.id
  return limitFailure('map/limit', {
    message: `The list of "${name}" has ${length} items, and the map takes at most ${maxItems} items`,
    hint: 'Send a shorter list in `inputs` of the envelope; with a draft of your own, raise `maxItems` of the map, in a pipeline `max_items`',
    details: { limitName: 'maxItems', limit: maxItems, actual: length },
  })
}

/** A limit was reached; the issue names the setting to change. */
function limitFailure(
  code: 'map/limit' | 'loop/limit',
  said: {
    readonly message: string
    readonly hint: string
    readonly details: { readonly [name: string]: Json }
  },
): Failure {
  const { message, hint, details } = said
  return { code, message, issues: [{ code, at: { pointer: '' }, message, hint }], details }
}

interface UnderWay {
  readonly node: NodeState
  readonly iterations: Iterations
}

function getFacts(state: RunState, context: DecisionContext, underWay: UnderWay): NewEvent[] {
  const { node, iterations } = underWay
  // Attempts of failed items were interrupted before this.
  const ended = [...iterations.settled, ...(iterations.failure ? [] : iterations.doomed)]
  const over = ended.find((id) => !isAskedAbout(state, id))
  const instance = over === undefined ? undefined : state.instances.get(over)
  if (instance) return endFacts(state, context, { ...underWay, instance })
  if (iterations.failure) return failFacts(state, context, underWay)
  const done = node.node.map ? endOfMap(underWay) : endOfLoop(underWay)
  if (done && 'code' in done) return [nodeError(state, context, node, { outcome: 'rejected', ...done })]
  if (done) return finish(state, context, node, done.value)
  return isHeld(state) ? [] : startFacts(state, context, underWay)
}

/** A policy asks about a node of this instance, and a rejection may reopen the node: the instance ends after the reply only. */
function isAskedAbout(state: RunState, instance: string): boolean {
  for (const requestId of state.openAsks) {
    const { kind, nodeId = '' } = state.asks.get(requestId) ?? {}
    if (kind === 'policy' && isWithin(nodeId, instance)) return true
  }
  return false
}

/** Ends an item or a round, after expiring its open asks. */
function endFacts(
  state: RunState,
  context: DecisionContext,
  { node, instance, status }: UnderWay & { readonly instance: Instance; readonly status?: 'cancelled' },
): NewEvent[] {
  for (const requestId of state.openAsks) {
    const ask = state.asks.get(requestId)
    // An ask of a policy is about the run, regardless of the node where it started.
    if (ask?.policyId === undefined && isWithin(ask?.nodeId ?? '', instance.id))
      return [expireFact(state, context.now, { requestId, note: `${instance.id} is over` })]
  }
  const { of, index } = instance
  const result = status ? { status } : toResult(state, node, instance)
  return [factsFor(state, context.now)('iteration_end', { of, index, ...result }, { nodeId: instance.id })]
}

type IterationEnd = Omit<EventPayloads['iteration_end'], 'of' | 'index'>

function toResult(state: RunState, node: NodeState, instance: Instance): IterationEnd {
  if (instance.fatal !== undefined) {
    const { outcome, error } = state.nodes.get(instance.fatal)?.failed ?? unexplained(instance.fatal)
    const details = { nodeId: instance.fatal, ...error.details }
    return { status: 'failed', outcome, error: { ...error, details } }
  }
  const location = { instance: instance.id, given: givenTo(node, instance.index) }
  const output = node.node.body && composeOutput(state, outputIn(node.node.body.output, location))
  if (output === undefined) {
    const message = `${instance.id} yields nothing: no node that its output is bound to has completed`
    return { status: 'failed', outcome: 'rejected', error: { code: 'node/failed', message } }
  }
  const issues =
    node.node.loop?.state === undefined
      ? []
      : compileSchema(node.node.loop.state, state.compileOptions).validate(output)
  if (issues.length === 0) return { status: 'completed', output }
  const message = `Round ${instance.index} yields no state of the loop: ${issues[0]?.message ?? ''}`
  return { status: 'failed', outcome: 'invalid', error: { code: 'loop/state', message, issues } }
}

/** The node has failed: cancels the active items, then ends the node with the first failure. */
function failFacts(state: RunState, context: DecisionContext, { node, iterations }: UnderWay): NewEvent[] {
  for (const id of iterations.active) {
    const instance = state.instances.get(id)
    if (instance) return endFacts(state, context, { node, iterations, instance, status: 'cancelled' })
  }
  const position = iterations.results.findIndex((result) => result && 'failure' in result)
  const { error, outcome } = iterations.failure ?? unexplained(node.node.id)
  const where = instanceId(node.node, toIndex(node, position))
  return [nodeError(state, context, node, { outcome, ...error, message: `${where}: ${error.message}` })]
}

function unexplained(nodeId: string): IterationFailure {
  return { outcome: 'rejected', error: { code: 'node/failed', message: `"${nodeId}" failed` } }
}

/** Returns the resulting list once all items have ended. */
function endOfMap({ node, iterations }: UnderWay): { readonly value: Json } | undefined {
  if (iterations.ended < iterations.total) return undefined
  const results = iterations.results.filter((result) => result !== undefined)
  return { value: results.flatMap((result) => inList(result, node.node.map?.onItemFail ?? 'fail')) }
}

function inList(result: IterationResult, policy: 'fail' | 'skip' | 'collect'): Json[] {
  if (policy !== 'collect') return 'value' in result ? [result.value] : []
  if ('value' in result) return [{ status: 'completed', value: result.value }]
  const { code, message, details } = result.failure.error
  return [{ status: 'failed', error: { code, message, ...(details && { details }) } }]
}

/** Ends the loop if the exit condition holds or no rounds are left. */
function endOfLoop({ node, iterations }: UnderWay): { readonly value: Json } | Failure | undefined {
  const last = iterations.results[iterations.ended - 1]
  const { until, onMaxRounds = 'fail' } = node.node.loop ?? {}
  if (last === undefined || !('value' in last)) return undefined
  if (until !== undefined && holds(until, last.value) === 'yes') return last
  if (iterations.ended < iterations.total) return undefined
  if (until === undefined || onMaxRounds === 'accept') return last
  const reason = reasonFor(until, last.value)
  return limitFailure('loop/limit', {
    message: `"${node.node.label ?? node.node.id}" has gone ${iterations.total} rounds, and its exit condition does not hold${reason === undefined ? '' : `: ${reason}`}`,
    hint: 'Raise maxRounds of the loop (max_loops in a pipeline), change its exit condition, or accept the last state (onMaxRounds, on_max_loops)',
    details: { limitName: 'maxRounds', limit: iterations.total },
  })
}

/** Checks the value against the contract and the conditions of the node, like any other output. */
function finish(state: RunState, context: DecisionContext, node: NodeState, value: Json): NewEvent[] {
  const nodeId = node.node.id
  const schemaIssues = compileSchema(node.node.contracts.output, state.compileOptions).validate(value)
  const issues = schemaIssues.length > 0 ? schemaIssues : brokenConditions(state, node, value)
  if (issues.length === 0) return approvedFacts(state, context, node, { output: { value } })
  const reported = factsFor(state, context.now)(
    'validation_error',
    { scope: `node:${nodeId}`, errors: issues },
    { nodeId },
  )
  const acted = policyFacts(state, context, {
    kinds: ['onValidationFail'],
    node,
    values: () => knownValues(state, value, node),
    fresh: value,
    failure: () => nodeFailureAsk(state, node, { outcome: 'invalid', output: { value }, issues }),
  })
  if (acted.some(({ type }) => type === 'hitl_request')) return [reported, ...acted]
  return [reported, ...acted, ...unmetFacts(state, context, node, { value, issues })]
}

/** Starts as many items as concurrency allows; for a loop, the next round. */
function startFacts(state: RunState, context: DecisionContext, { node, iterations }: UnderWay): NewEvent[] {
  const make = factsFor(state, context.now)
  const free = getConcurrency(state, node) - iterations.active.size
  const facts: NewEvent[] = []
  for (let position = iterations.next; facts.length < free && position < iterations.total; position++) {
    if (iterations.results[position] !== undefined) continue
    const index = toIndex(node, position)
    const nodeId = instanceId(node.node, index)
    facts.push(make('iteration_start', { of: node.node.id, index }, { nodeId }))
  }
  return facts
}
