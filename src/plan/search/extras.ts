/** What policies ask for beyond the contract: capabilities that must be used, and kinds of nodes that must be there. */
import type { Capability } from '../../domain/capability.ts'
import type { Draft, DraftNode } from '../../domain/plan.ts'
import { structureId } from '../builtins.ts'
import { isFacetList } from '../catalog/ports.ts'
import { plannedRetry } from '../planned-retries.ts'
import type { Assembled } from './assemble.ts'
import { type Chosen, makerKey } from './choose.ts'
import { objectOf } from './node-contracts.ts'
import type { Market, Offer } from './offers.ts'
import type { Supporters } from './supporters.ts'

/** Offers to take although no goal needs them. */
export function extraOffers(
  market: Market,
  offers: readonly Offer[],
  { supporters, chosen }: { readonly supporters: Supporters; readonly chosen: Chosen },
): readonly Offer[] {
  const { selection, topology } = market.request.envelope.policies.planner
  const extra: Offer[] = []
  const isTaken = (test: (capability: Capability) => boolean) =>
    [
      ...[...chosen.makers.values()].map(({ capability }) => capability),
      ...extra.map(({ capability }) => capability),
    ].some(test)
  const possible = offers.filter(({ way }) => way === 'declared' || way === 'reduced')
  const cheapest = (candidates: readonly Offer[]) =>
    candidates.reduce<Offer | undefined>((best, each) => {
      const cost = supporters.costOf(each)
      if (cost === undefined) return best
      return best === undefined || cost < (supporters.costOf(best) ?? 0) ? each : best
    }, undefined)
  for (const capabilityId of selection?.require ?? []) {
    if (isTaken((capability) => capability.capabilityId === capabilityId)) continue
    const offer = cheapest(possible.filter(({ capability }) => capability.capabilityId === capabilityId))
    if (offer !== undefined) extra.push(offer)
  }
  for (const kind of topology?.requiredKinds ?? []) {
    if (isTaken(({ nodeKind }) => nodeKind === kind)) continue
    const offer = cheapest(
      possible.filter(
        ({ capability, needs }) => capability.nodeKind === kind && touches(needs, supporters, chosen),
      ),
    )
    if (offer !== undefined) extra.push(offer)
  }
  return extra
}

/** It works on something of the plan, and not beside it. */
function touches(needs: Offer['needs'], supporters: Supporters, { makers }: Chosen): boolean {
  return needs.some((want) => {
    const supporter = supporters.of(want)?.supporter
    return supporter !== undefined && 'offer' in supporter && makers.has(makerKey(supporter.offer))
  })
}

const brief = {
  type: 'object',
  properties: {
    summary: { type: 'string', minLength: 1 },
    points: { type: 'array', items: { type: 'string' } },
  },
  required: ['summary', 'points'],
} as const

/** The draft with a structuring node whose brief those read who supply the answer. */
export function withBrief({ makers, naming }: Assembled, draft: Draft, market: Market): Draft {
  const readers = draft.nodes.filter(({ id }) => {
    const maker = makers.get(id)
    return maker !== undefined && maker.way !== 'done' && takesMore(maker.capability)
  })
  if (readers.length === 0) return draft
  const id = naming.fresh('structure')
  const known = Object.keys(market.request.envelope.inputs).length > 0
  const node: DraftNode = {
    id,
    kind: 'structuring',
    label: 'Structure',
    capabilityId: structureId,
    retry: plannedRetry,
    contracts: { output: objectOf(new Map([['brief', [brief]]]), ['brief']) },
    ...(known && { inputs: { inputs: { envelope: '/inputs' } } }),
    instructions: 'Sum up the objective, the inputs and the special instructions for those who work on it.',
    rationale: 'The policies ask for a structuring node',
  }
  const nodes = draft.nodes.map((each) =>
    readers.includes(each)
      ? { ...each, inputs: { ...each.inputs, brief: { node: id, pointer: '/brief' } } }
      : each,
  )
  return { ...draft, nodes: [node, ...nodes] }
}

/** Its contract does not forbid what it does not name. */
export function takesMore({ inputContract }: Capability): boolean {
  if (isFacetList(inputContract) || inputContract === true) return true
  return typeof inputContract === 'object' && !Object.hasOwn(inputContract, 'additionalProperties')
}
