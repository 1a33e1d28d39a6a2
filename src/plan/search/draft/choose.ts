/**
 * Selects the nodes of a plan from the cheapest producers: walks back from the goals and takes each node once, however
 * many nodes use it.
 */
import type { Capability } from '../../../domain/capability.ts'
import type { Candidate } from '../candidates/candidates.ts'
import type { CheapestProducers, Producer } from '../candidates/cheapest-producers.ts'
import { type Requirement, type SearchGoal, serves } from '../candidates/requirements.ts'

/** A node under construction. Candidates of one open capability share one node. */
export interface PlannedNode {
  readonly key: string
  readonly capability: Capability
  readonly method: Candidate['method']
  readonly candidates: Candidate[]
  /** Input property → where it comes from. */
  readonly inputs: Map<string, Producer>
  /** What other nodes read from it. */
  readonly uses: { readonly port: string; readonly requirement: Requirement }[]
}

export interface Chosen {
  readonly plannedNodes: Map<string, PlannedNode>
  /** How each goal is met; unmet goals are missing. */
  readonly met: Map<SearchGoal, Producer>
}

/** Ways that share one node of an open capability. */
const together: Partial<Record<Candidate['method'], 'structure' | 'answer'>> = {
  structure: 'structure',
  standIn: 'structure',
  answer: 'answer',
  answered: 'answer',
}

export function getNodeKey({ method, key }: Candidate): string {
  return together[method] ?? key
}

export function choose(
  goals: readonly SearchGoal[],
  producers: CheapestProducers,
  more: readonly Candidate[],
): Chosen {
  const chosen: Chosen = { plannedNodes: new Map(), met: new Map() }
  const whole = goals.find(({ role }) => role === 'whole')
  const isWhole = whole !== undefined && producers.of(whole.requirement) !== undefined
  for (const goal of goals) {
    if (goal.role === 'whole' ? !isWhole : !goal.required || (isWhole && goal.role === 'answer')) continue
    meetGoal(goal, producers, chosen)
  }
  for (const candidate of more) {
    addNode(candidate, producers, chosen)
    redirectGoals(candidate, goals, chosen)
  }
  // Optional goals are taken if a chosen node supplies them anyway, or if they help the node that supplies the whole
  // answer.
  for (const goal of goals) {
    if (goal.role === 'whole' || chosen.met.has(goal)) continue
    const producer = producers.of(goal.requirement)?.producer
    if (producer === undefined || !('candidate' in producer)) continue
    const isOpen = getNodeKey(producer.candidate) === 'answer'
    if (
      isWhole && goal.role === 'answer'
        ? !isOpen
        : chosen.plannedNodes.has(getNodeKey(producer.candidate)) || goal.role === 'aside'
    )
      meetGoal(goal, producers, chosen)
  }
  return chosen
}

/** A node that reads a property of the answer and returns it becomes the source of that property. */
function redirectGoals(candidate: Candidate, goals: readonly SearchGoal[], chosen: Chosen): void {
  for (const goal of goals) {
    const port = candidate.supplies.find(
      ({ name, schema }) => name === goal.requirement.name && serves(schema, goal.requirement),
    )
    if (port === undefined || !candidate.needs.some(({ name }) => name === goal.requirement.name)) continue
    if (!chosen.met.has(goal)) continue
    chosen.met.set(goal, { candidate, port: port.name })
    chosen.plannedNodes
      .get(getNodeKey(candidate))
      ?.uses.push({ port: port.name, requirement: goal.requirement })
  }
}

function meetGoal(goal: SearchGoal, producers: CheapestProducers, chosen: Chosen): void {
  const cheapest = producers.of(goal.requirement)
  if (cheapest === undefined) return
  chosen.met.set(goal, cheapest.producer)
  addUse(cheapest.producer, goal.requirement, { producers, chosen })
}

function addUse(
  producer: Producer,
  requirement: Requirement,
  { producers, chosen }: { readonly producers: CheapestProducers; readonly chosen: Chosen },
): void {
  if (!('candidate' in producer)) return
  addNode(producer.candidate, producers, chosen).uses.push({ port: producer.port, requirement })
}

/** Adds the node of a candidate, with everything it needs. */
function addNode(candidate: Candidate, producers: CheapestProducers, chosen: Chosen): PlannedNode {
  const key = getNodeKey(candidate)
  let planned = chosen.plannedNodes.get(key)
  if (planned?.candidates.includes(candidate)) return planned
  if (planned === undefined) {
    const { capability } = candidate
    planned = {
      key,
      capability,
      method: together[candidate.method] ?? candidate.method,
      candidates: [],
      inputs: new Map(),
      uses: [],
    }
    chosen.plannedNodes.set(key, planned)
  }
  planned.candidates.push(candidate)
  for (const requirement of candidate.needs) {
    const cheapest = producers.of(requirement)
    if (cheapest === undefined) continue
    planned.inputs.set(requirement.name, cheapest.producer)
    addUse(cheapest.producer, requirement, { producers, chosen })
  }
  return planned
}
