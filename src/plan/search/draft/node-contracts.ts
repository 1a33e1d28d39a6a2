/**
 * Contracts and instructions of planned nodes. A contract is what the capability declares, narrowed to what its readers
 * need, so that an unusable value is rejected at the node that can fix it. Instructions say the same in words.
 */
import { type Json, jsonEqual } from '../../../base/json.ts'
import type { Envelope } from '../../../domain/envelope.ts'
import type { Facet } from '../../../domain/facet.ts'
import { addDefinition, both, isOpen, refers } from '../../../schema/build/combine.ts'
import { describeCondition, parseCondition } from '../../../schema/condition/condition.ts'
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

interface InstructionRequest {
  readonly planned: PlannedNode
  readonly envelope: Envelope
  /** The node supplies part of the answer. */
  readonly last: boolean
  /** Conditions on its output that the engine evaluates. */
  readonly conditions: readonly Json[]
  /** Soft constraints in human-readable form. */
  readonly wishes: readonly string[]
  /** Lines added by policies. */
  readonly more: readonly string[]
}

/** Builds the instructions of a node from its facets, the caller's hints and the conditions (FLEX-20, FLEX-25). */
export function instructionsFor({
  planned,
  envelope,
  last,
  conditions,
  wishes,
  more,
}: InstructionRequest): string {
  const { displayName, summary } = planned.capability
  const inputs = planned.candidates.flatMap(({ needs }) => needs.flatMap(({ facets }) => facets))
  const used = new Set(planned.uses.map(({ port }) => port))
  const outputs = planned.candidates.flatMap(({ supplies }) =>
    supplies.filter(({ name }) => used.has(name)).flatMap(({ facets }) => facets),
  )
  const given = getCallerHints(envelope)
  return [
    summary === '' ? displayName : `${displayName}: ${summary}`,
    ...unique(inputs).map(({ name, semantics }) => `Use "${name}": ${semantics.instruction}`),
    ...unique(outputs).map(
      ({ name, description, semantics }) => `Supply "${name}": ${description} ${semantics.instruction}`,
    ),
    ...more,
    ...conditions.map((condition) => `Make sure that ${describePostCondition(condition)}.`),
    ...(last ? wishes.map((wish) => `If you can, see to it that ${wish}.`) : []),
    ...(last && given.hints !== undefined ? [`Wishes about the form: ${given.hints}`] : []),
    ...(given.directives !== undefined ? [`Directives of the caller: ${given.directives}`] : []),
  ].join('\n')
}

function unique(facets: readonly Facet[]): readonly Facet[] {
  return [...new Set(facets)]
}

export function describePostCondition(condition: Json): string {
  const parsed = parseCondition(condition)
  return parsed.ok ? describeCondition(parsed.condition) : JSON.stringify(condition)
}

// Hints of the caller beside contract and policies: about the form (FLEX-05), and free directives (FLEX-10).

/** Directives that the planner or the engine handles; instructions of nodes omit them. */
const acted = new Set(['askBeforeFinish', 'hitlRequiredFor', 'branchVariants', 'sideEffects'])
/** Hints that the planner handles. */
const ordering = ['fieldOrder', 'propertyOrder', 'order'] as const
const longest = 2_000

interface CallerHints {
  readonly hints?: string
  readonly directives?: string
}

function getCallerHints({ outputContract, policies }: Envelope): CallerHints {
  const hints = without(outputContract.hints ?? {}, new Set<string>(ordering))
  const directives = without(policies.planner.directives ?? {}, acted)
  return {
    ...(hints !== undefined && { hints }),
    ...(directives !== undefined && { directives }),
  }
}

function without(map: object, keys: ReadonlySet<string>): string | undefined {
  const rest = Object.entries(map).filter(([key]) => !keys.has(key))
  return rest.length === 0 ? undefined : JSON.stringify(Object.fromEntries(rest)).slice(0, longest)
}

/** Sorts properties in the order that the caller prefers; unnamed ones keep their order, after the others. */
export function sortByCallerHints(names: readonly string[], { outputContract }: Envelope): readonly string[] {
  const hints = outputContract.hints ?? {}
  const said = ordering.map((key) => hints[key]).find(Array.isArray)
  if (said === undefined) return names
  const order = (said as readonly unknown[]).filter((name) => typeof name === 'string')
  const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length)
  return [...names].sort((a, b) => rank(a) - rank(b))
}
