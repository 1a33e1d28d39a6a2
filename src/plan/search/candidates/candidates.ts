/** Candidate nodes: capabilities that something in this plan can use, with their cost. */
import type { Capability } from '../../../domain/capability.ts'
import type { Source } from '../../../domain/plan.ts'
import { isBuiltin } from '../../builtin-capabilities.ts'
import { type FacetsByName, facetsByName, getPorts, type Port } from '../../catalog/ports.ts'
import { defaultCutoff, readHints, scoreCapability } from '../../catalog/score.ts'
import type { SearchRequest } from '../search-request.ts'
import { type Aversion, getCost, type OptimisationGoal, type SupplyMethod } from './costs.ts'
import {
  type Aliases,
  getNames,
  type Requirement,
  type Requirements,
  type SearchGoal,
} from './requirements.ts'

export interface Candidate {
  /** Unique, and deterministic for the same request. */
  readonly key: string
  readonly method: SupplyMethod
  readonly capability: Capability
  readonly needs: readonly Requirement[]
  readonly supplies: readonly Port[]
  readonly cost: number
  readonly score?: number
  /** Serves only this requirement. */
  readonly only?: Requirement
  /** Not a node: the envelope pointer that is returned as is. */
  readonly echo?: Source
  /** Id of the completed node that it reuses. */
  readonly doneId?: string
  /** Input facets in use, if not all that the capability declares. */
  readonly inputFacets?: readonly string[]
  /** Output facets that the capability does not declare. */
  readonly outputFacets?: readonly string[]
}

export interface SearchSpace {
  readonly request: SearchRequest
  readonly requirements: Requirements
  readonly goals: readonly SearchGoal[]
  readonly aliases: Aliases
  readonly facets: FacetsByName
  readonly goal: OptimisationGoal
  /** Capabilities that may be used: active, not forbidden by name or kind, not shown to be unfit. */
  readonly allowed: readonly Capability[]
  /** Capabilities to use only as a last resort, and why. */
  readonly averse: ReadonlyMap<string, Aversion>
}

function filterAllowed(request: SearchRequest, banned: ReadonlySet<string>): readonly Capability[] {
  const { selection, topology } = request.envelope.policies.planner
  const forbidden = new Set([...(selection?.forbid ?? []), ...banned])
  const kinds = new Set(topology?.forbiddenKinds ?? [])
  return request.capabilities.filter(
    ({ capabilityId, nodeKind }) => !forbidden.has(capabilityId) && !kinds.has(nodeKind),
  )
}

interface DeclaredCandidates {
  readonly candidates: readonly Candidate[]
  /** Capabilities below the cut-off. */
  readonly left: readonly string[]
  /** Every property that something in the plan can use. */
  readonly useful: ReadonlySet<string>
}

/** Returns the declared capabilities on a path to the goals. */
export function findDeclaredCandidates(space: SearchSpace): DeclaredCandidates {
  const { request, requirements, facets, goal } = space
  const { selection, topology } = request.envelope.policies.planner
  const capabilities = space.allowed.filter(({ capabilityId }) => !isBuiltin(capabilityId))
  const wanted = new Set([...(selection?.require ?? []), ...(selection?.prefer ?? [])])
  const roots = capabilities.filter(
    ({ capabilityId, nodeKind }) =>
      wanted.has(capabilityId) || (topology?.requiredKinds ?? []).includes(nodeKind),
  )
  const { relevant, useful } = findRelevant(space, capabilities, roots)
  const hints = readHints(request.envelope)
  const cutoff = request.cutoff ?? defaultCutoff
  const favoured = findFavouredSupplies(space, capabilities)
  const left: string[] = []
  const candidates = [...relevant].sort(byId).flatMap((capability): Candidate[] => {
    const { capabilityId } = capability
    const ports = getPorts(capability, facets)
    const supplies = ports.supplies.map(({ name }) => name)
    const { total: score } = scoreCapability(capability, { hints, useful, supplies, selection })
    if (score < cutoff && !roots.includes(capability)) {
      left.push(capabilityId)
      return []
    }
    if (capability.nodeKind === 'fallback' && !wanted.has(capabilityId)) return []
    const aversions = getAversions(capability, space, favoured)
    return [
      {
        key: capabilityId,
        method: 'declared',
        capability,
        needs: ports.needs
          .filter(({ required }) => required)
          .map((port) => addRequirement(port, requirements)),
        supplies: ports.supplies,
        score,
        cost: getCost({ capability, method: 'declared', score, aversions }, goal),
      },
    ]
  })
  return { candidates, left, useful }
}

export function addRequirement(port: Port, requirements: Requirements): Requirement {
  const { name, schema, facets } = port
  return requirements.add({ name, schema, facets, paths: [], forAnswer: false })
}

function byId(a: Capability, b: Capability): number {
  return a.capabilityId < b.capabilityId ? -1 : 1
}

/** Backward chaining from the goals: finds the suppliers of each requirement, then the suppliers of their needs. */
function findRelevant(space: SearchSpace, capabilities: readonly Capability[], roots: readonly Capability[]) {
  const { facets, aliases, goals } = space
  const suppliers = new Map<string, Capability[]>()
  for (const capability of capabilities) {
    for (const { name } of findSupplies(capability, facets)) {
      const others = suppliers.get(name)
      if (others === undefined) suppliers.set(name, [capability])
      else others.push(capability)
    }
  }
  const relevant = new Set<Capability>()
  const useful = new Set<string>()
  const stack: string[] = []
  const require = (name: string) => {
    for (const each of getNames(name, aliases)) {
      if (useful.has(each)) continue
      useful.add(each)
      stack.push(each)
    }
  }
  const include = (capability: Capability) => {
    if (relevant.has(capability)) return
    relevant.add(capability)
    for (const { name, required } of getPorts(capability, facets).needs) if (required) require(name)
  }
  for (const { requirement } of goals) require(requirement.name)
  for (const root of roots) include(root)
  for (let name = stack.pop(); name !== undefined; name = stack.pop()) {
    for (const capability of suppliers.get(name) ?? []) include(capability)
  }
  return { relevant, useful }
}

function findSupplies(capability: Capability, facets: FacetsByName): readonly { readonly name: string }[] {
  return getPorts(capability, facets).supplies
}

/** Maps properties to the capabilities that the caller prefers or requires for them. */
function findFavouredSupplies({ request, facets }: SearchSpace, capabilities: readonly Capability[]) {
  const { require = [], prefer = [] } = request.envelope.policies.planner.selection ?? {}
  const favoured = new Set([...require, ...prefer])
  const names = new Set(
    capabilities
      .filter(({ capabilityId }) => favoured.has(capabilityId))
      .flatMap((capability) => findSupplies(capability, facets).map(({ name }) => name)),
  )
  return { favoured, names }
}

function getAversions(
  capability: Capability,
  { request, facets, averse }: SearchSpace,
  { favoured, names }: ReturnType<typeof findFavouredSupplies>,
): Aversion[] {
  const { capabilityId, kind, sideEffect } = capability
  if (favoured.has(capabilityId)) return []
  const found: Aversion[] = []
  const said = averse.get(capabilityId)
  if (said !== undefined) found.push(said)
  if (request.envelope.policies.planner.selection?.avoid?.includes(capabilityId)) found.push('avoided')
  if (findSupplies(capability, facets).some(({ name }) => names.has(name))) found.push('rival')
  if (kind === 'human') found.push('person')
  if (sideEffect) found.push('sideEffect')
  return found
}

/** `banned`: capabilities that a proof has shown to be unfit here. */
export function createSearchSpace(
  given: Omit<SearchSpace, 'facets' | 'allowed'>,
  banned: ReadonlySet<string>,
): SearchSpace {
  const { request } = given
  return { ...given, facets: facetsByName(request.facets), allowed: filterAllowed(request, banned) }
}

// Generates node ids: short, readable, unique, and deterministic for the same plan.

interface NodeIds {
  /** Returns an unused id based on this one. */
  fresh(like: string): string
}

/**
 * Ids of completed nodes, and of the node that is executed again, are reserved: a node that keeps its id keeps its
 * output.
 */
export function createNodeIds({
  completed = [],
  trigger,
}: Pick<SearchRequest, 'completed' | 'trigger'>): NodeIds {
  const taken = new Set(completed.map(({ id }) => id))
  if (trigger?.nodeId !== undefined) taken.add(trigger.nodeId)
  return {
    fresh(like) {
      const base = slug(like)
      let name = base
      for (let n = 2; taken.has(name); n++) name = `${base}_${n}`
      taken.add(name)
      return name
    },
  }
}

/** Returns the preferred id for the node of a candidate. */
export function toNodeName({ method, capability, only }: Candidate): string {
  if (method === 'transformation' && only) return `${only.name}_form`
  return capability.capabilityId.slice(capability.capabilityId.lastIndexOf('.') + 1)
}

/** Letters, digits and underscores. */
export function slug(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_+|_+$/g, '') || 'node'
}
