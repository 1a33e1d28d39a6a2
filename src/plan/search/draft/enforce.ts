/**
 * Assigns hard constraints that depend on produced values to an enforcer: the node that supplies everything the
 * constraint reads (retried on violation), or a check after all of them.
 */
import type { Json } from '../../../base/json.ts'
import { tokens } from '../../../base/pointer.ts'
import type { Draft, DraftNode, Source } from '../../../domain/plan.ts'
import { checkId } from '../../builtin-capabilities.ts'
import type { Goal } from '../../prove/goals/goals.ts'
import type { Assembled } from './assemble.ts'

export interface Enforcement {
  /** Post-conditions by node key. */
  readonly conditions: ReadonlyMap<string, readonly Json[]>
  /** Constraints left to a check. */
  readonly checked: readonly Goal[]
}

export function enforce(
  goals: readonly Goal[],
  { sources, plannedNodes }: Pick<Assembled, 'sources' | 'plannedNodes'>,
): Enforcement {
  const conditions = new Map<string, Json[]>()
  const checked: Goal[] = []
  for (const goal of goals) {
    const planned = plannedNodes.get(findOwner(goal, sources) ?? '')
    // A validation must not be pushed towards a verdict, and completed nodes cannot be retried.
    if (planned === undefined || planned.capability.nodeKind === 'validation' || planned.method === 'done')
      checked.push(goal)
    else conditions.set(planned.key, [...(conditions.get(planned.key) ?? []), goal.constraint.expr])
  }
  return { conditions, checked }
}

/** Returns the node whose output has everything that the constraint reads, under the same names. */
function findOwner({ paths }: Goal, sources: ReadonlyMap<string, Source>): string | undefined {
  const owners = paths.map(([root = '']) => {
    const source = sources.get(root)
    if (source !== undefined)
      return 'node' in source && tokens(source.pointer ?? '')[0] === root ? source.node : undefined
    const whole = sources.get('')
    return whole !== undefined && 'node' in whole && whole.pointer === undefined ? whole.node : undefined
  })
  return owners.length > 0 && new Set(owners).size === 1 ? owners[0] : undefined
}

/** Adds a check that reads what these constraints read; the whole answer if none is given. */
export function addCheck(assembled: Assembled, draft: Draft, goals: readonly Goal[]): Draft {
  const roots = new Set(goals.flatMap(({ paths }) => paths.map(([root = '']) => root)))
  const read = [...assembled.sources].filter(([name]) => roots.size === 0 || roots.has(name) || name === '')
  const inputs = read.map(([name, source]): [string, Source] => [name === '' ? 'answer' : name, source])
  if (inputs.length === 0) return draft
  const ids = goals.map(({ constraint }) => constraint.constraintId)
  const node: DraftNode = {
    id: assembled.nodeIds.fresh('check'),
    kind: 'validation',
    label: 'Check',
    capabilityId: checkId,
    inputs: Object.fromEntries(inputs),
    rationale: ids.length > 0 ? `Evaluates ${ids.join(', ')}` : 'The policies ask for a validation',
  }
  return { ...draft, nodes: [...draft.nodes, node] }
}
