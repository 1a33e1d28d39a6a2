/**
 * One iteration of the search: builds a draft from the learned constraints. `search.ts` proves it and iterates if
 * necessary.
 */
import type { Draft } from '../../../domain/plan.ts'
import type { Goal } from '../../prove/goals/goals.ts'
import type { Market } from '../candidates/candidates.ts'
import { type OptimisationGoal, tokensOf } from '../candidates/costs.ts'
import type { Priced, Pricing } from '../candidates/prices.ts'
import { type Variants, variantsOf } from '../candidates/variants.ts'
import type { Choice } from '../search-request.ts'
import { grow } from './apply-policies.ts'
import { type Assembled, assemble } from './assemble.ts'
import { type Chosen, choose } from './choose.ts'
import type { Enforcement } from './enforce.ts'
import { explain } from './explain.ts'
import { conditionText } from './instructions.ts'
import { extraOffers } from './policy-nodes.ts'

/** Constraints learned from the proofs of earlier drafts. */
export interface Lessons extends Pricing {
  readonly enforcement: Enforcement
}

export interface Sketch {
  readonly draft: Draft
  readonly assembled: Assembled
  readonly constraints: readonly Goal[]
  readonly choices: readonly Choice[]
  readonly estimatedTokens: number
}

export function sketch(priced: Priced, lessons: Lessons): Sketch {
  const { market, goals, constraints, offers, supporters, left } = priced
  const { goal } = market
  const { shallow } = lessons
  const first = choose(goals, supporters, [])
  const more = extraOffers(market, offers, { supporters, chosen: first })
  const chosen = more.length === 0 ? first : choose(goals, supporters, more)
  const variants = variantsOf(market)
  const assembled = assemble({
    market,
    chosen,
    demands: variants.demands,
    conditions: lessons.enforcement.conditions,
    wishes: constraints
      .filter(({ level, condition }) => level === 'soft' && condition !== undefined)
      .map(({ constraint }) => conditionText(constraint.expr)),
    told: toldTo(chosen, variants, market),
    answerLast: !shallow && goal !== 'speed',
  })
  const grown = grow(assembled, { market, chosen, checked: lessons.enforcement.checked, variants })
  const estimatedTokens = [...chosen.makers.values()]
    .filter(({ way }) => way !== 'done')
    .reduce((sum, { capability }) => sum + tokensOf(capability), 0)
  return {
    draft: { ...grown.draft, metadata: metadataOf(goal, chosen, estimatedTokens) },
    assembled,
    constraints,
    estimatedTokens,
    choices: [
      ...explain({ goals, chosen, supporters, offers, assembled }),
      ...left.map((id) => ({ wanted: id, because: 'its score is below the cut-off' })),
      ...grown.choices,
    ],
  }
}

/** Instruction lines about the number of variants and the reason for a new plan, for the nodes concerned. */
function toldTo(
  chosen: Chosen,
  { property, count }: Variants,
  { request }: Market,
): ReadonlyMap<string, readonly string[]> {
  const told = new Map<string, string[]>()
  const rationale = request.phase === 'replan' ? request.trigger?.rationale : undefined
  for (const { key, uses, way } of chosen.makers.values()) {
    const lines: string[] = []
    if (count !== undefined && uses.some(({ want }) => want.forAnswer && want.name === property))
      lines.push(`Give exactly ${count} in "${property}".`)
    if (rationale !== undefined && way !== 'done') lines.push(`This is planned again, because: ${rationale}`)
    if (lines.length > 0) told.set(key, lines)
  }
  return told
}

function metadataOf(goal: OptimisationGoal, { makers }: Chosen, estimatedTokens: number) {
  const ways = [...makers.values()].map(({ way }) => way)
  return {
    plannerRuntime: 'search',
    goal,
    estimatedTokens,
    normalizationInjected: ways.includes('transformation'),
  }
}
