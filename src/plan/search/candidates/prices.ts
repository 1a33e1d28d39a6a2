/**
 * Builds all candidates for a request with the minimum cost of each requirement. Recomputed only when learned
 * constraints change which capabilities may be used.
 */
import type { Goal } from '../../prove/goals/goals.ts'
import type { SearchRequest } from '../search-request.ts'
import { type Candidate, createSearchSpace, findDeclaredCandidates, type SearchSpace } from './candidates.ts'
import { type CheapestProducers, findCheapestProducers } from './cheapest-producers.ts'
import { findCompletedCandidates } from './completed-candidates.ts'
import { type Aversion, getOptimisationGoal, goalTable, type OptimisationGoal } from './costs.ts'
import { contractNeeds, type SearchGoal } from './goals.ts'
import { findDerivedCandidates, findOpenCandidates, findReducedCandidates } from './open-candidates.ts'
import { collectAliases, createRequirements, findGivenSource, type Requirement } from './requirements.ts'

export interface Pricing {
  readonly banned: ReadonlySet<string>
  readonly averse: ReadonlyMap<string, Aversion>
  /** The plan was too deep: minimise depth before anything else. */
  readonly shallow: boolean
  /** Overrides the caller's goal. */
  readonly goal?: OptimisationGoal
}

export interface Priced {
  readonly space: SearchSpace
  readonly goals: readonly SearchGoal[]
  readonly constraints: readonly Goal[]
  readonly candidates: readonly Candidate[]
  readonly producers: CheapestProducers
  /** Capabilities below the cut-off. */
  readonly left: readonly string[]
}

export function priceCandidates(
  request: SearchRequest,
  { banned, averse, shallow, ...pricing }: Pricing,
): Priced {
  const goal = pricing.goal ?? getOptimisationGoal(request.envelope.policies.planner)
  const aliases = collectAliases(request.facets)
  const requirements = createRequirements(aliases)
  const { goals, constraints } = contractNeeds(request, requirements, { aliases, goal })
  const space = createSearchSpace({ request, requirements, goals, aliases, goal, averse }, banned)
  const { candidates: declared, left } = findDeclaredCandidates(space)
  const closed = [...declared, ...findDerivedCandidates(space, declared), ...findCompletedCandidates(space)]
  const open = findOpenCandidates(space, declared)
  const given = (requirement: Requirement) => findGivenSource(requirement, request.envelope, aliases)
  const settle = (all: readonly Candidate[]) => {
    const candidates = shallow ? all.map((candidate) => ({ ...candidate, cost: depthOf(candidate) })) : all
    const counts = shallow ? 'longest' : goalTable[goal].counts
    return { candidates, producers: findCheapestProducers({ requirements, candidates, given, counts }) }
  }
  const found = settle([...closed, ...open])
  const reduced = findReducedCandidates(space, found.candidates, found.producers)
  return {
    space,
    goals,
    constraints,
    left,
    ...(reduced.length === 0 ? found : settle([...closed, ...open, ...reduced])),
  }
}

/** Depth cost: one per node, with the cost as tie-breaker. */
function depthOf({ method, cost }: Candidate): number {
  return (method === 'done' ? 0 : 1) + cost * 1e-7
}
