/**
 * When a prover may turn a draft of a case down: some way through it leaves a required member of the answer without a
 * value, or a node without what a node that completed should supply, or a node can never run. Every combination of routes, caught failures and empty lists counts as a way, feasible or
 * not, so the answer "no" is certain and "yes" means "perhaps".
 */
import type { Case, CaseNode, Graph, Value } from '../case.ts'
import type { Scope } from './expected.ts'
import { firstSupplied, interpretGraph, isCaught } from './graph.ts'
import { computeAnswer, hasSize, interpretPlan, lackingOutput } from './interpret.ts'

export function mayBeRejected(given: Case): boolean {
  for (const nodes of ways(given)) {
    const way: Case = { ...given, nodes, policies: [], askBeforeFinish: false }
    const { nodes: ends } = interpretPlan(way)
    if (lackingOutput(way, ends) !== undefined || !hasSize(given, computeAnswer(way, ends))) return true
  }
  return hasIdleNode(given, { given, graph: given, prefix: '', supplied: {} })
}

/** A node that runs on no way, or lacks an input that its source does not have; here or in a body. */
function hasIdleNode(graph: Graph, scope: Scope): boolean {
  const ran = new Set<string>()
  for (const nodes of ways(graph)) {
    const { ends } = interpretGraph({ ...scope, graph: { ...graph, nodes } })
    for (const [id, { status }] of ends) if (status !== 'skipped') ran.add(id)
    for (const { inputs } of nodes)
      for (const { required, sources = [] } of inputs) {
        const completed = sources.some(
          (source) => 'node' in source && ends.get(source.node)?.status === 'completed',
        )
        if (required && completed && firstSupplied(scope, sources, ends) === undefined) return true
      }
  }
  return graph.nodes.some(({ id, iteration, inputs }) => {
    if (!ran.has(id)) return true
    const others = Object.fromEntries(inputs.map(({ name, type }) => [name, type === 's' ? 0 : '']))
    const supplied = { ...others, item: '', index: 0, state: { v: '', s: 0 }, round: 1 }
    return iteration !== undefined && hasIdleNode(iteration.body, { ...scope, supplied })
  })
}

/** The nodes with every choice made. */
function* ways(graph: Graph): Generator<CaseNode[]> {
  const choices = graph.nodes.map((node) => choicesOf(graph, node))
  const total = choices.reduce((product, { length }) => product * length, 1)
  for (let number = 0; number < total; number++) {
    let rest = number
    yield choices.map((options) => {
      const option = options[rest % options.length]!
      rest = Math.floor(rest / options.length)
      return option
    })
  }
}

function choicesOf(graph: Graph, node: CaseNode): CaseNode[] {
  const ends = outputsOf(node).map((output): CaseNode => ({ ...node, forced: { output } }))
  const routed = [...node.routes.map(({ to }) => to), node.elseTo]
  // Without elseTo there is a way on which a routing node fails.
  const options =
    node.role !== 'routing'
      ? ends
      : routed.map(
          (chosen): CaseNode => ({
            ...node,
            forced: chosen.length > 0 ? { ...ends[0]!.forced, chosen } : {},
          }),
        )
  return isCaught(graph, node) ? [...options, { ...node, forced: {} }] : options
}

function outputsOf({ role, key, inputs }: CaseNode): Value[] {
  if (role === 'map') return [[''], []]
  if (role === 'loop') return [{ v: '', s: 0 }]
  if (role !== 'routing') return [{ [`v${key}`]: '', [`s${key}`]: 0 }]
  return [
    Object.fromEntries(
      inputs.filter(({ required }) => required).map(({ name, type }) => [name, type === 's' ? 0 : '']),
    ),
  ]
}
