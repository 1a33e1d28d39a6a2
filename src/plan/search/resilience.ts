/** What happens when a node fails: another attempt, another capability, or a node of its own that stands in. */
import type { Capability } from '../../domain/capability.ts'
import type { Binding, Draft, DraftNode, Edge, Source } from '../../domain/plan.ts'
import { both } from '../../schema/combine.ts'
import { answerId, isBuiltin } from '../builtins.ts'
import { type FacetsByName, isFacetList, portsOf } from '../catalog/ports.ts'
import { standIns } from '../catalog/stand-ins.ts'
import { retryFor } from '../planned-retries.ts'
import { isBinding, sourcesOf } from '../sources.ts'
import type { Maker } from './choose.ts'

/** Other capabilities that a node may fall back to. */
const mostAlternates = 2

export interface Backing {
  readonly capabilities: readonly Capability[]
  readonly facets: FacetsByName
  /** Capabilities that the caller avoids. */
  readonly avoid: readonly string[]
  /** A hard constraint looks at what the node supplies. */
  readonly judged: boolean
}

/** Retries and alternates of a node. What judges is not asked again until it likes what it sees. */
export function backingOf(maker: Maker, backing: Backing): Pick<DraftNode, 'retry' | 'alternates'> {
  const { capability, way } = maker
  if (way === 'done' || capability.kind === 'human') return {}
  const judges = capability.nodeKind === 'validation' && backing.judged
  // What another capability changes may be changed twice.
  const isAlone = isBuiltin(capability.capabilityId) || capability.sideEffect
  const others = isAlone
    ? []
    : standIns(capability, backing.capabilities, backing.facets)
        .filter(
          ({ capabilityId, nodeKind }) => !backing.avoid.includes(capabilityId) && nodeKind !== 'fallback',
        )
        .slice(0, mostAlternates)
        .map(({ capabilityId }) => capabilityId)
  return {
    ...retryFor(capability, { derived: way === 'derived', judges }),
    ...(others.length > 0 && { alternates: others }),
  }
}

export interface Rescue {
  readonly draft: Draft
  /** The node that may fail, and whose it is. */
  readonly nodeId: string
  readonly capability: Capability
  readonly worker: Capability
  readonly id: string
}

/** Who can stand in for a node: a capability registered as a fallback for what it supplies, else the open answer. */
export function rescuerFor(
  node: Capability,
  capabilities: readonly Capability[],
  { facets, always }: { readonly facets: FacetsByName; readonly always: boolean },
): Capability | undefined {
  const names = portsOf(node, facets).supplies.map(({ name }) => name)
  const made = capabilities.filter(({ nodeKind }) => nodeKind === 'fallback')
  const able = standIns(node, made, facets)[0]
  if (able !== undefined || !always || names.includes('') || isBuiltin(node.capabilityId)) return able
  return capabilities.find(({ capabilityId }) => capabilityId === answerId)
}

/** The draft with a fallback node: it runs when the other fails, and whoever took from the one takes from either. */
export function withRescue({ draft, nodeId, capability, worker, id }: Rescue): Draft {
  const node = draft.nodes.find((each) => each.id === nodeId)
  if (node === undefined) return draft
  const { label: _, retry: _retry, alternates: _alternates, derived: _derived, ...rest } = node
  const { outputContract } = capability
  const output = isFacetList(outputContract)
    ? node.contracts?.output
    : both(outputContract, node.contracts?.output ?? true)
  const fallback: DraftNode = {
    ...rest,
    id,
    kind: 'fallback',
    capabilityId: worker.capabilityId,
    ...retryFor(worker, { judges: false }),
    ...(output !== undefined && { contracts: { ...node.contracts, output } }),
    rationale: `Stands in when "${nodeId}" has failed for good`,
  }
  const either = (source: Source): readonly Source[] =>
    'node' in source && source.node === nodeId ? [source, { ...source, node: id }] : [source]
  const rebind = (binding: Binding): Binding => sourcesOf(binding).flatMap(either)
  const nodes = draft.nodes.map((each) => {
    const inputs = Object.entries(each.inputs ?? {}).map(([name, binding]) => [name, rebind(binding)])
    return each.inputs === undefined ? each : { ...each, inputs: Object.fromEntries(inputs) }
  })
  const edge: Edge = { from: nodeId, to: id, when: 'fail' }
  return {
    ...draft,
    nodes: [...nodes, fallback],
    edges: [...(draft.edges ?? []), edge],
    ...(draft.output && { output: outputWith(draft.output, rebind) }),
  }
}

function outputWith(output: NonNullable<Draft['output']>, rebind: (binding: Binding) => Binding) {
  if (isBinding(output)) return rebind(output)
  const properties = Object.entries(output.properties).map(([name, binding]) => [name, rebind(binding)])
  return { properties: Object.fromEntries(properties) }
}
