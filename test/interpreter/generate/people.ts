/** Policies, and what people decide. */
import { type Random, randomFor } from '../../sim/random.ts'
import {
  allNodes,
  type Case,
  type CaseNode,
  type CasePolicy,
  type Decision,
  isStructured,
  stallTimeoutMs,
} from '../case.ts'
import type { Features } from './features.ts'

/** Silence takes its time: there is none where a policy depends on the time of the run. */
export function makeDecisions(
  random: Random,
  nodes: readonly CaseNode[],
  { steady, silence }: { readonly steady: boolean; readonly silence: boolean },
): Case['decisions'] {
  const held = new Set(nodes.filter((node) => node.labelled && isStructured(node)).map(({ id }) => id))
  const subjects = [...nodes.map(({ id }) => id), 'x', 'final', 'policy-0', 'policy-1']
  return Object.fromEntries(
    subjects.map((subject): [string, Decision] => {
      if (silence && random.chance(0.08)) return [subject, 'ignore']
      const decision = random.pick(['approve', 'approve', 'edit', 'reject', 'retry', 'replan'] as const)
      // Work that is done again after a rejection is the same only where every attempt ends alike.
      const remade = subject === 'final' || held.has(subject)
      const again = remade ? /reject|retry|replan/.test(decision) : decision === 'replan'
      return [subject, again && !steady ? 'approve' : decision]
    }),
  )
}

export function makePolicies(random: Random, nodes: readonly CaseNode[], features: Features): CasePolicy[] {
  // One capability, one score: what a policy sees must not depend on which of two nodes was faster.
  const watched = nodes.filter(({ role, scripts }) => role !== 'routing' && scripts.length === 1)
  if (watched.length === 0) return []
  const actions = [
    'emit',
    'fail',
    'pause',
    'hitl',
    ...(features.steady ? (['replan'] as const) : []),
  ] as const
  return Array.from({ length: random.pick([1, 1, 2]) }, (_, index) => {
    const node = random.pick(watched)
    return {
      id: `policy-${index}`,
      nodeId: node.id,
      below: { name: `s${node.key}`, value: random.int(10) },
      action: random.pick(actions),
    }
  })
}

/**
 * What follows at once when an output of a node does not satisfy its contract. It acts once: where nodes are done again
 * under a new plan, it would depend on who was faster whether it acts before or after.
 */
export function policiesOnInvalid(
  seed: number,
  nodes: readonly CaseNode[],
  { steady }: Features,
): CasePolicy[] {
  const random = randomFor(seed, 'invalid')
  const failing = nodes.filter(
    ({ role, executor, rao, scripts, leastScore }) =>
      role === 'work' &&
      (executor === 'local' || executor === 'agent') &&
      !rao &&
      scripts.length === 1 &&
      (leastScore !== undefined ||
        scripts.some(({ answers, rest }) => [...answers, rest].some(({ kind }) => kind === 'bad-value'))),
  )
  // A policy cuts off other calls: where one of these must not be repeated unasked, people would let it be repeated for ever.
  const once = allNodes({ nodes }).some(({ sideEffect, idempotent }) => sideEffect && !idempotent)
  if (steady || once || failing.length === 0 || random.chance(0.4)) return []
  const { id } = random.pick(failing)
  const action = random.pick(['emit', 'fail', 'pause', 'hitl', 'hitl', 'hitl'] as const)
  return [{ id: 'policy-v', onInvalid: true, nodeId: id, below: { name: '', value: 0 }, action }]
}

/** A node that hangs until a policy on the time of the run interrupts it. */
export function withStall(
  random: Random,
  nodes: readonly CaseNode[],
  features: Features,
): { nodes: readonly CaseNode[]; policies: readonly CasePolicy[] } {
  const possible = nodes.filter(
    ({ role, executor, rao }) => role === 'work' && !rao && (executor === 'agent' || executor === 'local'),
  )
  const hanging = allNodes({ nodes }).some(({ scripts }) =>
    scripts.some(({ answers }) => answers.some(({ kind }) => kind === 'hang')),
  )
  if (possible.length === 0 || hanging || features.throttles) return { nodes, policies: [] }
  const stalling = random.pick(possible)
  const actions = ['fail', 'pause', 'hitl', ...(features.steady ? (['replan'] as const) : [])] as const
  const below = { name: '', value: 0 }
  return {
    nodes: nodes.map((node) =>
      node === stalling
        ? {
            ...node,
            timeoutMs: stallTimeoutMs,
            scripts: node.scripts.map((script, index) =>
              index === 0 ? { answers: [{ kind: 'stall' }], rest: { kind: 'ok' } } : script,
            ),
          }
        : node,
    ),
    policies: [{ id: 'policy-0', below, action: random.pick(actions) }],
  }
}

/** Some maps, loops and routes wait for a person, too: in bodies only where everything comes out alike when done again. */
export function withLabels(
  seed: number,
  nodes: readonly CaseNode[],
  features: Features,
  depth = 0,
): CaseNode[] {
  return nodes.map((node) => {
    const { iteration } = node
    const inner = iteration && {
      iteration: {
        ...iteration,
        body: { ...iteration.body, nodes: withLabels(seed, iteration.body.nodes, features, depth + 1) },
      },
    }
    const mayWait = features.asks && isStructured(node) && (depth === 0 || features.steady)
    const labelled = mayWait ? randomFor(seed, 'label', node.id).chance(0.3) : node.labelled
    return { ...node, ...inner, labelled }
  })
}
