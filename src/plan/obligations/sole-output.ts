/** Whether an object, taken property by property, is all that one node gives: then that node's own schema speaks about it as a whole. */
import { isObject, own } from '../../base/json.ts'
import { child } from '../../base/pointer.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { partsOf } from '../../schema/keywords.ts'
import { hold, listOf, openNode, recordOf } from '../../schema/schema-node.ts'
import type { Resolved, Slot } from '../request.ts'

interface Wanted {
  readonly byId: Resolved['byId']
  /** What the object is to satisfy. */
  readonly schema: JsonSchema
}

/** The output schema of the only node that the object comes from, if what the object leaves out of it cannot matter. */
export function soleOutput(slots: readonly Slot[], { byId, schema }: Wanted): JsonSchema | undefined {
  const sources = slots.flatMap((slot) =>
    slot.sources.map((source) => ({ source, name: slot.prefix[0] ?? '' })),
  )
  const [first] = sources
  if (first === undefined || !('node' in first.source) || sources.length !== slots.length) return undefined
  const { node } = first.source
  const same = sources.every(
    ({ source, name }) => 'node' in source && source.node === node && source.pointer === child('', name),
  )
  const output = byId.get(node)?.output
  if (!same || output === undefined) return undefined
  const names = new Set(slots.map(({ prefix }) => prefix[0] ?? ''))
  return isClosedOver(output, names) || looksOnlyAt(schema, names) ? output : undefined
}

/** The schema allows no other properties than these. */
function isClosedOver(schema: JsonSchema, names: ReadonlySet<string>): boolean {
  return openNode([], [hold(schema)]).parts.some(
    ({ schema: part }) =>
      own(part, 'additionalProperties') === false &&
      Object.keys(recordOf(part, 'patternProperties')).length === 0 &&
      Object.keys(recordOf(part, 'properties')).every((name) => names.has(name)),
  )
}

/** Keywords whose verdict may change with a property that they do not name. */
const countsOthers = new Set(
  'minProperties maxProperties additionalProperties patternProperties propertyNames unevaluatedProperties const enum $ref $dynamicRef $recursiveRef'.split(
    ' ',
  ),
)

/** At its root the schema speaks of these properties only: others, left out of the object, change nothing. */
function looksOnlyAt(schema: JsonSchema, names: ReadonlySet<string>): boolean {
  if (!isObject(schema)) return true
  if (Object.keys(schema).some((keyword) => countsOthers.has(keyword))) return false
  const named = [
    ...Object.keys(recordOf(schema, 'properties')),
    ...listOf(schema, 'required').map(String),
    ...['dependentRequired', 'dependentSchemas', 'dependencies'].flatMap((keyword) =>
      Object.entries(recordOf(schema, keyword)).flatMap(([name, held]) => [
        name,
        ...(Array.isArray(held) ? held.map(String) : []),
      ]),
    ),
  ]
  if (!named.every((name) => names.has(name))) return false
  return partsOf(schema, '').every(
    ({ schema: part, applies }) => applies !== 'here' || looksOnlyAt(part, names),
  )
}
