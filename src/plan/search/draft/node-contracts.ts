/**
 * Contracts of planned nodes: what the capability declares, narrowed to what its readers need, so that an unusable
 * value is rejected at the node that can fix it.
 */
import { jsonEqual } from '../../../base/json.ts'
import { addDefinition, both, isOpen, refers } from '../../../schema/build/combine.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { PlannedNode } from './choose.ts'

/** Additional requirements on properties, from policies. */
export type Demands = ReadonlyMap<string, JsonSchema>

/** Builds an object schema with these properties; references inside stay valid. */
export function buildObjectSchema(
  properties: ReadonlyMap<string, readonly JsonSchema[]>,
  required: readonly string[],
): JsonSchema {
  const $defs: Record<string, JsonSchema> = {}
  const entries = [...properties].map(([name, schemas]): [string, JsonSchema] => {
    const parts = schemas.map((schema) => addDefinition(schema, name, $defs))
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
export function buildOutputContract(
  planned: PlannedNode,
  demands: Demands,
  optional: ReadonlySet<string>,
): JsonSchema | undefined {
  const whole = planned.uses.filter(({ port }) => port === '')
  if (whole.length > 0) return buildWholeContract(planned)
  const properties = new Map<string, JsonSchema[]>()
  const add = (name: string, schema: JsonSchema) => {
    const before = properties.get(name) ?? []
    const known = isOpen(schema) || before.some((each) => jsonEqual(each, schema))
    properties.set(name, known ? before : [...before, schema])
  }
  for (const { port, requirement } of planned.uses) {
    const own = supplied(planned, port)
    if (isOpenNode(planned)) add(port, own)
    else if (!jsonEqual(own, requirement.schema)) add(port, requirement.schema)
    const demand = requirement.forAnswer ? demands.get(requirement.name) : undefined
    if (demand !== undefined) add(port, demand)
  }
  if (properties.size === 0) return undefined
  const required = [...properties.keys()].filter((name) => !optional.has(name))
  return buildObjectSchema(properties, required)
}

function buildWholeContract(planned: PlannedNode): JsonSchema {
  return planned.uses
    .filter(({ port }) => port === '')
    .map(({ requirement }) => requirement.schema)
    .reduce(both, true)
}

/** Returns the input schema of an open node that converts a value; undefined for other nodes. */
export function buildInputContract(planned: PlannedNode): JsonSchema | undefined {
  if (planned.method !== 'transformation') return undefined
  const needs = planned.candidates.flatMap((candidate) => candidate.needs)
  return buildObjectSchema(
    new Map(needs.map(({ name, schema }) => [name, [schema]])),
    needs.map(({ name }) => name),
  )
}

export function isOpenNode({ method }: PlannedNode): boolean {
  return method === 'structure' || method === 'standIn' || method === 'answer' || method === 'transformation'
}

function supplied(planned: PlannedNode, port: string): JsonSchema {
  const ports = planned.candidates.flatMap(({ supplies }) => supplies).filter(({ name }) => name === port)
  return ports
    .map(({ schema }) => schema)
    .reduce((a, b) => (jsonEqual(a, b) ? a : both(a, b)), true as JsonSchema)
}
