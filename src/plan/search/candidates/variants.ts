/** `variantCount` as a requirement on the node that writes the variants. */
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { variantProperty } from '../../prove/obligations/policies.ts'
import type { SearchSpace } from './candidates.ts'
import { canMeet } from './requirements.ts'

export interface Variants {
  readonly property?: string
  readonly count?: number
  readonly demands: ReadonlyMap<string, JsonSchema>
}

/** Returns the number of variants as a requirement on the list that holds them, as far as the contract allows it (C39). */
export function getVariants({ request, goals }: SearchSpace): Variants {
  const { schema } = request.envelope.outputContract
  const property = variantProperty({ callerSchema: schema, slots: [] })
  const count = request.envelope.policies.planner.topology?.variantCount
  const requirement = goals.find(
    (goal) => goal.role === 'answer' && goal.requirement.name === property,
  )?.requirement
  if (property === undefined || count === undefined || requirement === undefined)
    return { demands: new Map(), ...(property !== undefined && { property }) }
  const exactly = { type: 'array', minItems: count, maxItems: count } as const
  if (!canMeet(requirement.schema, exactly)) return { property, demands: new Map() }
  return { property, count, demands: new Map([[property, exactly]]) }
}
