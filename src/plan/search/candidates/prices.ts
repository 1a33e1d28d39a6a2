/**
 * Builds all candidates for a request with the minimum cost of each requirement. Recomputed only when learned
 * constraints change which capabilities may be used.
 */
import type { Envelope } from '../../../domain/envelope.ts'
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

/** Prices by envelope, kept for the next step of the same plan. */
const kept = new WeakMap<Envelope, { readonly request: SearchRequest; readonly priced: Priced }>()

/**
 * Prices a request without learned constraints, once per plan: the engine records the candidates before it calls the
 * planner, which prices the same request.
 */
export function priceRequest(request: SearchRequest, use: 'keep' | 'take'): Priced {
  const earlier = kept.get(request.envelope)
  const priced =
    earlier && isSameRequest(earlier.request, request)
      ? { ...earlier.priced, space: { ...earlier.priced.space, request } }
      : priceCandidates(request, { banned: new Set(), averse: new Map(), shallow: false })
  // The search adds requirements to the space: the next plan must not see them.
  if (use === 'take') kept.delete(request.envelope)
  else kept.set(request.envelope, { request, priced })
  return priced
}

/** Compares by identity; results of earlier nodes are not compared, so a plan with some is priced again. */
function isSameRequest(a: SearchRequest, b: SearchRequest): boolean {
  const hasResults = (request: SearchRequest) => (request.completed ?? []).length > 0
  return (
    a.facets === b.facets &&
    a.capabilities === b.capabilities &&
    a.cutoff === b.cutoff &&
    !hasResults(a) &&
    !hasResults(b)
  )
}

/** Depth cost: one per node, with the cost as tie-breaker. */
function depthOf({ method, cost }: Candidate): number {
  return (method === 'done' ? 0 : 1) + cost * 1e-7
}
