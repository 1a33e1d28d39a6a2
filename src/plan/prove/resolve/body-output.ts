/** Returns the schema of the output of a body, from the bindings of that output. */

import { anyOf, mapOf } from '../../../schema/build/composite-schemas.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { Resolved, Slot } from '../proof-request.ts'
import { schemaOf, wayWithout } from '../sources.ts'

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
