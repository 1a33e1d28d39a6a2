/** Which nodes of a plan are under which RAO contract, for proofs, summaries and people. */
import type { PlanNode } from './plan.ts'
import { type EffectiveContract, findRaoContract } from './rao/effective.ts'
import { isRaoError } from './rao.ts'

export interface RaoRow extends EffectiveContract {
  /** In a body with its place: `each[].write` in a map, `refine#.write` in a loop. */
  readonly nodeId: string
  readonly capabilityId: string
}

export function raoRows(nodes: readonly PlanNode[], place = ''): RaoRow[] {
  return nodes.flatMap((node) => {
    const { id, capabilityId, alternates = [], body, map } = node
    const own = [...(capabilityId === undefined ? [] : [capabilityId]), ...alternates].flatMap(
      (candidate): RaoRow[] => {
        const contract = findRaoContract(node, candidate)
        if (contract === undefined || isRaoError(contract)) return []
        return [{ nodeId: place + id, capabilityId: candidate, ...contract }]
      },
    )
    const inside = `${place}${id}${map === undefined ? '#' : '[]'}.`
    return [...own, ...(body ? raoRows(body.nodes, inside) : [])]
  })
}
