/**
 * What a node is asked for: what its capability declares, narrowed to what those who use it need, so that a value which
 * nobody could use is refused where it can be mended.
 */
import { jsonEqual } from '../../base/equal.ts'
import { both, isOpen, placed, refers } from '../../schema/combine.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Maker } from './choose.ts'

/** Further demands on properties, from policies. */
export type Demands = ReadonlyMap<string, JsonSchema>

/** An object schema with these properties; references inside keep their meaning. */
export function objectOf(
  properties: ReadonlyMap<string, readonly JsonSchema[]>,
  required: readonly string[],
): JsonSchema {
  const $defs: Record<string, JsonSchema> = {}
  const entries = [...properties].map(([name, schemas]): [string, JsonSchema] => {
    const parts = schemas.map((schema) => placed(schema, name, $defs))
    return [name, parts.length > 1 && parts.some(refers) ? { allOf: parts } : parts.reduce(both, true)]
  })
  return {
    type: 'object',
    properties: Object.fromEntries(entries),
    ...(required.length > 0 && { required }),
    ...(Object.keys($defs).length > 0 && { $defs }),
  }
}

/** What the node must give beyond its capability's own contract; absent where that says it all. */
export function outputOf(
  maker: Maker,
  demands: Demands,
  optional: ReadonlySet<string>,
): JsonSchema | undefined {
  const whole = maker.uses.filter(({ port }) => port === '')
  if (whole.length > 0) return wholeOf(maker)
  const properties = new Map<string, JsonSchema[]>()
  const add = (name: string, schema: JsonSchema) => {
    const before = properties.get(name) ?? []
    const known = isOpen(schema) || before.some((each) => jsonEqual(each, schema))
    properties.set(name, known ? before : [...before, schema])
  }
  for (const { port, want } of maker.uses) {
    const own = supplied(maker, port)
    if (isOpenMaker(maker)) add(port, own)
    else if (!jsonEqual(own, want.schema)) add(port, want.schema)
    const demand = want.forAnswer ? demands.get(want.name) : undefined
    if (demand !== undefined) add(port, demand)
  }
  if (properties.size === 0) return undefined
  const required = [...properties.keys()].filter((name) => !optional.has(name))
  return objectOf(properties, required)
}

function wholeOf(maker: Maker): JsonSchema {
  return maker.uses
    .filter(({ port }) => port === '')
    .map(({ want }) => want.schema)
    .reduce(both, true)
}

/** What an open node takes in, besides the envelope: what it converts. */
export function inputOf(maker: Maker): JsonSchema | undefined {
  if (maker.way !== 'transformation') return undefined
  const needs = maker.offers.flatMap((offer) => offer.needs)
  return objectOf(
    new Map(needs.map(({ name, schema }) => [name, [schema]])),
    needs.map(({ name }) => name),
  )
}

export function isOpenMaker({ way }: Maker): boolean {
  return way === 'structure' || way === 'standIn' || way === 'answer' || way === 'transformation'
}

function supplied(maker: Maker, port: string): JsonSchema {
  const ports = maker.offers.flatMap(({ supplies }) => supplies).filter(({ name }) => name === port)
  return ports
    .map(({ schema }) => schema)
    .reduce((a, b) => (jsonEqual(a, b) ? a : both(a, b)), true as JsonSchema)
}
