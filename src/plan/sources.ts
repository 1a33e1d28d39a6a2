/** Sources of values: whether they are there in a scenario, and which values they may hold. */
import { isObject, type Json } from '../base/json.ts'
import { tokens } from '../base/pointer.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { Binding, Source } from '../domain/plan.ts'
import { follow, missing } from '../schema/condition-evaluate.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { type Projection, project } from '../schema/project.ts'
import { declares, type Path, setAt, valuesOf } from '../schema/schema-values.ts'
import { isAbsent, type ValueSet } from '../schema/value-set.ts'
import type { Resolved } from './request.ts'
import type { Scenario } from './scenario.ts'

type Known = Pick<Resolved, 'byId' | 'request'>

export function sourcesOf(binding: Binding): readonly Source[] {
  return Array.isArray(binding) ? (binding as readonly Source[]) : [binding as Source]
}

/** The nodes among sources. */
export function nodesIn(sources: readonly Source[]): readonly string[] {
  return sources.flatMap((source) => ('node' in source ? [source.node] : []))
}

/** Whether something is one binding, and not a map of them by property. */
export function isBinding(output: unknown): output is Binding {
  return (
    Array.isArray(output) ||
    (isObject(output) && ['node', 'envelope', 'value', 'input'].some((key) => Object.hasOwn(output, key)))
  )
}

/** What nodes may take from the envelope. */
export function visibleEnvelope({ objective, inputs, specialInstructions }: Envelope): Json {
  return { objective, inputs, specialInstructions }
}

/** Whether a source has a value when the scenario is over; `maybe` when its schema leaves it open. */
export function isThere(source: Source, scenario: Scenario, known: Known): 'yes' | 'maybe' | 'no' {
  if ('node' in source && !scenario.completed.has(source.node)) return scenario.complete ? 'no' : 'maybe'
  const set = valuesAt(source, [], known)
  if (!set.missing) return 'yes'
  return isAbsent(set) ? 'no' : 'maybe'
}

/** The values that a source may have at a path below it. */
export function valuesAt(source: Source, rest: Path, { byId, request }: Known): ValueSet {
  if ('value' in source) return setAt(source.value, rest)
  if ('envelope' in source) {
    return setAt(visibleEnvelope(request.envelope), [...tokens(source.envelope), ...rest])
  }
  if ('input' in source) return valuesOf(request.given?.schema ?? false)([...tokens(source.input), ...rest])
  const output: JsonSchema = byId.get(source.node)?.output ?? true
  return valuesOf(output)([...tokens(source.pointer ?? ''), ...rest])
}

/** Whether somebody answers for the place: a schema that names it, or a value that has it. */
export function owns(source: Source, rest: Path, known: Known): boolean {
  if ('node' in source) {
    const output = known.byId.get(source.node)?.output ?? true
    return declares(output, [...tokens(source.pointer ?? ''), ...rest])
  }
  if ('input' in source)
    return declares(known.request.given?.schema ?? false, [...tokens(source.input), ...rest])
  return !isAbsent(valuesAt(source, rest, known))
}

/** What a source supplies, as a schema; a value that is known is a schema of one value. */
export function schemaOf(source: Source, { byId, request }: Known): Projection {
  // A node that does not exist supplies nothing; that it does not exist is said elsewhere.
  if ('node' in source) return project(byId.get(source.node)?.output ?? false, source.pointer ?? '')
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

export function describeSource(source: Source): string {
  if ('node' in source) return `node "${source.node}"${source.pointer ? ` at ${source.pointer}` : ''}`
  if ('input' in source) return `the input of the body at ${source.input}`
  return 'value' in source ? 'a fixed value' : `the envelope at ${source.envelope}`
}
