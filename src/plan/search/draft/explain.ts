/** Explains the plan: for every requirement which candidate was chosen, and the next best ones. */
import type { Source } from '../../../domain/plan.ts'
import { isBuiltin } from '../../builtin-capabilities.ts'
import type { Offer } from '../candidates/candidates.ts'
import type { Supporter, Supporters } from '../candidates/cheapest-producers.ts'
import { wayTable } from '../candidates/costs.ts'
import type { SearchGoal } from '../candidates/goals.ts'
import { serves, type Want } from '../candidates/requirements.ts'
import type { Choice } from '../search-request.ts'
import type { Assembled } from './assemble.ts'
import type { Chosen, Maker } from './choose.ts'

export interface Explaining {
  readonly goals: readonly SearchGoal[]
  readonly chosen: Chosen
  readonly supporters: Supporters
  readonly offers: readonly Offer[]
  readonly assembled: Assembled
}

/** Maximum number of other candidates that are listed. */
const mostRivals = 3

export function explain(explaining: Explaining): readonly Choice[] {
  const { goals, chosen } = explaining
  const forGoals = goals.flatMap((goal): Choice[] => {
    const wanted = goal.want.name === '' ? 'the answer' : goal.want.name
    const supporter = chosen.met.get(goal)
    if (supporter !== undefined) return [choice(wanted, goal.want, supporter, explaining)]
    const because = goal.required
      ? 'nothing supplies it'
      : 'it is not required, and nothing in the plan supplies it'
    return goal.role === 'whole' ? [] : [{ wanted, because }]
  })
  const forNodes = [...chosen.makers.values()].flatMap((maker) =>
    maker.offers.flatMap(({ needs }) =>
      needs.flatMap((want): Choice[] => {
        const supporter = maker.inputs.get(want.name)
        const wanted = `${want.name} for ${idOf(maker, explaining)}`
        return supporter === undefined ? [] : [choice(wanted, want, supporter, explaining)]
      }),
    ),
  )
  return [...forGoals, ...forNodes]
}

function idOf(maker: Maker, { assembled }: Explaining): string {
  return assembled.ids.get(maker) ?? maker.key
}

function choice(wanted: string, want: Want, supporter: Supporter, explaining: Explaining): Choice {
  if ('given' in supporter)
    return { wanted, taken: pointerOf(supporter.given), because: 'the envelope has it' }
  const { offer } = supporter
  const maker = [...explaining.chosen.makers.values()].find(({ offers }) => offers.includes(offer))
  const instead = rivals(want, offer, explaining)
  return {
    wanted,
    ...(maker && { taken: idOf(maker, explaining) }),
    because: reason(offer),
    ...(instead.length > 0 && { instead }),
  }
}

const pointerOf = (source: Source) => ('envelope' in source ? `envelope ${source.envelope}` : 'a fixed value')

function reason({ way, score, capability }: Offer): string {
  const { sentence } = wayTable[way]
  if (isBuiltin(capability.capabilityId)) return sentence
  return `${sentence} (${capability.capabilityId}${score === undefined ? '' : `, score ${score.toFixed(2)}`})`
}

/** Returns the other candidates that could supply it, cheapest first. */
function rivals(want: Want, taken: Offer, { offers, supporters }: Explaining): string[] {
  return offers
    .flatMap((offer) => {
      const cost = offer === taken ? undefined : supporters.costOf(offer)
      const able = offer.supplies.some(({ name, schema }) => name === want.name && serves(schema, want))
      return cost === undefined || !able || (offer.only !== undefined && offer.only !== want)
        ? []
        : [{ offer, cost }]
    })
    .sort((a, b) => a.cost - b.cost)
    .slice(0, mostRivals)
    .map(({ offer, cost }) => `${offer.capability.capabilityId} (${offer.way}, cost ${cost.toFixed(1)})`)
}

/** Returns the purpose of a node as its rationale. */
export function rationaleOf(maker: Maker): string {
  const supplies = [...new Set(maker.uses.map(({ port }) => (port === '' ? 'the answer' : port)))]
  const [offer] = maker.offers
  const what = supplies.length === 0 ? 'Required by the policies' : `Supplies ${supplies.join(', ')}`
  return offer === undefined ? what : `${what}: ${reason(offer)}`
}
