/** What all parts of the compiler share while one file is compiled. */
import type { Span } from '../../base/issue.ts'
import type { Json } from '../../base/json.ts'
import type { GivenProcessing } from '../../domain/processing.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import type { Finding } from '../source.ts'
import { type DraftBuilder, literal, mostNodes, type NewNode, type Place } from './draft-builder.ts'
import { formatName, schemaOf } from './formats.ts'
import type { BodyNode, TemplateFile } from './template.ts'
import { fixed, type Made, type Scope, type Value } from './value.ts'
import { valueId } from './value-capability.ts'

/** Templates inside each other: calls, and calls in what they call. */
export const deepestCalls = 5

/** More would not be read by anybody. */
const mostFindings = 50

export interface Compiling {
  readonly file: TemplateFile
  readonly builder: DraftBuilder
  readonly findings: Finding[]
  /** What the run is started with. */
  readonly inputs: { readonly [name: string]: Json }
  /** What the settings say of how texts are made and read. */
  readonly settings: GivenProcessing
  /** Parts of values that have been taken already. */
  readonly parts: WeakMap<Value, Map<string, Made>>
  /** How many bodies have been expanded. */
  expanded: number
  compile(body: BodyNode, scope: Scope, place: Place): Made
}

/** Ends the compilation at once; it never leaves `compileTemplate`. */
export class Stop extends Error {}

export function say(compiling: Compiling, span: Span, said: Omit<Finding, 'span'>): void {
  compiling.findings.push({ span, ...said })
  if (compiling.findings.length >= mostFindings) throw new Stop()
}

export function addNode(compiling: Compiling, node: NewNode, { place, span }: At): string {
  const id = compiling.builder.add(node, place)
  if (id !== undefined) return id
  say(compiling, span, {
    code: 'template/limit',
    message: `the template becomes more than ${mostNodes} nodes`,
    hint: 'Call fewer templates, or run the work in several templates',
  })
  throw new Stop()
}

export interface At {
  readonly place: Place
  readonly span: Span
}

/** Stands for something that has been complained about, so that its users are not complained about too. */
export const nothing: Made = { value: fixed(null), exits: [] }

/** A node that hands a value on: as what its text stands for, or with a type that has to be shown. */
export function handedOn(
  compiling: Compiling,
  value: Value,
  { place, span, name, ...how }: At & { name: string; detect?: boolean; schema?: JsonSchema; format?: Json },
): Made {
  const { detect = false, schema = true, format } = how
  const id = addNode(
    compiling,
    {
      name,
      capabilityId: valueId,
      inputs: new Map([['value', value.read()], ...(detect ? [['detect', literal(true)] as const] : [])]),
      contracts: { output: { type: 'object', properties: { value: schema }, required: ['value'] } },
      ...(format !== undefined && { data: { outputFormat: format } }),
    },
    { place, span },
  )
  return { value: { schema, read: () => [{ node: id, pointer: '/value' }] }, exits: [id] }
}

/** The value as the surroundings want it: known to be so, or checked by a node when the run gets there. */
export function conforming(compiling: Compiling, made: Made, at: At): Made {
  const { wanted } = at.place
  if (wanted === undefined) return made
  const schema = schemaOf(wanted)
  const format = wanted.schema === undefined ? { type: wanted.type } : { ...wanted, schema: wanted.schema }
  const name = `as-${formatName(wanted).replaceAll('[]', '-list')}`
  return handedOn(compiling, made.value, { ...at, name, schema, format })
}
