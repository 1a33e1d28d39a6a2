/**
 * Builds all candidates for a request with the minimum cost of each requirement. Recomputed only when learned
 * constraints change which capabilities may be used.
 */
import type { Capability } from '../../../domain/capability.ts'
import type { Considered } from '../../../domain/ports/planner.ts'
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

/** Key of the prices behind what a search considered: they are for the search only. */
const pricesKey = Symbol('prices')

interface HeldPrices {
  readonly request: SearchRequest
  /** Absent after a search has used them: it adds requirements to the space, which the next one must not see. */
  priced: Priced | undefined
}

interface ConsideredWithPrices extends Considered {
  readonly [pricesKey]: HeldPrices
}

/**
 * Prices a request without learned constraints and lists what was considered. Passed on as `considered` of the same
 * request, it spares the search pricing the candidates again.
 */
export function considerCandidates(request: SearchRequest): Considered {
  if (findPrices(request)?.priced !== undefined) return request.considered as Considered
  const priced = priceAfresh(request)
  const considered: ConsideredWithPrices = { ...listConsidered(priced), [pricesKey]: { request, priced } }
  return considered
}

/** Prices a request without learned constraints, or takes the prices that came with it. */
export function priceRequest(request: SearchRequest): Priced {
  const prices = findPrices(request)
  if (prices?.priced === undefined) return priceAfresh(request)
  const { priced } = prices
  prices.priced = undefined
  return { ...priced, space: { ...priced.space, request } }
}

function findPrices(request: SearchRequest): HeldPrices | undefined {
  const prices = (request.considered as Partial<ConsideredWithPrices> | undefined)?.[pricesKey]
  return prices && isSameRequest(prices.request, request) ? prices : undefined
}

function priceAfresh(request: SearchRequest): Priced {
  return priceCandidates(request, { banned: new Set(), averse: new Map(), shallow: false })
}

/** The capabilities on a path from the inputs to the contract, each with its lowest cost, the cheapest first. */
export function listConsidered({
  candidates,
  producers,
}: Pick<Priced, 'candidates' | 'producers'>): Considered {
  const costs = new Map<Capability, number>()
  for (const candidate of candidates) {
    const cost = producers.getCost(candidate)
    if (cost === undefined || candidate.echo || candidate.method === 'done') continue
    const lowest = costs.get(candidate.capability) ?? Number.POSITIVE_INFINITY
    costs.set(candidate.capability, Math.min(cost, lowest))
  }
  const capabilities = [...costs]
    .sort(([a, x], [b, y]) => x - y || (a.capabilityId < b.capabilityId ? -1 : 1))
    .map(([capability, cost]) => ({ capability, cost }))
  return { capabilities }
}

/** Compares by identity; results of earlier nodes are not compared, so a plan with some is priced again. */
function isSameRequest(a: SearchRequest, b: SearchRequest): boolean {
  const hasResults = (request: SearchRequest) => (request.completed ?? []).length > 0
  return (
    a.envelope === b.envelope &&
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
