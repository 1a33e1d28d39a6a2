/**
 * Selects the nodes of a plan from the cheapest producers: walks back from the goals and takes each node once, however
 * many nodes use it.
 */
import type { Capability } from '../../../domain/capability.ts'
import type { Offer } from '../candidates/candidates.ts'
import type { Supporter, Supporters } from '../candidates/cheapest-producers.ts'
import type { SearchGoal } from '../candidates/goals.ts'
import { serves, type Want } from '../candidates/requirements.ts'

/** A node under construction. Candidates of one open capability share one node. */
export interface Maker {
  readonly key: string
  readonly capability: Capability
  readonly way: Offer['way']
  readonly offers: Offer[]
  /** Input property → where it comes from. */
  readonly inputs: Map<string, Supporter>
  /** What other nodes read from it. */
  readonly uses: { readonly port: string; readonly want: Want }[]
}

export interface Chosen {
  readonly makers: Map<string, Maker>
  /** How each goal is met; unmet goals are missing. */
  readonly met: Map<SearchGoal, Supporter>
}

/** Ways that share one node of an open capability. */
const together: Partial<Record<Offer['way'], 'structure' | 'answer'>> = {
  structure: 'structure',
  standIn: 'structure',
  answer: 'answer',
  answered: 'answer',
}

export function makerKey({ way, key }: Offer): string {
  return together[way] ?? key
}

export function choose(goals: readonly SearchGoal[], supporters: Supporters, more: readonly Offer[]): Chosen {
  const chosen: Chosen = { makers: new Map(), met: new Map() }
  const whole = goals.find(({ role }) => role === 'whole')
  const isWhole = whole !== undefined && supporters.of(whole.want) !== undefined
  for (const goal of goals) {
    if (goal.role === 'whole' ? !isWhole : !goal.required || (isWhole && goal.role === 'answer')) continue
    meet(goal, supporters, chosen)
  }
  for (const offer of more) {
    take(offer, supporters, chosen)
    polish(offer, goals, chosen)
  }
  // Optional goals are taken if a chosen node supplies them anyway, or if they help the node that supplies the whole
  // answer.
  for (const goal of goals) {
    if (goal.role === 'whole' || chosen.met.has(goal)) continue
    const supporter = supporters.of(goal.want)?.supporter
    if (supporter === undefined || !('offer' in supporter)) continue
    const isOpen = makerKey(supporter.offer) === 'answer'
    if (
      isWhole && goal.role === 'answer'
        ? !isOpen
        : chosen.makers.has(makerKey(supporter.offer)) || goal.role === 'aside'
    )
      meet(goal, supporters, chosen)
  }
  return chosen
}

/** A node that reads a property of the answer and returns it becomes the source of that property. */
function polish(offer: Offer, goals: readonly SearchGoal[], chosen: Chosen): void {
  for (const goal of goals) {
    const port = offer.supplies.find(
      ({ name, schema }) => name === goal.want.name && serves(schema, goal.want),
    )
    if (port === undefined || !offer.needs.some(({ name }) => name === goal.want.name)) continue
    if (!chosen.met.has(goal)) continue
    chosen.met.set(goal, { offer, port: port.name })
    chosen.makers.get(makerKey(offer))?.uses.push({ port: port.name, want: goal.want })
  }
}

function meet(goal: SearchGoal, supporters: Supporters, chosen: Chosen): void {
  const support = supporters.of(goal.want)
  if (support === undefined) return
  chosen.met.set(goal, support.supporter)
  use(support.supporter, goal.want, { supporters, chosen })
}

function use(
  supporter: Supporter,
  want: Want,
  { supporters, chosen }: { readonly supporters: Supporters; readonly chosen: Chosen },
): void {
  if (!('offer' in supporter)) return
  take(supporter.offer, supporters, chosen).uses.push({ port: supporter.port, want })
}

/** Adds the node of a candidate, with everything it needs. */
export function take(offer: Offer, supporters: Supporters, chosen: Chosen): Maker {
  const key = makerKey(offer)
  let maker = chosen.makers.get(key)
  if (maker?.offers.includes(offer)) return maker
  if (maker === undefined) {
    const { capability } = offer
    maker = {
      key,
      capability,
      way: together[offer.way] ?? offer.way,
      offers: [],
      inputs: new Map(),
      uses: [],
    }
    chosen.makers.set(key, maker)
  }
  maker.offers.push(offer)
  for (const want of offer.needs) {
    const support = supporters.of(want)
    if (support === undefined) continue
    maker.inputs.set(want.name, support.supporter)
    use(support.supporter, want, { supporters, chosen })
  }
  return maker
}
