/**
 * Contracts of planned nodes: what the capability declares, narrowed to what its readers need, so that an unusable
 * value is rejected at the node that can fix it.
 */
import { jsonEqual } from '../../../base/json.ts'
import { both, isOpen, placed, refers } from '../../../schema/build/combine.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { Maker } from './choose.ts'

/** Additional requirements on properties, from policies. */
export type Demands = ReadonlyMap<string, JsonSchema>

/** Builds an object schema with these properties; references inside stay valid. */
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

/** Returns what the node must supply beyond its capability's own contract; undefined if nothing. */
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

/** Returns the input schema of an open node that converts a value; undefined for other nodes. */
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
