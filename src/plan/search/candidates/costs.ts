/**
 * Cost table of nodes: one row per method to supply a property and one per goal of the caller. The search minimises the
 * cost.
 */
import type { Capability } from '../../../domain/capability.ts'
import type { PlannerPolicy } from '../../../domain/policy.ts'
import { rateExpense } from '../../catalog/score.ts'

/** How a property can be supplied, and its surcharge beyond the work itself: the order is the order of preference. */
export const supplyMethodTable = {
  done: { surcharge: 0, sentence: 'a node that is completed already' },
  declared: { surcharge: 0, sentence: 'a capability that declares it' },
  structure: { surcharge: 1, sentence: '`proviso.structure` reads an input facet out of the envelope' },
  derived: { surcharge: 20, sentence: 'an agent that supports the facets without declaring the mix' },
  reduced: {
    surcharge: 30,
    sentence: 'a capability without those of its input facets that nothing supplies',
  },
  standIn: { surcharge: 50, sentence: '`proviso.structure` stands in for a node that no capability offers' },
  transformation: { surcharge: 60, sentence: '`proviso.answer` converts what is supplied in another form' },
  answered: {
    surcharge: 800,
    sentence: '`proviso.answer` supplies a property of the answer to another node',
  },
  answer: { surcharge: 1_000, sentence: '`proviso.answer` supplies a property of the answer itself' },
  echo: { surcharge: 20_000, sentence: 'an input of the same name is returned unchanged' },
} as const

export type SupplyMethod = keyof typeof supplyMethodTable

/** Reasons against a capability. */
export const aversionTable = {
  person: { surcharge: 100, sentence: 'a person would have to do it' },
  sideEffect: { surcharge: 150, sentence: 'it changes the world outside' },
  rival: { surcharge: 200, sentence: 'the caller prefers or requires another one for the same property' },
  failed: { surcharge: 15, sentence: 'it was at the node that a new plan was ordered for' },
  avoided: { surcharge: 5_000, sentence: 'the caller avoids it, or the draft before was rejected for it' },
} as const

export type Aversion = keyof typeof aversionTable

interface GoalRow {
  /** `longest`: the cost is that of the longest path through the plan, not the sum of its nodes. */
  readonly counts: 'sum' | 'longest'
  readonly call: number
  /** Per thousand estimated tokens. */
  readonly tokens: number
  /** For the most expensive tier; negative: for the cheapest. */
  readonly expense: number
  /** For a score of zero. */
  readonly doubt: number
  readonly sentence: string
}

export const goalTable = {
  balanced: {
    counts: 'sum',
    call: 1,
    tokens: 0.5,
    expense: 2,
    doubt: 10,
    sentence: 'no goal was said',
  },
  speed: {
    counts: 'longest',
    call: 4,
    tokens: 0.1,
    expense: 0,
    doubt: 4,
    sentence: 'few nodes in a row',
  },
  quality: {
    counts: 'sum',
    call: 1,
    tokens: 0,
    expense: -4,
    doubt: 20,
    sentence: 'the best fit and the higher tiers; soft constraints get a producer',
  },
  diversity: {
    counts: 'sum',
    call: 1,
    tokens: 0.5,
    expense: 2,
    doubt: 10,
    sentence: 'as balanced, with a branch of its own for each variant',
  },
  token_efficiency: {
    counts: 'sum',
    call: 0.5,
    tokens: 5,
    expense: 0.5,
    doubt: 5,
    sentence: 'few tokens',
  },
} as const satisfies Record<string, GoalRow>

export type OptimisationGoal = keyof typeof goalTable

export function getOptimisationGoal({ optimisation }: PlannerPolicy): OptimisationGoal {
  return optimisation?.objective ?? 'balanced'
}

/** Estimate for a call to a model that declares none. */
const usualTokens = 1_500

export function estimateTokens({ kind, cost }: Capability): number {
  return cost?.estimatedTokens ?? (kind === 'model' ? usualTokens : 0)
}

interface Work {
  readonly capability: Capability
  readonly method: SupplyMethod
  /** Between 0 and 1; undefined for open capabilities. */
  readonly score?: number
  readonly aversions: readonly Aversion[]
}

export function getCost(
  { capability, method, score = 0.5, aversions }: Work,
  goal: OptimisationGoal,
): number {
  if (method === 'done') return 0
  const row: GoalRow = goalTable[goal]
  const expense = rateExpense(capability)
  return (
    row.call +
    (row.tokens * estimateTokens(capability)) / 1_000 +
    (row.expense >= 0 ? row.expense * expense : -row.expense * (1 - expense)) +
    row.doubt * (1 - score) +
    supplyMethodTable[method].surcharge +
    aversions.reduce((sum, aversion) => sum + aversionTable[aversion].surcharge, 0)
  )
}
