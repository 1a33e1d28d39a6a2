/**
 * Derived capabilities: an agent supports all wanted facets although none of its capabilities declares the combination.
 * The agent is the part of a capability id before the last dot, or its `metadata.agentId`.
 */
import { isObject } from '../../base/json.ts'
import type { Capability } from '../../domain/capability.ts'
import { isFacetList } from './ports.ts'

interface Support {
  readonly agent: string
  readonly capabilities: readonly Capability[]
  readonly input: ReadonlySet<string>
  readonly output: ReadonlySet<string>
}

export interface Derived {
  readonly agent: string
  /** The closest declared capability: it is called, with other facets than it declares. */
  readonly from: Capability
  readonly input: readonly string[]
  readonly output: readonly string[]
}

function getAgent({ capabilityId, metadata }: Capability): string {
  const said = metadata?.['agentId']
  if (typeof said === 'string') return said
  const dot = capabilityId.lastIndexOf('.')
  return dot > 0 ? capabilityId.slice(0, dot) : capabilityId
}

/** Collects the facets each agent supports: those its capabilities declare, and those in `metadata.supportedFacets`. */
export function collectSupport(capabilities: readonly Capability[]): ReadonlyMap<string, Support> {
  const agents = new Map<string, { capabilities: Capability[]; input: Set<string>; output: Set<string> }>()
  for (const capability of capabilities) {
    const agent = getAgent(capability)
    let support = agents.get(agent)
    if (support === undefined) {
      support = { capabilities: [], input: new Set(), output: new Set() }
      agents.set(agent, support)
    }
    support.capabilities.push(capability)
    for (const name of facetNames(capability, 'input')) support.input.add(name)
    for (const name of facetNames(capability, 'output')) support.output.add(name)
  }
  return new Map([...agents].map(([agent, support]) => [agent, { agent, ...support }]))
}

/**
 * Returns the derived capability, or undefined if the agent does not support the combination or has no capability to
 * call.
 */
export function derive(
  support: Support,
  wanted: { readonly input: readonly string[]; readonly output: readonly string[] },
): Derived | undefined {
  const { input, output } = wanted
  const able =
    input.every((name) => support.input.has(name)) && output.every((name) => support.output.has(name))
  if (!able || output.length === 0) return undefined
  const common = (capability: Capability) =>
    [...declared(capability.outputContract), ...declared(capability.inputContract)].filter(
      (name) => output.includes(name) || input.includes(name),
    ).length
  const from = support.capabilities.reduce<Capability | undefined>(
    (best, each) => (best === undefined || common(each) > common(best) ? each : best),
    undefined,
  )
  return from && { agent: support.agent, from, input, output }
}

function facetNames(capability: Capability, direction: 'input' | 'output'): readonly string[] {
  const side = direction === 'input' ? capability.inputContract : capability.outputContract
  const more = capability.metadata?.['supportedFacets']
  const listed = isObject(more) ? more[direction] : undefined
  const names = Array.isArray(listed) ? listed.filter((name) => typeof name === 'string') : []
  return [...declared(side), ...names]
}

function declared(side: Capability['inputContract']): readonly string[] {
  return isFacetList(side) ? side : []
}
