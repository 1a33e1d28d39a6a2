/** Adds what policies require beyond the contract: required capabilities, and required kinds of nodes. */
import type { Capability } from '../../../domain/capability.ts'
import type { Draft, DraftNode } from '../../../domain/plan.ts'
import { structureId } from '../../builtin-capabilities.ts'
import { isFacetList } from '../../catalog/ports.ts'
import { plannedRetry } from '../../planned-retries.ts'
import type { Market, Offer } from '../candidates/candidates.ts'
import type { Supporters } from '../candidates/cheapest-producers.ts'
import type { Assembled } from './assemble.ts'
import { type Chosen, makerKey } from './choose.ts'
import { objectOf } from './node-contracts.ts'

/** Returns candidates to include although no goal needs them. */
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

/** Whether it reads the output of another node of the plan. */
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

/** Adds a structuring node whose brief is read by the nodes that accept more inputs. */
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

/** Whether the input contract accepts properties that it does not name. */
export function takesMore({ inputContract }: Capability): boolean {
  if (isFacetList(inputContract) || inputContract === true) return true
  return typeof inputContract === 'object' && !Object.hasOwn(inputContract, 'additionalProperties')
}
