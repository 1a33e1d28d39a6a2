/** Sources of values: whether they are present in a scenario, and which values they may hold. */
import { isObject, type Json } from '../../base/json.ts'
import { tokens } from '../../base/pointer.ts'
import type { Envelope } from '../../domain/envelope.ts'
import type { Binding, Source } from '../../domain/plan.ts'
import { type Projection, project } from '../../schema/build/project.ts'
import { follow, missing } from '../../schema/condition/evaluate.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { declares, getValueLookup, type Path, setAt } from '../../schema/values/schema-values.ts'
import { isAbsent, type ValueSet } from '../../schema/values/value-set.ts'
import type { Resolved } from './proof-request.ts'
import type { Scenario } from './scenarios/scenario.ts'

type Known = Pick<Resolved, 'byId' | 'request'>

export function toSources(binding: Binding): readonly Source[] {
  return Array.isArray(binding) ? (binding as readonly Source[]) : [binding as Source]
}

/** The nodes among sources. */
export function nodesIn(sources: readonly Source[]): readonly string[] {
  return sources.flatMap((source) => ('node' in source ? [source.node] : []))
}

/** Whether a value is one binding, as opposed to a map of bindings by property. */
export function isBinding(output: unknown): output is Binding {
  return (
    Array.isArray(output) ||
    (isObject(output) && ['node', 'envelope', 'value', 'input'].some((key) => Object.hasOwn(output, key)))
  )
}

/** The part of the envelope that nodes may read. */
export function visibleEnvelope({ objective, inputs, specialInstructions }: Envelope): Json {
  return { objective, inputs, specialInstructions }
}

/** Whether a source has a value at the end of the scenario; `maybe` when its schema allows both. */
export function isThere(source: Source, scenario: Scenario, known: Known): 'yes' | 'maybe' | 'no' {
  if ('node' in source && !scenario.completed.has(source.node)) return scenario.complete ? 'no' : 'maybe'
  const set = valuesAt(source, [], known)
  if (!set.missing) return 'yes'
  return isAbsent(set) ? 'no' : 'maybe'
}

/** Returns the values that a source may have at a path below it. */
export function valuesAt(source: Source, rest: Path, { byId, request }: Known): ValueSet {
  if ('value' in source) return setAt(source.value, rest)
  if ('envelope' in source) {
    return setAt(visibleEnvelope(request.envelope), [...tokens(source.envelope), ...rest])
  }
  if ('input' in source)
    return getValueLookup(request.given?.schema ?? false)([...tokens(source.input), ...rest])
  const output: JsonSchema = byId.get(source.node)?.output ?? true
  return getValueLookup(output)([...tokens(source.pointer ?? ''), ...rest])
}

/** Whether the source accounts for the path: a schema that declares it, or a value that contains it. */
export function owns(source: Source, rest: Path, known: Known): boolean {
  if ('node' in source) {
    const output = known.byId.get(source.node)?.output ?? true
    return declares(output, [...tokens(source.pointer ?? ''), ...rest])
  }
  if ('input' in source)
    return declares(known.request.given?.schema ?? false, [...tokens(source.input), ...rest])
  return !isAbsent(valuesAt(source, rest, known))
}

/** Returns what a source supplies as a schema; a known value becomes a schema of that one value. */
export function getSourceSchema(source: Source, { byId, request }: Known): Projection {
  if ('node' in source) {
    // An unknown node supplies nothing; the shape obligation reports it.
    const { output = false, body } = byId.get(source.node) ?? {}
    const found = project(output, source.pointer ?? '')
    return body === undefined || hasExactOutput(body) ? found : { ...found, exact: false }
  }
  if ('input' in source) {
    const { schema, inexact } = request.given ?? { schema: false, inexact: new Set() }
    const [name = ''] = tokens(source.input)
    const found = project(schema, source.input)
    return inexact.has(name) ? { ...found, exact: false } : found
  }
  const value =
    'value' in source ? source.value : follow(visibleEnvelope(request.envelope), tokens(source.envelope))
  return { schema: value === missing ? false : { const: value }, exact: true }
}

/** Whether the output of a body passes on nothing that is only approximately known, such as an element of a known list. */
function hasExactOutput(body: Resolved): boolean {
  return body.slots.every(
    ({ inAnswer, sources }) => !inAnswer || sources.every((source) => getSourceSchema(source, body).exact),
  )
}

// Checks whether some scenario leaves a value without a source.

/**
 * Returns the first scenario in which no source is certainly present, or with `certain` all are certainly absent. With
 * `nodeId`, only scenarios that start this node count.
 */
export function findScenarioWithout(
  sources: readonly Source[],
  resolved: Resolved,
  nodeId?: string,
  { certain = false } = {},
): Scenario | undefined {
  // A source that is always present when its node completes matters only in the other scenarios, which are far fewer.
  const sure = nodesIn(sources.filter((source) => !valuesAt(source, [], resolved).missing))
  const asking = nodeId === undefined ? [] : [nodeId]
  return resolved.scenarios
    .over([...nodesIn(sources).filter((id) => !sure.includes(id)), ...asking], sure)
    .find(
      (scenario) =>
        asking.every((id) => scenario.started.has(id)) &&
        sources.every((source) => {
          const there = isThere(source, scenario, resolved)
          return there === 'no' || (there === 'maybe' && !certain)
        }),
    )
}
