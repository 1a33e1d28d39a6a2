/** Explains the plan: for every requirement which candidate was chosen, and the next best ones. */
import type { Source } from '../../../domain/plan.ts'
import { isBuiltin } from '../../builtin-capabilities.ts'
import type { Candidate } from '../candidates/candidates.ts'
import type { CheapestProducers, Producer } from '../candidates/cheapest-producers.ts'
import { supplyMethodTable } from '../candidates/costs.ts'
import { type Requirement, type SearchGoal, serves } from '../candidates/requirements.ts'
import type { Choice } from '../search-request.ts'
import type { Assembled } from './assemble.ts'
import type { Chosen, PlannedNode } from './choose.ts'

interface Explanation {
  readonly goals: readonly SearchGoal[]
  readonly chosen: Chosen
  readonly producers: CheapestProducers
  readonly candidates: readonly Candidate[]
  readonly assembled: Assembled
}

/** Maximum number of other candidates that are listed. */
const mostRivals = 3

export function explain(explaining: Explanation): readonly Choice[] {
  const { goals, chosen } = explaining
  const forGoals = goals.flatMap((goal): Choice[] => {
    const wanted = goal.requirement.name === '' ? 'the answer' : goal.requirement.name
    const producer = chosen.met.get(goal)
    if (producer !== undefined) return [choice(wanted, goal.requirement, producer, explaining)]
    const because = goal.required
      ? 'nothing supplies it'
      : 'it is not required, and nothing in the plan supplies it'
    return goal.role === 'whole' ? [] : [{ wanted, because }]
  })
  const forNodes = [...chosen.plannedNodes.values()].flatMap((planned) =>
    planned.candidates.flatMap(({ needs }) =>
      needs.flatMap((requirement): Choice[] => {
        const producer = planned.inputs.get(requirement.name)
        const wanted = `${requirement.name} for ${getId(planned, explaining)}`
        return producer === undefined ? [] : [choice(wanted, requirement, producer, explaining)]
      }),
    ),
  )
  return [...forGoals, ...forNodes]
}

function getId(planned: PlannedNode, { assembled }: Explanation): string {
  return assembled.ids.get(planned) ?? planned.key
}

function choice(
  wanted: string,
  requirement: Requirement,
  producer: Producer,
  explaining: Explanation,
): Choice {
  if ('given' in producer) return { wanted, taken: toPointer(producer.given), because: 'the envelope has it' }
  const { candidate } = producer
  const planned = [...explaining.chosen.plannedNodes.values()].find(({ candidates }) =>
    candidates.includes(candidate),
  )
  const instead = rivals(requirement, candidate, explaining)
  return {
    wanted,
    ...(planned && { taken: getId(planned, explaining) }),
    because: reason(candidate),
    ...(instead.length > 0 && { instead }),
  }
}

const toPointer = (source: Source) => ('envelope' in source ? `envelope ${source.envelope}` : 'a fixed value')

function reason({ method, score, capability }: Candidate): string {
  const { sentence } = supplyMethodTable[method]
  if (isBuiltin(capability.capabilityId)) return sentence
  return `${sentence} (${capability.capabilityId}${score === undefined ? '' : `, score ${score.toFixed(2)}`})`
}

/** Returns the other candidates that could supply it, cheapest first. */
function rivals(
  requirement: Requirement,
  taken: Candidate,
  { candidates, producers }: Explanation,
): string[] {
  return candidates
    .flatMap((candidate) => {
      const cost = candidate === taken ? undefined : producers.getCost(candidate)
      const able = candidate.supplies.some(
        ({ name, schema }) => name === requirement.name && serves(schema, requirement),
      )
      return cost === undefined || !able || (candidate.only !== undefined && candidate.only !== requirement)
        ? []
        : [{ candidate, cost }]
    })
    .sort((a, b) => a.cost - b.cost)
    .slice(0, mostRivals)
    .map(
      ({ candidate, cost }) =>
        `${candidate.capability.capabilityId} (${candidate.method}, cost ${cost.toFixed(1)})`,
    )
}

/** Returns the purpose of a node as its rationale. */
export function explainNode(planned: PlannedNode): string {
  const supplies = [...new Set(planned.uses.map(({ port }) => (port === '' ? 'the answer' : port)))]
  const [candidate] = planned.candidates
  const what = supplies.length === 0 ? 'Required by the policies' : `Supplies ${supplies.join(', ')}`
  return candidate === undefined ? what : `${what}: ${reason(candidate)}`
}
