/**
 * Candidates of the two open capabilities, and of agents beyond what they declare: used where declared capabilities are
 * not enough.
 */
import type { Capability } from '../../../domain/capability.ts'
import { both } from '../../../schema/build/combine.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { declares, type Path } from '../../../schema/values/schema-values.ts'
import { answerId, isBuiltin, structureId } from '../../builtin-capabilities.ts'
import { supportOf } from '../../catalog/derive.ts'
import { facetPorts, isFacetList, type Port } from '../../catalog/ports.ts'
import { type Market, type Offer, wantOf } from './candidates.ts'
import type { Supporters } from './cheapest-producers.ts'
import { type Aversion, costOf, type Way } from './costs.ts'
import { canMeet, inputFor, type Want } from './requirements.ts'

/**
 * Returns candidates of `proviso.structure`, `proviso.answer` and the envelope itself, for every requirement they may
 * serve.
 */
export function openOffers(market: Market, declared: readonly Offer[]): readonly Offer[] {
  const { wants, goals, request, aliases } = market
  const byId = new Map(market.allowed.map((each) => [each.capabilityId, each]))
  const [structure, answer] = [byId.get(structureId), byId.get(answerId)]
  const ofAnswer = new Map(goals.filter(({ role }) => role !== 'aside').map(({ want }) => [want.name, want]))
  const bySupply = new Map<string, Port[]>()
  for (const { supplies } of declared)
    for (const port of supplies) bySupply.set(port.name, [...(bySupply.get(port.name) ?? []), port])
  const all = [...wants.list()]
  const offers: Offer[] = []
  const add = (want: Want, way: Way, capability: Capability, more: Partial<Offer> = {}) =>
    offers.push(openOffer(want, { way, capability, market }, more))
  for (const want of all) {
    const part = ofAnswer.get(want.name)
    if (structure && isInput(want) && part === undefined) {
      const usual =
        want.facets.length > 0 && want.facets.every(({ metadata }) => metadata.direction === 'input')
      add(want, usual ? 'structure' : 'standIn', structure)
    }
    if (!answer) continue
    if (part !== undefined && canMeet(part.schema, want.schema))
      add(want, want.forAnswer ? 'answer' : 'answered', answer)
    const other = otherForm(want, bySupply)
    if (other !== undefined) {
      const { name, schema, facets } = other
      const source = wants.add({ name, schema, facets, paths: [], forAnswer: false, declaredOnly: true })
      add(want, 'transformation', answer, { needs: [source] })
    }
  }
  for (const { want, role } of goals) {
    const echo = role === 'answer' ? inputFor(want, request.envelope, aliases) : undefined
    const anyone = answer ?? structure ?? request.capabilities[0]
    if (echo !== undefined && anyone !== undefined) add(want, 'echo', anyone, { echo })
  }
  return offers
}

interface Opening {
  readonly way: Way
  readonly capability: Capability
  readonly market: Market
}

function openOffer(want: Want, { way, capability, market }: Opening, more: Partial<Offer>): Offer {
  const { selection } = market.request.envelope.policies.planner
  const { capabilityId } = capability
  const favoured = [...(selection?.require ?? []), ...(selection?.prefer ?? [])].includes(capabilityId)
  const aversions: Aversion[] = selection?.avoid?.includes(capabilityId) ? ['avoided'] : []
  const cost = favoured && way !== 'echo' ? 0.5 : costOf({ capability, way, aversions }, market.goal)
  const schema = naming(want.schema, want.paths)
  const supplies: Port[] = [{ name: want.name, schema, required: true, facets: want.facets }]
  return { key: `${way}:${want.id}`, way, capability, needs: [], supplies, cost, only: want, ...more }
}

/** Whether it is only needed as an input; values that constraints read must come from a source that declares them. */
function isInput({ forAnswer, name, paths }: Want): boolean {
  return !forAnswer && name !== '' && paths.length === 0
}

/** Returns a declared supply of the same name that can never satisfy the requirement, if none can. */
function otherForm(want: Want, bySupply: ReadonlyMap<string, readonly Port[]>): Port | undefined {
  const ports = want.name === '' ? [] : (bySupply.get(want.name) ?? [])
  return ports.some(({ schema }) => canMeet(schema, want.schema)) ? undefined : ports[0]
}

/** Extends the schema with the paths that constraints read. */
function naming(schema: JsonSchema, paths: readonly Path[]): JsonSchema {
  return paths
    .filter((path) => !declares(schema, path))
    .reduce((named, path) => both(named, placeSchema(path)), schema)
}

function placeSchema([segment, ...rest]: Path): JsonSchema {
  if (segment === undefined) return true
  if (segment === 'length' || segment === '*' || /^\d+$/.test(segment))
    return { type: 'array', items: segment === 'length' ? true : placeSchema(rest) }
  return { type: 'object', properties: { [segment]: placeSchema(rest) }, required: [segment] }
}

/**
 * Returns candidates of agents that list facets beyond what their capabilities declare, for requirements that no
 * declared capability serves.
 */
export function derivedOffers(market: Market, declared: readonly Offer[]): readonly Offer[] {
  const { facets, wants, goal } = market
  const capabilities = market.allowed.filter(({ capabilityId }) => !isBuiltin(capabilityId))
  if (!capabilities.some(({ metadata }) => metadata?.['supportedFacets'] !== undefined)) return []
  const served = new Set(declared.flatMap(({ supplies }) => supplies.map(({ name }) => name)))
  return [...supportOf(capabilities).values()].flatMap(({ capabilities: own, output }) =>
    facetPorts([...output], facets).flatMap((port): Offer[] => {
      if (served.has(port.name) || wants.called(port.name).length === 0) return []
      const from = own[0]
      if (from === undefined || !isFacetList(from.inputContract)) return []
      const needs = facetPorts(from.inputContract, facets).map((each) => wantOf(each, wants))
      const outputFacets = port.facets.map(({ name }) => name)
      const cost = costOf({ capability: from, way: 'derived', aversions: [] }, goal)
      const key = `derived:${from.capabilityId}:${port.name}`
      return [{ key, way: 'derived', capability: from, needs, supplies: [port], outputFacets, cost }]
    }),
  )
}

/**
 * Returns capabilities that are not available as declared, without the input facets that have no supplier; at least one
 * must remain.
 */
export function reducedOffers(
  market: Market,
  declared: readonly Offer[],
  found: Supporters,
): readonly Offer[] {
  return declared.flatMap((offer): Offer[] => {
    const { capability, needs, score } = offer
    if (found.costOf(offer) !== undefined || !isFacetList(capability.inputContract)) return []
    const there = needs.filter((want) => found.of(want) !== undefined)
    if (there.length === 0 || there.length === needs.length) return []
    const inputFacets = there.flatMap((want) => want.facets.map(({ name }) => name))
    const cost = costOf(
      { capability, way: 'reduced', aversions: [], ...(score !== undefined && { score }) },
      market.goal,
    )
    return [
      {
        ...offer,
        key: `reduced:${capability.capabilityId}`,
        way: 'reduced',
        needs: there,
        inputFacets,
        cost,
      },
    ]
  })
}
