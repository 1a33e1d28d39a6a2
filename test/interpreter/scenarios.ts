/**
 * When a prover may turn a draft of a case down: some way through it leaves a required member of the answer without a
 * value, or a node can never run. Every combination of routes and caught failures counts as a way, feasible or not, so the
 * answer "no" is certain and "yes" means "perhaps".
 */
import type { Case, CaseNode } from './cases.ts'
import { type Expected, interpret, lackingOutput } from './interpret.ts'

export function mayBeRejected(given: Case): boolean {
  const ran = new Set<string>()
  for (const way of ways(given)) {
    const { nodes }: Expected = interpret(way)
    for (const [id, { status }] of nodes) if (status !== 'skipped') ran.add(id)
    if (lackingOutput(way, nodes) !== undefined) return true
  }
  return given.nodes.some(({ id }) => !ran.has(id))
}

/** The case with every choice made: failures of nodes that are caught, and one route of each routing node. */
function* ways(given: Case): Generator<Case> {
  const choices = given.nodes.map((node) => choicesOf(given, node))
  const total = choices.reduce((product, { length }) => product * length, 1)
  for (let number = 0; number < total; number++) {
    let rest = number
    const nodes = choices.map((options) => {
      const option = options[rest % options.length]!
      rest = Math.floor(rest / options.length)
      return option
    })
    yield { ...given, nodes, policies: [], askBeforeFinish: false }
  }
}

function choicesOf({ edges = [], nodes }: Case, node: CaseNode): CaseNode[] {
  const simple = { ...node, rao: false, retryMax: 0 }
  if (node.role === 'routing') {
    // Without elseTo there is a way on which the node fails.
    return [...node.routes.map(({ to }) => to), node.elseTo].map((choice) => ({ ...simple, choice }))
  }
  const works = { ...simple, scripts: [{ answers: [], rest: { kind: 'ok' } as const }] }
  const caught =
    edges.length === 0
      ? nodes.some(({ standsInFor }) => standsInFor === node.id)
      : edges.some(({ from, when }) => from === node.id && when !== 'pass')
  if (!caught) return [works]
  return [works, { ...simple, scripts: [{ answers: [], rest: { kind: 'final-error' } as const }] }]
}
