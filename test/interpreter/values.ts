/** What the world of a case answers: shared by the interpreter and by the capabilities that the real run calls. */
import { mix } from '../sim/random.ts'
import {
  type Answer,
  allNodes,
  type Case,
  type CaseNode,
  type Decision,
  isStructured,
  type Value,
} from './case.ts'

export type Values = { readonly [name: string]: Value }

/** The output of a capability for its inputs, as every one of its attempts gives it. A model's does not depend on them. */
export function computeOutput(node: CaseNode, capabilityId: string, inputs: Values): Values {
  const seen = node.executor === 'model' ? {} : inputs
  const names = Object.keys(seen).sort()
  const number = mix(capabilityId, ...names.flatMap((name) => [name, JSON.stringify(seen[name])]))
  return { [`v${node.key}`]: number.toString(36), [`s${node.key}`]: number % 10 }
}

/** What a person puts in the place of a node's output: it satisfies every condition on it. */
export function editedOutput(node: CaseNode): Values {
  return { [`v${node.key}`]: 'edited', [`s${node.key}`]: 9 }
}

/** The same for the output that is shown of a node of any kind: a list keeps its length, inputs keep their names. */
export function editedShown(node: CaseNode, shown: Value): Value {
  if (node.role === 'loop') return { v: 'edited', s: 9 }
  if (node.role === 'map') {
    const item =
      node.iteration?.onItemFail === 'collect' ? { status: 'completed', value: 'edited' } : 'edited'
    return (shown as readonly Value[]).map(() => item)
  }
  if (node.role !== 'routing') return editedOutput(node)
  const entries = Object.entries(shown as Values)
  return Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'number' ? 9 : 'edited']))
}

/** A route is edited only where one is taken whatever the values are. */
export function mayEdit({ role, elseTo }: CaseNode): boolean {
  return role !== 'routing' || elseTo.length > 0
}

export function capabilityId(node: CaseNode, candidate: number): string {
  return `${node.id}${node.variant ?? ''}.c${candidate}`
}

/** How the nth attempt of a capability ends at this address, such as `n2[3].n4`. */
export function answerAt(node: CaseNode, candidate: number, at: { address: string; nth: number }): Answer {
  const { answers, rest, spoilt } = node.scripts[candidate]!
  if (spoilt !== undefined && mix(at.address, 'spoilt') % 4 < spoilt.outOfFour) return spoilt.answer
  return answers[at.nth] ?? rest
}

/** What a person says about this address. In bodies it depends on the item. */
export function decisionAt({ seed, decisions, policies }: Case, address: string): Decision {
  const known = decisions[address]
  if (known !== undefined) return known
  const silent = policies.every(({ nodeId }) => nodeId !== undefined) ? 'ignore' : 'reject'
  const said = ['approve', 'approve', 'approve', 'edit', 'edit', 'reject', 'retry', 'retry', silent] as const
  return said[mix(seed, address) % said.length]!
}

/** No, or no answer in time: both end what was asked about. */
export function refuses(decision: Decision | undefined): boolean {
  return decision === 'reject' || decision === 'ignore'
}

/** The answer that a person writes instead of the run's. */
export function editedAnswer({ outputs }: Case): Values {
  const written = { v: 'written by a person', s: 7, list: [] } as const
  return Object.fromEntries(
    outputs.filter(({ required }) => required).map(({ name, type }) => [name, written[type]]),
  )
}

/**
 * What a person says when asked whether a node may change the world. No only where the question is certain to come: what
 * the node must read is what an agent wrote, and no person has seen it.
 */
export function decideEffect(given: Case, node: CaseNode): 'approve' | 'reject' {
  const certain = node.inputs.some(({ required, sources = [] }) => {
    const [only, ...others] = sources
    if (!required || !only || others.length > 0 || !('node' in only)) return false
    const source = given.nodes.find(({ id }) => id === only.node)
    return source !== undefined && isUnseen(given, source)
  })
  const asked = node.sideEffect && !given.sideEffectsAllowed && given.nodes.some(({ id }) => id === node.id)
  return asked && certain && mix(given.seed, node.id, 'effect') % 2 === 0 ? 'reject' : 'approve'
}

/** Whatever it yields comes from an agent. */
function isUnseen(
  { onNodeFail, policies }: Case,
  { id, role, executor, rao, labelled, ...rest }: CaseNode,
): boolean {
  const isAgent = role === 'work' && executor === 'agent'
  const asks =
    rao || labelled || (rest.onFail ?? onNodeFail) === 'ask' || (rest.sideEffect && !rest.idempotent)
  return isAgent && !asks && !policies.some(({ nodeId }) => nodeId === id)
}

/** Whether attempts may be cut off at an unpredictable time, or repeated. */
export function isInterrupted(given: Case): boolean {
  const { crashes, policies, askBeforeFinish, decisions, nodes } = given
  const again = askBeforeFinish && /reject|retry|replan/.test(decisions['final'] ?? '')
  const newPlan = nodes.some(({ id, labelled }) => labelled && decisions[id] === 'replan')
  // A list, a state or a route that is sent back has everything that it was made from done again.
  const remade = allNodes(given).some((node) => {
    const decision = nodes.includes(node) ? (decisions[node.id] ?? '') : 'retry'
    return node.labelled && isStructured(node) && /reject|retry/.test(decision)
  })
  return crashes || policies.length > 0 || again || newPlan || remade
}

/**
 * What a person says when asked for the nth time about a call that may have changed the world: where calls are cut off,
 * always that it is made again; else at most twice.
 */
export function unknownDecisionAt(given: Case, address: string, nth: number): Decision {
  if (isInterrupted(given)) return 'approve'
  return nth > 2 ? 'reject' : decisionAt(given, address)
}
