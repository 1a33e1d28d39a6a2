/**
 * What a draft means, worked out a second time: node after node, in the plainest way, from the rules in
 * docs/reference/plan.md and docs/reference/engine.md. It shares no code with the prover, the fold or the decisions of the
 * engine.
 */
import type { Case, CaseNode, CasePolicy, Value } from '../case.ts'
import { replanned } from '../draft.ts'
import { decisionAt, editedAnswer, refuses, type Values } from '../values.ts'
import type { Ends, Expected, NodeEnd, Scope } from './expected.ts'
import { firstSupplied, interpretGraph, sourcesByName } from './graph.ts'

export function interpret(given: Case): Expected {
  const first = interpretPlan(given)
  if (!ordersPlan(given, first.nodes)) return first
  // A new plan keeps what is done, or does it again: every attempt ends alike where new plans are ordered. What it changes
  // is done anew, and so is all that was made from it: the answer is that of the new plan alone.
  const spent = new Set(actingPolicies(given, first.nodes).filter(({ action }) => action === 'replan'))
  // A policy orders one new plan. The node that it checks is done again, and then the next policy in the list acts.
  const policies = given.policies.filter((policy) => !spent.has(policy))
  const second = interpretPlan({ ...replanned(given), policies })
  const nodes = new Map(
    [...second.nodes].map(([id, end]) => [id, first.nodes.has(id) ? sentBackBefore(given, end) : end]),
  )
  return { ...second, nodes, earlier: first.nodes }
}

/**
 * A node that people send back: how often they do so counts over all plans, and it depends on who was faster how often they
 * did before the new plan came. So each of its calls happens at least once under the new plan, and the repetitions may not.
 */
function sentBackBefore(given: Case, end: NodeEnd): NodeEnd {
  const seen = new Set<string>()
  const calls = end.calls.map((call) => {
    const key = JSON.stringify([call.address, call.capabilityId, call.inputs])
    const isRepeated = seen.has(key)
    seen.add(key)
    return isRepeated && /retry|reject/.test(decisionAt(given, call.address)) ? { ...call, least: 0 } : call
  })
  return { ...end, calls }
}

/**
 * The case as it can be foretold: where something ends the first plan, it depends on who was faster whether the new plan
 * comes before, and then it changes nothing.
 */
export function foreseeable(given: Case): Case {
  const { change, ...unchanged } = given
  const changed = given.nodes.find(({ id }) => id === change?.nodeId)
  // What a person wrote is kept where it satisfies what the new plan asks of it.
  const isWritten = changed?.labelled === true && given.decisions[changed.id] === 'edit'
  return interpretPlan(given).status === 'completed' && !isWritten ? given : unchanged
}

export function interpretPlan(given: Case): Expected {
  const scope: Scope = { given, graph: given, prefix: '', supplied: {} }
  const { ends, lost } = interpretGraph(scope)
  const causes = lost.map(({ id }) => id)
  for (const { endedBy } of ends.values()) if (endedBy !== undefined) causes.push(endedBy)
  for (const policy of actingPolicies(given, ends)) {
    const rejected = policy.action === 'hitl' && refuses(given.decisions[policy.id])
    if (policy.action === 'fail' || rejected) causes.push(policy.id)
  }
  const cause = causes[0]
  if (cause !== undefined) return { status: 'failed', nodes: ends, cause }
  const output = computeAnswer(given, ends)
  const lacking = lackingOutput(given, ends)
  if (lacking !== undefined) return { status: 'failed', nodes: ends, cause: `the answer lacks ${lacking}` }
  if (!hasSize(given, output)) return { status: 'failed', nodes: ends, cause: 'the answer has another size' }
  // Work is done again at most three times; a person who rejects every time ends the run.
  const final = given.askBeforeFinish ? given.decisions['final'] : 'approve'
  if (refuses(final)) return { status: 'failed', nodes: ends, cause: 'final' }
  return { status: 'completed', nodes: ends, output: final === 'edit' ? editedAnswer(given) : output }
}

export function computeAnswer(given: Case, ends: Ends): Values {
  const output: { [name: string]: Value } = {}
  for (const { name, value } of slots(given, ends)) if (value !== undefined) output[name] = value
  return output
}

/** A required member of the answer that no source supplies. */
export function lackingOutput(given: Case, ends: Ends): string | undefined {
  return slots(given, ends).find(({ required, value }) => required && value === undefined)?.name
}

export function hasSize({ answerSize }: Case, output: Values): boolean {
  const { minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = answerSize ?? {}
  const size = Object.keys(output).length
  return size >= minProperties && size <= maxProperties
}

/** An output slot takes the first of its sources that completed; bound by name, the node that comes later wins. */
function slots(given: Case, ends: Ends) {
  const scope: Scope = { given, graph: given, prefix: '', supplied: {} }
  return given.outputs.map(({ name, type, required, sources }) => ({
    name,
    required,
    value: firstSupplied(scope, sources ?? sourcesByName(given.nodes, { name, type }), ends),
  }))
}

/** The policies that act: for the completion of a node the first that matches, for the time of the run the one on it. */
function actingPolicies({ policies, nodes }: Case, ends: Ends): CasePolicy[] {
  const acting = nodes.flatMap((node) => actingOn(policies, node, ends.get(node.id)))
  const stalled = [...ends.values()].some((end) => end.stalled)
  return [...acting, ...policies.filter(({ nodeId }) => nodeId === undefined && stalled)]
}

function actingOn(policies: readonly CasePolicy[], node: CaseNode, end: NodeEnd | undefined): CasePolicy[] {
  if (end?.status !== 'completed') return []
  const output = end.output as Values
  const first = policies.find(({ nodeId, below, onInvalid }) => {
    const score = output[below.name]
    return nodeId === node.id && !onInvalid && typeof score === 'number' && score < below.value
  })
  return first ? [first] : []
}

/** Whether a policy or a person orders a new plan. */
function ordersPlan(given: Case, ends: Ends): boolean {
  const { nodes, decisions, askBeforeFinish } = given
  if (actingPolicies(given, ends).some(({ action }) => action === 'replan')) return true
  if (askBeforeFinish && decisions['final'] === 'replan') return true
  return nodes.some(({ id, labelled }) => {
    const { status, written } = ends.get(id) ?? {}
    return labelled && decisions[id] === 'replan' && status === 'completed' && !written
  })
}
