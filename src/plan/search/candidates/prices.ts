/**
 * Builds all candidates for a request with the minimum cost of each requirement. Recomputed only when learned
 * constraints change which capabilities may be used.
 */
import type { Goal } from '../../prove/goals/goals.ts'
import type { SearchRequest } from '../search-request.ts'
import { createMarket, declaredOffers, type Market, type Offer } from './candidates.ts'
import { type Supporters, supportersOf } from './cheapest-producers.ts'
import { doneOffers } from './completed-candidates.ts'
import { type Aversion, goalOf, goalTable, type OptimisationGoal } from './costs.ts'
import { contractNeeds, type SearchGoal } from './goals.ts'
import { derivedOffers, openOffers, reducedOffers } from './open-candidates.ts'
import { aliasesIn, createWants, givenFor, type Want } from './requirements.ts'

export interface Pricing {
  readonly banned: ReadonlySet<string>
  readonly averse: ReadonlyMap<string, Aversion>
  /** The plan was too deep: minimise depth before anything else. */
  readonly shallow: boolean
  /** Overrides the caller's goal. */
  readonly goal?: OptimisationGoal
}

export interface Priced {
  readonly market: Market
  readonly goals: readonly SearchGoal[]
  readonly constraints: readonly Goal[]
  readonly offers: readonly Offer[]
  readonly supporters: Supporters
  /** Capabilities below the cut-off. */
  readonly left: readonly string[]
}

export function price(request: SearchRequest, { banned, averse, shallow, ...pricing }: Pricing): Priced {
  const goal = pricing.goal ?? goalOf(request.envelope.policies.planner)
  const aliases = aliasesIn(request.facets)
  const wants = createWants(aliases)
  const { goals, constraints } = contractNeeds(request, wants, { aliases, goal })
  const market = createMarket({ request, wants, goals, aliases, goal, averse }, banned)
  const { offers: declared, left } = declaredOffers(market)
  const closed = [...declared, ...derivedOffers(market, declared), ...doneOffers(market)]
  const open = openOffers(market, declared)
  const given = (want: Want) => givenFor(want, request.envelope, aliases)
  const settle = (all: readonly Offer[]) => {
    const offers = shallow ? all.map((offer) => ({ ...offer, cost: depthOf(offer) })) : all
    const counts = shallow ? 'longest' : goalTable[goal].counts
    return { offers, supporters: supportersOf({ wants, offers, given, counts }) }
  }
  const found = settle([...closed, ...open])
  const reduced = reducedOffers(market, found.offers, found.supporters)
  return {
    market,
    goals,
    constraints,
    left,
    ...(reduced.length === 0 ? found : settle([...closed, ...open, ...reduced])),
  }
}

/** Depth cost: one per node, with the cost as tie-breaker. */
function depthOf({ way, cost }: Offer): number {
  return (way === 'done' ? 0 : 1) + cost * 1e-7
}
