/** Summarises the nodes of a plan for display: every name that the sources give to the same thing (C36). */
import type { NodeKind } from '../capability.ts'
import type { Plan, PlanNode, Routing } from '../plan.ts'
import type { NodeStatus } from '../status.ts'
import { type RaoRow, raoRows } from './rao-rows.ts'

export interface NodeSummary {
  readonly id: string
  /** The same again, under its other name. */
  readonly nodeId: string
  readonly capabilityId?: string
  readonly label?: string
  readonly kind: NodeKind
  readonly status: NodeStatus
  /** Properties of its output. */
  readonly provides: readonly string[]
  /** Ids of the constraints that it makes true. */
  readonly enforces: readonly string[]
  /** Whether a side was compiled from facets. */
  readonly contracts: { readonly inputMode: ContractMode; readonly outputMode: ContractMode }
  readonly facets: { readonly input: readonly string[]; readonly output: readonly string[] }
  readonly derivedCapability: boolean
  readonly routing?: Routing
  /** RAO contracts that its answers are under, or those of its body. */
  readonly rao?: readonly RaoRow[]
}

type ContractMode = 'facets' | 'json_schema'

export function summariseNodes(plan: Plan, statusOf: (nodeId: string) => NodeStatus): NodeSummary[] {
  return plan.nodes.map((node) => summary(node, statusOf(node.id)))
}

function summary(node: PlanNode, status: NodeStatus): NodeSummary {
  const { id, capabilityId, label, kind, provides, enforces, facetProvenance, derived, routing } = node
  const [input, output] = [facetProvenance.input, facetProvenance.output].map((side) => [
    ...new Set(side.map(({ facet }) => facet)),
  ]) as [string[], string[]]
  const rao = raoRows([node])
  return {
    id,
    nodeId: id,
    ...(capabilityId !== undefined && { capabilityId }),
    ...(label !== undefined && { label }),
    kind,
    status,
    provides,
    enforces,
    contracts: { inputMode: getMode(input), outputMode: getMode(output) },
    facets: { input, output },
    derivedCapability: derived ?? false,
    ...(routing && { routing }),
    ...(rao.length > 0 && { rao }),
  }
}

function getMode(facets: readonly string[]): ContractMode {
  return facets.length > 0 ? 'facets' : 'json_schema'
}

type Named = Pick<PlanNode, 'id' | 'bodyId' | 'label' | 'kind' | 'capabilityId'>

/** The names under which `hitlRequiredFor` finds a node: its id, its id in the body, its label, its kind and its capability. */
export function listNodeNames({ id, bodyId, label, kind, capabilityId }: Named): readonly string[] {
  return [id, bodyId, label, kind, capabilityId].filter((name) => name !== undefined)
}

/** The names of all nodes, those of bodies included. */
export function namesIn(nodes: readonly PlanNode[]): ReadonlySet<string> {
  return new Set(nodes.flatMap((node) => [...listNodeNames(node), ...namesIn(node.body?.nodes ?? [])]))
}
