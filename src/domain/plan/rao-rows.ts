/** Lists which RAO contract applies to which node of a plan, for proofs, summaries and people. */

import type { JsonSchema } from '../../schema/json-schema.ts'
import type { NodeConstraints, PlanNode } from '../plan.ts'
import { type EffectiveContract, findRaoContract, isRaoError } from '../rao/rao-contract.ts'

export interface RaoRow extends EffectiveContract {
  /** With the path of its body: `each[].write` in a map, `refine#.write` in a loop. */
  readonly nodeId: string
  readonly capabilityId: string
}

export function raoRows(nodes: readonly PlanNode[], prefix = ''): RaoRow[] {
  return nodes.flatMap((node) => {
    const { id, capabilityId, alternates = [], body, map } = node
    const own = [...(capabilityId === undefined ? [] : [capabilityId]), ...alternates].flatMap(
      (candidate): RaoRow[] => {
        const contract = findRaoContract(node, candidate)
        if (contract === undefined || isRaoError(contract)) return []
        return [{ nodeId: prefix + id, capabilityId: candidate, ...contract }]
      },
    )
    const inside = `${prefix}${id}${map === undefined ? '#' : '[]'}.`
    return [...own, ...(body ? raoRows(body.nodes, inside) : [])]
  })
}

/** A node of a plan as RAO's node contract: the same facts under that specification's names (RAO-01, RAO-02). */
export interface RaoNodeContract {
  readonly kind: string
  /** The capability; for a node that routes, `routing`. */
  readonly type_id: string
  readonly title: string
  readonly description?: string
  readonly input_schema: JsonSchema
  readonly output_schema: JsonSchema
  readonly constraints: Required<Omit<NodeConstraints, 'max_duration_ms'>> &
    Pick<NodeConstraints, 'max_duration_ms'>
}

export function getNodeContract(node: PlanNode): RaoNodeContract {
  const { id, kind, label, rationale, capabilityId, contracts, constraints = {} } = node
  const { max_duration_ms } = constraints
  return {
    kind,
    type_id: capabilityId ?? 'routing',
    title: label ?? id,
    ...(rationale !== undefined && { description: rationale }),
    input_schema: contracts.input,
    output_schema: contracts.output,
    constraints: {
      ...(max_duration_ms !== undefined && { max_duration_ms }),
      no_credential_access: constraints.no_credential_access ?? false,
      no_execution_authority: constraints.no_execution_authority ?? false,
      no_network_access: constraints.no_network_access ?? false,
    },
  }
}
