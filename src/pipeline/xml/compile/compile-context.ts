/** State shared by all parts of the compiler while one file is compiled. */
import type { TextRange } from '../../../base/errors/issue.ts'
import type { Json } from '../../../base/json.ts'
import type { GivenProcessing } from '../../../domain/draft/processing.ts'
import { type OutputFormat, shorthandSchema } from '../../../output/index.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import type { Finding } from '../../text/source.ts'
import type { BodyNode, TemplateFile } from '../parse/template.ts'
import { type DraftBuilder, literal, mostNodes, type NewNode, type NodeContext } from './draft-builder.ts'
import { fixed, type Made, type Scope, type Value } from './value.ts'
import { valueId } from './value-capability.ts'

/** Maximum nesting depth of template calls. */
export const deepestCalls = 5

/** Limit on reported findings, to keep reports readable. */
const mostFindings = 50

export interface Compiling {
  readonly file: TemplateFile
  readonly builder: DraftBuilder
  readonly findings: Finding[]
  /** The inputs of the run. */
  readonly inputs: { readonly [name: string]: Json }
  /** Explicit settings for processing texts. */
  readonly settings: GivenProcessing
  /** Memoises the parts taken of each value. */
  readonly parts: WeakMap<Value, Map<string, Made>>
  /** Number of bodies expanded so far. */
  expanded: number
  compile(body: BodyNode, scope: Scope, context: NodeContext): Made
}

/** Aborts the compilation; `compileTemplate` catches it. */
export class Stop extends Error {}

export function say(compiling: Compiling, range: TextRange, said: Omit<Finding, 'range'>): void {
  compiling.findings.push({ range, ...said })
  if (compiling.findings.length >= mostFindings) throw new Stop()
}

export function addNode(compiling: Compiling, node: NewNode, { context, range }: At): string {
  const id = compiling.builder.add(node, context)
  if (id !== undefined) return id
  say(compiling, range, {
    code: 'template/limit',
    message: `the template becomes more than ${mostNodes} nodes`,
    hint: 'Call fewer templates, or run the work in several templates',
  })
  throw new Stop()
}

export interface At {
  readonly context: NodeContext
  readonly range: TextRange
}

/** Placeholder for a value with a reported finding, so that its users are not reported too. */
export const nothing: Made = { value: fixed(null), exits: [] }

/** Adds a node that passes a value on: parsed as JSON (`detect`), or checked against a type. */
export function handedOn(
  compiling: Compiling,
  value: Value,
  {
    context,
    range,
    name,
    ...how
  }: At & { name: string; detect?: boolean; schema?: JsonSchema; format?: Json },
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
    { context, range },
  )
  return { value: { schema, read: () => [{ node: id, pointer: '/value' }] }, exits: [id] }
}

/** Returns the value in the format that the context requires, checked by a node at run time. */
export function conforming(compiling: Compiling, made: Made, at: At): Made {
  const { wanted } = at.context
  if (wanted === undefined) return made
  const schema = toFormatSchema(wanted)
  const format = wanted.schema === undefined ? { type: wanted.type } : { ...wanted, schema: wanted.schema }
  const name = `as-${formatName(wanted).replaceAll('[]', '-list')}`
  return handedOn(compiling, made.value, { ...at, name, schema, format })
}

// Combines the output format that a task declares with the return type of its template.

/** The contract of an output format; without a declaration, text. */
export function toFormatSchema(format: OutputFormat | undefined): JsonSchema {
  if (format === undefined || format.type === 'text') return { type: 'string' }
  // Any JSON value; at level `minimal` the reader does not accept bare text as one.
  return format.schema === undefined ? {} : (shorthandSchema(format.schema) ?? false)
}

/** Name of a format in messages. */
export function formatName({ type, schema }: OutputFormat): string {
  return schema ?? (type === 'text' ? 'string' : 'json')
}

/** The narrower of the two formats (meet), or `conflict` if neither contains the other. */
export function joined(
  own: OutputFormat | undefined,
  wanted: OutputFormat | undefined,
): OutputFormat | 'conflict' | undefined {
  if (own === undefined || wanted === undefined) return own ?? wanted
  if (isWithin(own, wanted)) return own
  return isWithin(wanted, own) ? wanted : 'conflict'
}

function isWithin(inner: OutputFormat, outer: OutputFormat): boolean {
  if (outer.type === 'json' && outer.schema === undefined) return true
  if (inner.type === 'json' && inner.schema === undefined) return false
  return isNarrower(formatName(inner), formatName(outer))
}

function isNarrower(inner: string, outer: string): boolean {
  if (inner === outer) return true
  if (inner === 'integer' && outer === 'number') return true
  const [a, b] = [getItem(inner), getItem(outer)]
  if (a === undefined || b === undefined) return false
  return b === '' || (a !== '' && isNarrower(a, b))
}

/** `string` for `string[]`; empty for a list of anything; `undefined` for a type that is not a list. */
function getItem(name: string): string | undefined {
  if (name === 'array' || name === '[]') return ''
  return name.endsWith('[]') ? name.slice(0, -2).trimEnd() : undefined
}
