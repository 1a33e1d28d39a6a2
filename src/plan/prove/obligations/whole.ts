/**
 * Judges the root keywords of a schema that constrain an object as a whole (`maxProperties`, `anyOf`, `not`, …), if the
 * object is assembled property by property: the answer of a plan, or the input of a node.
 */
import { isObject, own } from '../../../base/json.ts'
import { child } from '../../../base/pointer.ts'
import type { Diagnostic } from '../../../domain/diagnostic.ts'
import type { Source } from '../../../domain/plan.ts'
import { both } from '../../../schema/build/combine.ts'
import { buildAnyOf } from '../../../schema/build/composite-schemas.ts'
import { project } from '../../../schema/build/project.ts'
import { checkFit } from '../../../schema/fit/fit.ts'
import { type Assembled, type KeywordTruth, openKeywords } from '../../../schema/fit/fit-assembled.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { listSubschemas } from '../../../schema/keywords.ts'
import { getList, getRecord, hold, openNode } from '../../../schema/values/schema-node.ts'
import { createDiagnostic } from '../../diagnostics.ts'
import { type Choice, choicesFor, isLeftOut } from '../goals/answer-values.ts'
import { type Resolved, type ResolvedNode, type Slot, toCompileOptions } from '../proof-request.ts'
import { getSourceSchema } from '../sources.ts'

// Whether an assembled object equals the output of a single node: then that node's own schema describes it as a whole.

interface Wanted {
  readonly byId: Resolved['byId']
  /** The schema that the object must satisfy. */
  readonly schema: JsonSchema
}

/** Returns the output schema of the only node that the object comes from, if the properties left out cannot matter. */
function soleOutput(slots: readonly Slot[], { byId, schema }: Wanted): JsonSchema | undefined {
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

/** Whether the schema allows no properties but these. */
function isClosedOver(schema: JsonSchema, names: ReadonlySet<string>): boolean {
  return openNode([], [hold(schema)]).parts.some(
    ({ schema: part }) =>
      own(part, 'additionalProperties') === false &&
      Object.keys(getRecord(part, 'patternProperties')).length === 0 &&
      Object.keys(getRecord(part, 'properties')).every((name) => names.has(name)),
  )
}

/** Keywords whose verdict may depend on a property that they do not name. */
const countsOthers = new Set(
  'minProperties maxProperties additionalProperties patternProperties propertyNames unevaluatedProperties const enum $ref $dynamicRef $recursiveRef'.split(
    ' ',
  ),
)

/** Whether the root of the schema constrains these properties only, so that properties left out change nothing. */
function looksOnlyAt(schema: JsonSchema, names: ReadonlySet<string>): boolean {
  if (!isObject(schema)) return true
  if (Object.keys(schema).some((keyword) => countsOthers.has(keyword))) return false
  const named = [
    ...Object.keys(getRecord(schema, 'properties')),
    ...getList(schema, 'required').map(String),
    ...['dependentRequired', 'dependentSchemas', 'dependencies'].flatMap((keyword) =>
      Object.entries(getRecord(schema, keyword)).flatMap(([name, held]) => [
        name,
        ...(Array.isArray(held) ? held.map(String) : []),
      ]),
    ),
  ]
  if (!named.every((name) => names.has(name))) return false
  return listSubschemas(schema, '').every(
    ({ schema: part, applies }) => applies !== 'here' || looksOnlyAt(part, names),
  )
}

interface Whole {
  readonly schema: JsonSchema
  /** One per property. */
  readonly slots: readonly Slot[]
  /** The node whose input it is; undefined for the answer. */
  readonly nodeId?: string
}

/** The part of the schema that is not proved. */
type WholeVerdict =
  /** Keywords that some runs may break. */
  | { readonly kind: 'depends'; readonly keywords: readonly string[] }
  /** Keywords that every run violates, with the object as one of these runs assembles it. */
  | { readonly kind: 'never'; readonly broken: readonly KeywordTruth[]; readonly object: Assembled }

/** Keywords that other checks cover, or that reject nothing. */
const coveredKeywords = new Set(
  'type properties required $schema $id $defs definitions $comment title description default examples format'.split(
    ' ',
  ),
)

/** Returns undefined if every keyword is proved. Runs when every property has its producers. */
export function judgeWhole(whole: Whole, resolved: Resolved): WholeVerdict | undefined {
  const { schema, slots } = whole
  if (typeof schema === 'boolean') return undefined
  if (Object.keys(schema).every((keyword) => coveredKeywords.has(keyword)) && isObjectType(schema['type']))
    return undefined
  const options = toCompileOptions(resolved.request)
  const output = soleOutput(slots, { byId: resolved.byId, schema })
  if (output !== undefined && checkFit(output, schema, options).kind === 'yes') return undefined
  return getVerdict(judgeObjects(whole, resolved))
}

const isObjectType = (type: unknown) => type === undefined || [type].flat().includes('object')

interface ObjectJudgement {
  readonly object: Assembled
  readonly open: readonly KeywordTruth[]
}

function judgeObjects(
  { schema: wanted, slots, nodeId }: Whole,
  resolved: Resolved,
): readonly ObjectJudgement[] {
  const options = toCompileOptions(resolved.request)
  const known = new Map<string, JsonSchema>()
  return choicesFor(slots, resolved, nodeId).map((choice) => {
    const object = assembled(choice)
    return { object, open: openKeywords(object, wanted, options) }
  })

  function assembled(choice: Choice): Assembled {
    return new Map(
      [...choice].flatMap(([{ prefix }, chosen]) => {
        const sources = chosen.flatMap((each) => (isLeftOut(each) ? [] : [each]))
        if (sources.length === 0) return []
        const schema = buildAnyOf(sources.map((source) => supplied(source, prefix[0] ?? '')))
        return [[prefix[0] ?? '', { schema, certain: sources.length === chosen.length }] as const]
      }),
    )
  }

  /** Assumes that each property satisfies its own schema, which is judged property by property. */
  function supplied(source: Source, name: string): JsonSchema {
    const key = JSON.stringify([name, source])
    let schema = known.get(key)
    if (schema === undefined) {
      schema = both(getSourceSchema(source, resolved).schema, project(wanted, child('', name)).schema)
      known.set(key, schema)
    }
    return schema
  }
}

function getVerdict(judgements: readonly ObjectJudgement[]): WholeVerdict | undefined {
  const failing = judgements.filter(({ open }) => open.length > 0)
  const [first] = failing
  if (first === undefined) return undefined
  if (judgements.every(({ open }) => open.some(({ truth }) => !truth.mayHold))) {
    const broken = first.open.filter(({ truth }) => !truth.mayHold)
    return { kind: 'never', broken, object: first.object }
  }
  const keywords = new Set(failing.flatMap(({ open }) => open.map(({ keyword }) => keyword)))
  return { kind: 'depends', keywords: [...keywords] }
}

/** Explains why no object with these members satisfies the keyword. */
export function reasonFor(
  what: string,
  {
    keyword,
    schema,
    object,
  }: { readonly keyword: string; readonly schema: JsonSchema; readonly object: Assembled },
): string {
  const names = [...object.keys()].map((name) => `"${name}"`).join(', ') || 'nothing'
  const counts = keyword === 'minProperties' || keyword === 'maxProperties'
  const limit = typeof schema === 'boolean' ? '' : String(schema[keyword])
  return counts
    ? `${what} has ${object.size} properties (${names}), "${keyword}" is ${limit}`
    : `No ${what.replace(/^The /, '')} with ${names} satisfies "${keyword}"`
}

// The whole input of a node: each keyword at the root of its input schema is proved, refuted in every run that starts
// the node, or reported as checked before it starts.

/** Runs for nodes whose inputs are valid one by one. */
export function wholeInput(node: ResolvedNode, resolved: Resolved): readonly Diagnostic[] {
  const { id: nodeId, input: schema, inputs, capability } = node
  const slots = Object.entries(inputs).map(
    ([name, sources]): Slot => ({ prefix: [name], sources, inAnswer: false }),
  )
  const verdict = judgeWhole({ schema, slots, nodeId }, resolved)
  if (verdict === undefined) return []
  const where = (keyword: string) => ({
    constraint: `the input of "${nodeId}" as a whole satisfies "${keyword}" of its schema`,
    nodeId,
    capabilityId: capability?.capabilityId,
  })
  if (verdict.kind === 'depends')
    return verdict.keywords.map((keyword) =>
      createDiagnostic('plan/input-unproven', {
        ...where(keyword),
        suggestion: `It is checked at run time only, before the node starts. Change "${keyword}", or bind the inputs that it needs in every run`,
        details: { pointer: '', keyword, schemaPointer: child('', keyword) },
      }),
    )
  const { object } = verdict
  return verdict.broken.map(({ keyword, pointer }) =>
    createDiagnostic('plan/input-mismatch', {
      ...where(keyword),
      suggestion: `${reasonFor('The input', { keyword, schema, object })}: change the input schema at ${pointer}, or which inputs are bound`,
      details: { pointer: '', keyword, schemaPointer: pointer, properties: [...object.keys()] },
    }),
  )
}
