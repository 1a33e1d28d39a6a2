/** Policies, and what people decide. */
import type { Random } from '../../sim/random.ts'
import {
  allNodes,
  type Case,
  type CaseNode,
  type CasePolicy,
  type Decision,
  stallTimeoutMs,
} from '../case.ts'
import type { Features } from './features.ts'

/** Silence takes its time: there is none where a policy looks at the time of the run. */
export function makeDecisions(
  random: Random,
  nodes: readonly CaseNode[],
  { steady, silence }: { readonly steady: boolean; readonly silence: boolean },
): Case['decisions'] {
  const subjects = [...nodes.map(({ id }) => id), 'x', 'final', 'policy-0', 'policy-1']
  return Object.fromEntries(
    subjects.map((subject): [string, Decision] => {
      if (silence && random.chance(0.08)) return [subject, 'ignore']
      const decision = random.pick(['approve', 'approve', 'edit', 'reject', 'retry', 'replan'] as const)
      // Work that is done again after a rejection is the same only where every attempt ends alike.
      const again = subject === 'final' ? /reject|retry|replan/.test(decision) : decision === 'replan'
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
