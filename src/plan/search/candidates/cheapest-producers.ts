/**
 * Finds the cheapest producer of each requirement: Knuth's generalisation of Dijkstra's algorithm to grammars, with
 * candidates as rules. A candidate is settled when all of its needs are; candidates are settled by ascending cost, so
 * the first that serves a requirement is the cheapest. Shared nodes are counted once per user, so the cost is an
 * estimate.
 */
import type { Source } from '../../../domain/plan.ts'
import type { Offer } from './candidates.ts'
import { serves, type Want, type Wants } from './requirements.ts'

export type Supporter = { readonly offer: Offer; readonly port: string } | { readonly given: Source }

export interface Support {
  readonly supporter: Supporter
  readonly cost: number
}

export interface Supporters {
  of(want: Want): Support | undefined
  /** Total cost of a settled candidate with all that it needs; undefined if it cannot be produced. */
  costOf(offer: Offer): number | undefined
}

export interface SupportRequest {
  readonly wants: Wants
  readonly offers: readonly Offer[]
  /** Sources that exist from the beginning. */
  readonly given: (want: Want) => Source | undefined
  readonly counts: 'sum' | 'longest'
}

interface Waiting {
  readonly offer: Offer
  readonly order: number
  open: number
  spent: number
}

export function supportersOf({ wants, offers, given, counts }: SupportRequest): Supporters {
  const settled = new Map<number, Support>()
  const costs = new Map<Offer, number>()
  const waitingFor = new Map<number, Waiting[]>()
  const ready = createQueue()
  const add = (a: number, b: number) => (counts === 'sum' ? a + b : Math.max(a, b))
  const makeReady = ({ offer, order, spent }: Waiting) =>
    ready.push({ offer, order, cost: spent + offer.cost })

  for (const [order, offer] of offers.entries()) {
    const needs = [...new Set(offer.needs)]
    const waiting: Waiting = { offer, order, open: needs.length, spent: 0 }
    if (needs.length === 0) makeReady(waiting)
    for (const { id } of needs) {
      const others = waitingFor.get(id)
      if (others === undefined) waitingFor.set(id, [waiting])
      else others.push(waiting)
    }
  }
  const settle = (want: Want, support: Support) => {
    settled.set(want.id, support)
    for (const waiting of waitingFor.get(want.id) ?? []) {
      waiting.spent = add(waiting.spent, support.cost)
      if (--waiting.open === 0) makeReady(waiting)
    }
  }
  for (const want of wants.list()) {
    const source = given(want)
    if (source !== undefined) settle(want, { supporter: { given: source }, cost: 0 })
  }
  for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
    const { offer, cost } = next
    costs.set(offer, cost)
    for (const port of offer.supplies) {
      for (const want of wants.called(port.name)) {
        if (settled.has(want.id) || (offer.only !== undefined && offer.only !== want)) continue
        if (!serves(port.schema, want)) continue
        settle(want, { supporter: offer.echo ? { given: offer.echo } : { offer, port: port.name }, cost })
      }
    }
  }
  return { of: (want) => settled.get(want.id), costOf: (offer) => costs.get(offer) }
}

interface Ready {
  readonly offer: Offer
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
