/**
 * One iteration of the search: builds a draft from the learned constraints. `search.ts` proves it and iterates if
 * necessary.
 */
import type { Draft } from '../../../domain/plan.ts'
import type { Goal } from '../../prove/goals/goals.ts'
import type { SearchSpace } from '../candidates/candidates.ts'
import { estimateTokens } from '../candidates/costs.ts'
import type { Priced, Pricing } from '../candidates/prices.ts'
import { getVariants, type Variants } from '../candidates/variants.ts'
import type { Choice } from '../search-request.ts'
import { applyPolicies } from './apply-policies.ts'
import { type Assembled, assemble } from './assemble.ts'
import { type Chosen, choose } from './choose.ts'
import type { Enforcement } from './enforce.ts'
import { explain } from './explain.ts'
import { describePostCondition } from './instructions.ts'
import { findExtraCandidates } from './policy-nodes.ts'

/** Constraints learned from the proofs of earlier drafts. */
export interface LearnedConstraints extends Pricing {
  readonly enforcement: Enforcement
}

export interface DraftIteration {
  readonly draft: Draft
  readonly assembled: Assembled
  readonly constraints: readonly Goal[]
  readonly choices: readonly Choice[]
  readonly estimatedTokens: number
}

export function buildDraftIteration(priced: Priced, learned: LearnedConstraints): DraftIteration {
  const { space, goals, constraints, candidates, producers, left } = priced
  const { goal } = space
  const { shallow } = learned
  const first = choose(goals, producers, [])
  const more = findExtraCandidates(space, candidates, { producers, chosen: first })
  const chosen = more.length === 0 ? first : choose(goals, producers, more)
  const variants = getVariants(space)
  const assembled = assemble({
    space,
    chosen,
    demands: variants.demands,
    conditions: learned.enforcement.conditions,
    wishes: constraints
      .filter(({ level, condition }) => level === 'soft' && condition !== undefined)
      .map(({ constraint }) => describePostCondition(constraint.expr)),
    extraInstructions: collectExtraInstructions(chosen, variants, space),
    answerLast: !shallow && goal !== 'speed',
  })
  const grown = applyPolicies(assembled, { space, chosen, checked: learned.enforcement.checked, variants })
  const estimatedTokens = [...chosen.plannedNodes.values()]
    .filter(({ method }) => method !== 'done')
    .reduce((sum, { capability }) => sum + estimateTokens(capability), 0)
  return {
    draft: { ...grown.draft, metadata: { plannerRuntime: 'search', goal, estimatedTokens } },
    assembled,
    constraints,
    estimatedTokens,
    choices: [
      ...explain({ goals, chosen, producers, candidates, assembled }),
      ...left.map((id) => ({ wanted: id, because: 'its score is below the cut-off' })),
      ...grown.choices,
    ],
  }
}

/** Instruction lines about the number of variants and the reason for a new plan, for the nodes concerned. */
function collectExtraInstructions(
  chosen: Chosen,
  { property, count }: Variants,
  { request }: SearchSpace,
): ReadonlyMap<string, readonly string[]> {
  const byNode = new Map<string, string[]>()
  const rationale = request.phase === 'replan' ? request.trigger?.rationale : undefined
  for (const { key, uses, method } of chosen.plannedNodes.values()) {
    const lines: string[] = []
    if (
      count !== undefined &&
      uses.some(({ requirement }) => requirement.forAnswer && requirement.name === property)
    )
      lines.push(`Give exactly ${count} in "${property}".`)
    if (rationale !== undefined && method !== 'done')
      lines.push(`This is planned again, because: ${rationale}`)
    if (lines.length > 0) byNode.set(key, lines)
  }
  return byNode
}
