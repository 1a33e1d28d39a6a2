/** All offers for a request, and what each want costs at best. Worked out again only when lessons change who may be used. */
import type { Goal } from '../goals.ts'
import { type Aversion, goalOf, goalTable, type OptimisationGoal } from './costs.ts'
import { doneOffers } from './done-offers.ts'
import { contractNeeds, type SearchGoal } from './goals.ts'
import { createMarket, declaredOffers, type Market, type Offer } from './offers.ts'
import { derivedOffers, openOffers, reducedOffers } from './open-offers.ts'
import type { SearchRequest } from './request.ts'
import { type Supporters, supportersOf } from './supporters.ts'
import { aliasesIn, createWants, givenFor, type Want } from './wants.ts'

export interface Pricing {
  readonly banned: ReadonlySet<string>
  readonly averse: ReadonlyMap<string, Aversion>
  /** The plan was too deep: few nodes in a row count more than anything. */
  readonly shallow: boolean
  /** Instead of the caller's goal. */
  readonly goal?: OptimisationGoal
}

export interface Priced {
  readonly market: Market
  readonly goals: readonly SearchGoal[]
  readonly constraints: readonly Goal[]
  readonly offers: readonly Offer[]
  readonly supporters: Supporters
  /** Capabilities under the cut-off. */
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

/** One node in a row, and between equals the cheaper one. */
function depthOf({ way, cost }: Offer): number {
  return (way === 'done' ? 0 : 1) + cost * 1e-7
}
