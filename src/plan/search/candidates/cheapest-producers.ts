/**
 * Finds the cheapest producer of each requirement: Knuth's generalisation of Dijkstra's algorithm to grammars, with
 * candidates as rules. A candidate is settled when all of its needs are; candidates are settled by ascending cost, so
 * the first that serves a requirement is the cheapest. Shared nodes are counted once per user, so the cost is an
 * estimate.
 */
import type { Source } from '../../../domain/plan.ts'
import type { Candidate } from './candidates.ts'
import { type Requirement, type Requirements, serves } from './requirements.ts'

export type Producer = { readonly candidate: Candidate; readonly port: string } | { readonly given: Source }

interface CheapestProducer {
  readonly producer: Producer
  readonly cost: number
}

export interface CheapestProducers {
  of(requirement: Requirement): CheapestProducer | undefined
  /** Total cost of a settled candidate with all that it needs; undefined if it cannot be produced. */
  getCost(candidate: Candidate): number | undefined
}

interface ProducerSearch {
  readonly requirements: Requirements
  readonly candidates: readonly Candidate[]
  /** Sources that exist from the beginning. */
  readonly given: (requirement: Requirement) => Source | undefined
  readonly counts: 'sum' | 'longest'
}

interface Waiting {
  readonly candidate: Candidate
  readonly order: number
  open: number
  spent: number
}

export function findCheapestProducers({
  requirements,
  candidates,
  given,
  counts,
}: ProducerSearch): CheapestProducers {
  const settled = new Map<number, CheapestProducer>()
  const costs = new Map<Candidate, number>()
  const waitingFor = new Map<number, Waiting[]>()
  const ready = createQueue()
  const add = (a: number, b: number) => (counts === 'sum' ? a + b : Math.max(a, b))
  const makeReady = ({ candidate, order, spent }: Waiting) =>
    ready.push({ candidate, order, cost: spent + candidate.cost })

  for (const [order, candidate] of candidates.entries()) {
    const needs = [...new Set(candidate.needs)]
    const waiting: Waiting = { candidate, order, open: needs.length, spent: 0 }
    if (needs.length === 0) makeReady(waiting)
    for (const { id } of needs) {
      const others = waitingFor.get(id)
      if (others === undefined) waitingFor.set(id, [waiting])
      else others.push(waiting)
    }
  }
  const settle = (requirement: Requirement, cheapest: CheapestProducer) => {
    settled.set(requirement.id, cheapest)
    for (const waiting of waitingFor.get(requirement.id) ?? []) {
      waiting.spent = add(waiting.spent, cheapest.cost)
      if (--waiting.open === 0) makeReady(waiting)
    }
  }
  for (const requirement of requirements.list()) {
    const source = given(requirement)
    if (source !== undefined) settle(requirement, { producer: { given: source }, cost: 0 })
  }
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    const { candidate, cost } = next
    costs.set(candidate, cost)
    for (const port of candidate.supplies) {
      for (const requirement of requirements.called(port.name)) {
        if (settled.has(requirement.id) || (candidate.only !== undefined && candidate.only !== requirement))
          continue
        if (!serves(port.schema, requirement)) continue
        settle(requirement, {
          producer: candidate.echo ? { given: candidate.echo } : { candidate, port: port.name },
          cost,
        })
      }
    }
  }
  return { of: (requirement) => settled.get(requirement.id), getCost: (candidate) => costs.get(candidate) }
}

interface Ready {
  readonly candidate: Candidate
  readonly order: number
  readonly cost: number
}

/** Binary heap by cost; ties keep the order of the candidates, so that the same request always gives the same plan. */
function createQueue() {
  const heap: Ready[] = []
  const before = (a: Ready, b: Ready) => a.cost < b.cost || (a.cost === b.cost && a.order < b.order)
  const swap = (i: number, j: number) => {
    const [a, b] = [heap[i] as Ready, heap[j] as Ready]
    heap[i] = b
    heap[j] = a
  }
  return {
    push(entry: Ready) {
      heap.push(entry)
      for (let at = heap.length - 1; at > 0; ) {
        const parent = (at - 1) >> 1
        if (!before(heap[at] as Ready, heap[parent] as Ready)) break
        swap(at, parent)
        at = parent
      }
    },
    pop(): Ready | undefined {
      const top = heap[0]
      const last = heap.pop()
      if (top === undefined || last === undefined || heap.length === 0) return top
      heap[0] = last
      for (let at = 0; ; ) {
        const children = [2 * at + 1, 2 * at + 2].filter((child) => child < heap.length)
        const least = children.reduce(
          (best, child) => (before(heap[child] as Ready, heap[best] as Ready) ? child : best),
          at,
        )
        if (least === at) return top
        swap(at, least)
        at = least
      }
    },
  }
}
