/** The schema of what a body yields, from what its output is bound to. */
import type { JsonSchema } from '../../schema/json-schema.ts'
import { anyOf, mapOf } from '../../schema/made-schemas.ts'
import type { Resolved, Slot } from '../request.ts'
import { schemaOf } from '../sources.ts'
import { wayWithout } from '../without.ts'

export function bodyOutput(body: Resolved): JsonSchema {
  const slots = body.slots.filter(({ inAnswer }) => inAnswer)
  const [whole] = slots.filter(({ prefix }) => prefix.length === 0)
  if (whole) return ofSlot(whole, body)
  return mapOf(
    Object.fromEntries(
      slots.flatMap((slot) => {
        const [name] = slot.prefix
        if (name === undefined || slot.sources.length === 0) return []
        const certain = wayWithout(slot.sources, body) === undefined
        return [[name, { schema: ofSlot(slot, body), certain }]]
      }),
    ),
  )
}

function ofSlot({ sources }: Slot, body: Resolved): JsonSchema {
  return anyOf(sources.map((source) => schemaOf(source, body).schema))
}
