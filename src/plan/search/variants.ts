/** `variantCount` as a demand on whoever writes the variants. */
import type { JsonSchema } from '../../schema/json-schema.ts'
import { variantProperty } from '../obligations/policies.ts'
import type { Market } from './offers.ts'
import { canMeet } from './wants.ts'

export interface Variants {
  readonly property?: string
  readonly count?: number
  readonly demands: ReadonlyMap<string, JsonSchema>
}

/** The number of variants as a demand on the list that holds them, as far as the contract allows it (C39). */
export function variantsOf({ request, goals }: Market): Variants {
  const { schema } = request.envelope.outputContract
  const property = variantProperty({ callerSchema: schema, slots: [] })
  const count = request.envelope.policies.planner.topology?.variantCount
  const want = goals.find((goal) => goal.role === 'answer' && goal.want.name === property)?.want
  if (property === undefined || count === undefined || want === undefined)
    return { demands: new Map(), ...(property !== undefined && { property }) }
  const exactly = { type: 'array', minItems: count, maxItems: count } as const
  if (!canMeet(want.schema, exactly)) return { property, demands: new Map() }
  return { property, count, demands: new Map([[property, exactly]]) }
}
