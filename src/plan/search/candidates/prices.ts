/**
 * Builds all candidates for a request with the minimum cost of each requirement. Recomputed only when learned
 * constraints change which capabilities may be used.
 */
import type { Capability } from '../../../domain/capability.ts'
import type { Considered } from '../../../domain/ports/planner.ts'
import { both } from '../../../schema/build/combine.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { declares, type Path } from '../../../schema/values/schema-values.ts'
import { answerId, isBuiltin, structureId } from '../../builtin-capabilities.ts'
import { collectSupport } from '../../catalog/derive.ts'
import { facetPorts, isFacetList, type Port } from '../../catalog/ports.ts'
import type { Goal } from '../../prove/goals/goals.ts'
import type { SearchRequest } from '../search-request.ts'
import {
  addRequirement,
  type Candidate,
  createSearchSpace,
  findDeclaredCandidates,
  type SearchSpace,
} from './candidates.ts'
import { type CheapestProducers, findCheapestProducers } from './cheapest-producers.ts'
import { findCompletedCandidates } from './completed-nodes.ts'
import {
  type Aversion,
  getCost,
  getOptimisationGoal,
  goalTable,
  type OptimisationGoal,
  type SupplyMethod,
} from './costs.ts'
import {
  canMeet,
  collectAliases,
  contractNeeds,
  createRequirements,
  findGivenSource,
  findInput,
  type Requirement,
  type SearchGoal,
} from './requirements.ts'

export interface Pricing {
  readonly banned: ReadonlySet<string>
  readonly averse: ReadonlyMap<string, Aversion>
  /** The plan was too deep: minimise depth before anything else. */
  readonly shallow: boolean
  /** Overrides the caller's goal. */
  readonly goal?: OptimisationGoal
}

export interface Priced {
  readonly space: SearchSpace
  readonly goals: readonly SearchGoal[]
  readonly constraints: readonly Goal[]
  readonly candidates: readonly Candidate[]
  readonly producers: CheapestProducers
  /** Capabilities below the cut-off. */
  readonly left: readonly string[]
}

export function priceCandidates(
  request: SearchRequest,
  { banned, averse, shallow, ...pricing }: Pricing,
): Priced {
  const goal = pricing.goal ?? getOptimisationGoal(request.envelope.policies.planner)
  const aliases = collectAliases(request.facets)
  const requirements = createRequirements(aliases)
  const { goals, constraints } = contractNeeds(request, requirements, { aliases, goal })
  const space = createSearchSpace({ request, requirements, goals, aliases, goal, averse }, banned)
  const { candidates: declared, left } = findDeclaredCandidates(space)
  const closed = [...declared, ...findDerivedCandidates(space, declared), ...findCompletedCandidates(space)]
  const open = findOpenCandidates(space, declared)
  const given = (requirement: Requirement) => findGivenSource(requirement, request.envelope, aliases)
  const settle = (all: readonly Candidate[]) => {
    const candidates = shallow
      ? all.map((candidate) => ({ ...candidate, cost: measureDepth(candidate) }))
      : all
    const counts = shallow ? 'longest' : goalTable[goal].counts
    return { candidates, producers: findCheapestProducers({ requirements, candidates, given, counts }) }
  }
  const found = settle([...closed, ...open])
  const reduced = findReducedCandidates(space, found.candidates, found.producers)
  return {
    space,
    goals,
    constraints,
    left,
    ...(reduced.length === 0 ? found : settle([...closed, ...open, ...reduced])),
  }
}

/** Key of the prices behind what a search considered: they are for the search only. */
const pricesKey = Symbol('prices')

interface HeldPrices {
  readonly request: SearchRequest
  /** Absent after a search has used them: it adds requirements to the space, which the next one must not see. */
  priced: Priced | undefined
}

interface ConsideredWithPrices extends Considered {
  readonly [pricesKey]: HeldPrices
}

/**
 * Prices a request without learned constraints and lists what was considered. Passed on as `considered` of the same
 * request, it spares the search pricing the candidates again.
 */
export function considerCandidates(request: SearchRequest): Considered {
  if (findPrices(request)?.priced !== undefined) return request.considered as Considered
  const priced = priceAfresh(request)
  const considered: ConsideredWithPrices = { ...listConsidered(priced), [pricesKey]: { request, priced } }
  return considered
}

/** Prices a request without learned constraints, or takes the prices that came with it. */
export function priceRequest(request: SearchRequest): Priced {
  const prices = findPrices(request)
  if (prices?.priced === undefined) return priceAfresh(request)
  const { priced } = prices
  prices.priced = undefined
  return { ...priced, space: { ...priced.space, request } }
}

function findPrices(request: SearchRequest): HeldPrices | undefined {
  const prices = (request.considered as Partial<ConsideredWithPrices> | undefined)?.[pricesKey]
  return prices && isSameRequest(prices.request, request) ? prices : undefined
}

function priceAfresh(request: SearchRequest): Priced {
  return priceCandidates(request, { banned: new Set(), averse: new Map(), shallow: false })
}

/** The capabilities on a path from the inputs to the contract, each with its lowest cost, the cheapest first. */
export function listConsidered({
  candidates,
  producers,
}: Pick<Priced, 'candidates' | 'producers'>): Considered {
  const costs = new Map<Capability, number>()
  for (const candidate of candidates) {
    const cost = producers.getCost(candidate)
    if (cost === undefined || candidate.echo || candidate.method === 'done') continue
    const lowest = costs.get(candidate.capability) ?? Number.POSITIVE_INFINITY
    costs.set(candidate.capability, Math.min(cost, lowest))
  }
  const capabilities = [...costs]
    .sort(([a, x], [b, y]) => x - y || (a.capabilityId < b.capabilityId ? -1 : 1))
    .map(([capability, cost]) => ({ capability, cost }))
  return { capabilities }
}

/** Compares by identity; results of earlier nodes are not compared, so a plan with some is priced again. */
function isSameRequest(a: SearchRequest, b: SearchRequest): boolean {
  const hasResults = (request: SearchRequest) => (request.completed ?? []).length > 0
  return (
    a.envelope === b.envelope &&
    a.facets === b.facets &&
    a.capabilities === b.capabilities &&
    a.cutoff === b.cutoff &&
    !hasResults(a) &&
    !hasResults(b)
  )
}

/** Depth cost: one per node, with the cost as tie-breaker. */
function measureDepth({ method, cost }: Candidate): number {
  return (method === 'done' ? 0 : 1) + cost * 1e-7
}

// Candidates of the two open capabilities, and of agents beyond what they declare: used where declared capabilities are
// not enough.

/**
 * Returns candidates of `proviso.structure`, `proviso.answer` and the envelope itself, for every requirement they may
 * serve.
 */
function findOpenCandidates(space: SearchSpace, declared: readonly Candidate[]): readonly Candidate[] {
  const { requirements, goals, request, aliases } = space
  const byId = new Map(space.allowed.map((each) => [each.capabilityId, each]))
  const [structure, answer] = [byId.get(structureId), byId.get(answerId)]
  const ofAnswer = new Map(
    goals.filter(({ role }) => role !== 'aside').map(({ requirement }) => [requirement.name, requirement]),
  )
  const bySupply = new Map<string, Port[]>()
  for (const { supplies } of declared)
    for (const port of supplies) bySupply.set(port.name, [...(bySupply.get(port.name) ?? []), port])
  const all = [...requirements.list()]
  const candidates: Candidate[] = []
  const add = (
    requirement: Requirement,
    method: SupplyMethod,
    capability: Capability,
    more: Partial<Candidate> = {},
  ) => candidates.push(createOpenCandidate(requirement, { method, capability, space }, more))
  for (const requirement of all) {
    const part = ofAnswer.get(requirement.name)
    if (structure && isInput(requirement) && part === undefined) {
      const usual =
        requirement.facets.length > 0 &&
        requirement.facets.every(({ metadata }) => metadata.direction === 'input')
      add(requirement, usual ? 'structure' : 'standIn', structure)
    }
    if (!answer) continue
    if (part !== undefined && canMeet(part.schema, requirement.schema))
      add(requirement, requirement.forAnswer ? 'answer' : 'answered', answer)
    const other = otherForm(requirement, bySupply)
    if (other !== undefined) {
      const { name, schema, facets } = other
      const source = requirements.add({
        name,
        schema,
        facets,
        paths: [],
        forAnswer: false,
        declaredOnly: true,
      })
      add(requirement, 'transformation', answer, { needs: [source] })
    }
  }
  for (const { requirement, role } of goals) {
    const echo = role === 'answer' ? findInput(requirement, request.envelope, aliases) : undefined
    const anyone = answer ?? structure ?? request.capabilities[0]
    if (echo !== undefined && anyone !== undefined) add(requirement, 'echo', anyone, { echo })
  }
  return candidates
}

interface OpenCandidateOptions {
  readonly method: SupplyMethod
  readonly capability: Capability
  readonly space: SearchSpace
}

function createOpenCandidate(
  requirement: Requirement,
  { method, capability, space }: OpenCandidateOptions,
  more: Partial<Candidate>,
): Candidate {
  const { selection } = space.request.envelope.policies.planner
  const { capabilityId } = capability
  const favoured = [...(selection?.require ?? []), ...(selection?.prefer ?? [])].includes(capabilityId)
  const aversions: Aversion[] = selection?.avoid?.includes(capabilityId) ? ['avoided'] : []
  const cost = favoured && method !== 'echo' ? 0.5 : getCost({ capability, method, aversions }, space.goal)
  const schema = declarePaths(requirement.schema, requirement.paths)
  const supplies: Port[] = [{ name: requirement.name, schema, required: true, facets: requirement.facets }]
  return {
    key: `${method}:${requirement.id}`,
    method,
    capability,
    needs: [],
    supplies,
    cost,
    only: requirement,
    ...more,
  }
}

/** Whether it is only needed as an input; values that constraints read must come from a source that declares them. */
function isInput({ forAnswer, name, paths }: Requirement): boolean {
  return !forAnswer && name !== '' && paths.length === 0
}

/** Returns a declared supply of the same name that can never satisfy the requirement, if none can. */
function otherForm(
  requirement: Requirement,
  bySupply: ReadonlyMap<string, readonly Port[]>,
): Port | undefined {
  const ports = requirement.name === '' ? [] : (bySupply.get(requirement.name) ?? [])
  return ports.some(({ schema }) => canMeet(schema, requirement.schema)) ? undefined : ports[0]
}

/** Extends the schema with the paths that constraints read. */
function declarePaths(schema: JsonSchema, paths: readonly Path[]): JsonSchema {
  return paths
    .filter((path) => !declares(schema, path))
    .reduce((named, path) => both(named, toPathSchema(path)), schema)
}

function toPathSchema([segment, ...rest]: Path): JsonSchema {
  if (segment === undefined) return true
  if (segment === 'length' || segment === '*' || /^\d+$/.test(segment))
    return { type: 'array', items: segment === 'length' ? true : toPathSchema(rest) }
  return { type: 'object', properties: { [segment]: toPathSchema(rest) }, required: [segment] }
}

/**
 * Returns candidates of agents that list facets beyond what their capabilities declare, for requirements that no
 * declared capability serves.
 */
function findDerivedCandidates(space: SearchSpace, declared: readonly Candidate[]): readonly Candidate[] {
  const { facets, requirements, goal } = space
  const capabilities = space.allowed.filter(({ capabilityId }) => !isBuiltin(capabilityId))
  if (!capabilities.some(({ metadata }) => metadata?.['supportedFacets'] !== undefined)) return []
  const served = new Set(declared.flatMap(({ supplies }) => supplies.map(({ name }) => name)))
  return [...collectSupport(capabilities).values()].flatMap(({ capabilities: own, output }) =>
    facetPorts([...output], facets).flatMap((port): Candidate[] => {
      if (served.has(port.name) || requirements.called(port.name).length === 0) return []
      const from = own[0]
      if (from === undefined || !isFacetList(from.inputContract)) return []
      const needs = facetPorts(from.inputContract, facets).map((each) => addRequirement(each, requirements))
      const outputFacets = port.facets.map(({ name }) => name)
      const cost = getCost({ capability: from, method: 'derived', aversions: [] }, goal)
      const key = `derived:${from.capabilityId}:${port.name}`
      return [{ key, method: 'derived', capability: from, needs, supplies: [port], outputFacets, cost }]
    }),
  )
}

/**
 * Returns capabilities that are not available as declared, without the input facets that have no supplier; at least one
 * must remain.
 */
function findReducedCandidates(
  space: SearchSpace,
  declared: readonly Candidate[],
  found: CheapestProducers,
): readonly Candidate[] {
  return declared.flatMap((candidate): Candidate[] => {
    const { capability, needs, score } = candidate
    if (found.getCost(candidate) !== undefined || !isFacetList(capability.inputContract)) return []
    const there = needs.filter((requirement) => found.of(requirement) !== undefined)
    if (there.length === 0 || there.length === needs.length) return []
    const inputFacets = there.flatMap((requirement) => requirement.facets.map(({ name }) => name))
    const cost = getCost(
      { capability, method: 'reduced', aversions: [], ...(score !== undefined && { score }) },
      space.goal,
    )
    return [
      {
        ...candidate,
        key: `reduced:${capability.capabilityId}`,
        method: 'reduced',
        needs: there,
        inputFacets,
        cost,
      },
    ]
  })
}
