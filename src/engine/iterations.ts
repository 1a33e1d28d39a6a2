/**
 * Maps and loops: which items or rounds begin, what those that are over have come to, and how the node itself ends. The
 * nodes of an item are decided like any others.
 */
import type { Json } from '../base/json.ts'
import { composeOutput } from '../domain/bound-values.ts'
import type { EventPayloads, Failure, NewEvent } from '../domain/event.ts'
import { instanceId, isWithin, outputIn } from '../domain/instance.ts'
import { givenTo, indexAt, isDoomed } from '../domain/iterations.ts'
import { iterationDefaults } from '../domain/plan.ts'
import type {
  Instance,
  IterationFailure,
  IterationResult,
  Iterations,
  NodeState,
  RunState,
} from '../domain/run.ts'
import { compileSchema } from '../schema/compile.ts'
import { expireFact } from './asks.ts'
import { holds } from './conditions.ts'
import { factsFor, type Moment } from './fact.ts'
import { nodeFailureAsk } from './failure-asks.ts'
import { isHeld } from './head.ts'
import { concurrencyOf } from './iteration-work.ts'
import { completeFacts, nodeError, unmetFacts } from './judge.ts'
import { brokenConditions } from './obligations.ts'
import { policyFacts } from './policies.ts'
import { knownValues } from './values.ts'

/** The next thing that has to be done about a map or a loop. */
export function iterationFacts(state: RunState, moment: Moment): NewEvent[] {
  if (state.cancel || state.failing) return []
  for (const nodeId of state.iterating) {
    const node = state.nodes.get(nodeId)
    if (!node?.iterations || node.status !== 'running' || isDoomed(state, node)) continue
    const facts = factsOf(state, moment, { node, iterations: node.iterations })
    if (facts.length > 0) return facts
  }
  return []
}

/** How many items or rounds a map or a loop has; or why it cannot begin. */
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
    hint: 'Raise maxItems of the map (max_items in a pipeline), or bind a shorter list',
    details: { limitName: 'maxItems', limit: maxItems, actual: length },
  })
}

/** A bound was reached; the issue names what to change. */
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

function factsOf(state: RunState, moment: Moment, underWay: UnderWay): NewEvent[] {
  const { node, iterations } = underWay
  // Attempts of those that have failed were interrupted before this.
  const ended = [...iterations.settled, ...(iterations.failure ? [] : iterations.doomed)]
  const over = ended.find((id) => !isAskedAbout(state, id))
  const instance = over === undefined ? undefined : state.instances.get(over)
  if (instance) return endFacts(state, moment, { ...underWay, instance })
  if (iterations.failure) return failFacts(state, moment, underWay)
  const done = node.node.map ? endOfMap(underWay) : endOfLoop(underWay)
  if (done && 'code' in done) return [nodeError(state, moment, node, { outcome: 'rejected', ...done })]
  if (done) return finish(state, moment, node, done.value)
  return isHeld(state) ? [] : startFacts(state, moment, underWay)
}

/** A policy asks about a node of it, and a rejection may have the node run again: it does not end before the reply. */
function isAskedAbout(state: RunState, instance: string): boolean {
  for (const requestId of state.openAsks) {
    const { kind, nodeId = '' } = state.asks.get(requestId) ?? {}
    if (kind === 'policy' && isWithin(nodeId, instance)) return true
  }
  return false
}

/** An item or a round is over; what was asked in it and not answered is taken back first. */
function endFacts(
  state: RunState,
  moment: Moment,
  { node, instance, status }: UnderWay & { readonly instance: Instance; readonly status?: 'cancelled' },
): NewEvent[] {
  for (const requestId of state.openAsks) {
    const ask = state.asks.get(requestId)
    // What a policy asks is about the run, wherever it began.
    if (ask?.policyId === undefined && isWithin(ask?.nodeId ?? '', instance.id))
      return [expireFact(state, moment.now, { requestId, note: `${instance.id} is over` })]
  }
  const { of, index } = instance
  const result = status ? { status } : resultOf(state, node, instance)
  return [factsFor(state, moment.now)('iteration_end', { of, index, ...result }, { nodeId: instance.id })]
}

type IterationEnd = Omit<EventPayloads['iteration_end'], 'of' | 'index'>

function resultOf(state: RunState, node: NodeState, instance: Instance): IterationEnd {
  if (instance.fatal !== undefined) {
    const { outcome, error } = state.nodes.get(instance.fatal)?.failed ?? unexplained(instance.fatal)
    const details = { nodeId: instance.fatal, ...error.details }
    return { status: 'failed', outcome, error: { ...error, details } }
  }
  const place = { instance: instance.id, given: givenTo(node, instance.index) }
  const output = node.node.body && composeOutput(state, outputIn(node.node.body.output, place))
  if (output === undefined) {
    const message = `${instance.id} yields nothing: no node that its output is bound to has completed`
    return { status: 'failed', outcome: 'rejected', error: { code: 'node/failed', message } }
  }
  const issues =
    node.node.loop?.state === undefined ? [] : compileSchema(node.node.loop.state).validate(output)
  if (issues.length === 0) return { status: 'completed', output }
  const message = `Round ${instance.index} yields no state of the loop: ${issues[0]?.message ?? ''}`
  return { status: 'failed', outcome: 'invalid', error: { code: 'loop/state', message, issues } }
}

/** The node has failed: what is under way is cancelled, and then it ends with the first failure. */
function failFacts(state: RunState, moment: Moment, { node, iterations }: UnderWay): NewEvent[] {
  for (const id of iterations.active) {
    const instance = state.instances.get(id)
    if (instance) return endFacts(state, moment, { node, iterations, instance, status: 'cancelled' })
  }
  const place = iterations.results.findIndex((result) => result && 'failure' in result)
  const { error, outcome } = iterations.failure ?? unexplained(node.node.id)
  const where = instanceId(node.node, indexAt(node, place))
  return [nodeError(state, moment, node, { outcome, ...error, message: `${where}: ${error.message}` })]
}

function unexplained(nodeId: string): IterationFailure {
  return { outcome: 'rejected', error: { code: 'node/failed', message: `"${nodeId}" failed` } }
}

/** All items are over: the list that the map yields. */
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

/** The exit condition holds, or there are no more rounds. */
function endOfLoop({ node, iterations }: UnderWay): { readonly value: Json } | Failure | undefined {
  const last = iterations.results[iterations.ended - 1]
  const { until, onMaxRounds = 'fail' } = node.node.loop ?? {}
  if (last === undefined || !('value' in last)) return undefined
  if (until !== undefined && holds(until, last.value) === 'yes') return last
  if (iterations.ended < iterations.total) return undefined
  if (until === undefined || onMaxRounds === 'accept') return last
  return limitFailure('loop/limit', {
    message: `"${node.node.label ?? node.node.id}" has gone ${iterations.total} rounds, and its exit condition does not hold`,
    hint: 'Raise maxRounds of the loop (max_loops in a pipeline), change its exit condition, or accept the last state (onMaxRounds, on_max_loops)',
    details: { limitName: 'maxRounds', limit: iterations.total },
  })
}

/** The value is held to the contract and the conditions of the node like any other. */
function finish(state: RunState, moment: Moment, node: NodeState, value: Json): NewEvent[] {
  const nodeId = node.node.id
  const schemaIssues = compileSchema(node.node.contracts.output).validate(value)
  const issues = schemaIssues.length > 0 ? schemaIssues : brokenConditions(state, node, value)
  if (issues.length === 0) return completeFacts(state, moment, node, { output: { value } })
  const reported = factsFor(state, moment.now)(
    'validation_error',
    { scope: `node:${nodeId}`, errors: issues },
    { nodeId },
  )
  const acted = policyFacts(state, moment, {
    kinds: ['onValidationFail'],
    node,
    values: () => knownValues(state, value, node),
    fresh: value,
    failure: () => nodeFailureAsk(state, node, { outcome: 'invalid', output: { value }, issues }),
  })
  if (acted.some(({ type }) => type === 'hitl_request')) return [reported, ...acted]
  return [reported, ...acted, ...unmetFacts(state, moment, node, { value, issues })]
}

/** As many items as may be under way together; of a loop the next round. */
function startFacts(state: RunState, moment: Moment, { node, iterations }: UnderWay): NewEvent[] {
  const make = factsFor(state, moment.now)
  const room = concurrencyOf(state, node) - iterations.active.size
  const facts: NewEvent[] = []
  for (let place = iterations.next; facts.length < room && place < iterations.total; place++) {
    if (iterations.results[place] !== undefined) continue
    const index = indexAt(node, place)
    const nodeId = instanceId(node.node, index)
    facts.push(make('iteration_start', { of: node.node.id, index }, { nodeId }))
  }
  return facts
}
