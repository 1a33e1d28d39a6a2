/**
 * The keywords at the root of a schema that speak about an object as a whole (`maxProperties`, `anyOf`, `not`, …), where
 * the object is assembled property by property: the answer of a plan, or the input of a node.
 */
import { child } from '../../base/pointer.ts'
import type { Source } from '../../domain/plan.ts'
import { type Assembled, type KeywordTruth, openKeywords } from '../../schema/assembled.ts'
import { both } from '../../schema/combine.ts'
import { fitOf } from '../../schema/fit.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { anyOf } from '../../schema/made-schemas.ts'
import { project } from '../../schema/project.ts'
import type { Resolved, Slot } from '../request.ts'
import { schemaOf } from '../sources.ts'
import { type Choice, choicesFor, isLeftOut } from '../worlds.ts'
import { soleOutput } from './sole-output.ts'

export interface Whole {
  readonly schema: JsonSchema
  /** One per property. */
  readonly slots: readonly Slot[]
  /** Whose input it is; absent for the answer. */
  readonly nodeId?: string
}

/** What of the schema is not proved. */
export type WholeVerdict =
  /** Keywords that some runs may break. */
  | { readonly kind: 'depends'; readonly keywords: readonly string[] }
  /** Keywords that every run breaks, with the object as one of them assembles it. */
  | { readonly kind: 'never'; readonly broken: readonly KeywordTruth[]; readonly object: Assembled }

/** Keywords that other checks answer for, or that refuse nothing. */
const elsewhere = new Set(
  'type properties required $schema $id $defs definitions $comment title description default examples format'.split(
    ' ',
  ),
)

/** Undefined where every keyword is proved. Asked when every property has its producers. */
export function judgeWhole(whole: Whole, resolved: Resolved): WholeVerdict | undefined {
  const { schema, slots } = whole
  if (typeof schema === 'boolean') return undefined
  if (Object.keys(schema).every((keyword) => elsewhere.has(keyword)) && isObjectType(schema['type']))
    return undefined
  const options = { untrusted: resolved.request.untrusted ?? false }
  const output = soleOutput(slots, { byId: resolved.byId, schema })
  if (output !== undefined && fitOf(output, schema, options).kind === 'yes') return undefined
  return verdictOf(waysOf(whole, resolved))
}

const isObjectType = (type: unknown) => type === undefined || [type].flat().includes('object')

interface Way {
  readonly object: Assembled
  readonly open: readonly KeywordTruth[]
}

function waysOf({ schema: wanted, slots, nodeId }: Whole, resolved: Resolved): readonly Way[] {
  const options = { untrusted: resolved.request.untrusted ?? false }
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
        const schema = anyOf(sources.map((source) => supplied(source, prefix[0] ?? '')))
        return [[prefix[0] ?? '', { schema, certain: sources.length === chosen.length }] as const]
      }),
    )
  }

  /** That each property satisfies the schema for it is judged property by property. */
  function supplied(source: Source, name: string): JsonSchema {
    const key = JSON.stringify([name, source])
    let schema = known.get(key)
    if (schema === undefined) {
      schema = both(schemaOf(source, resolved).schema, project(wanted, child('', name)).schema)
      known.set(key, schema)
    }
    return schema
  }
}

function verdictOf(ways: readonly Way[]): WholeVerdict | undefined {
  const failing = ways.filter(({ open }) => open.length > 0)
  const [way] = failing
  if (way === undefined) return undefined
  if (ways.every(({ open }) => open.some(({ truth }) => !truth.mayHold))) {
    const broken = way.open.filter(({ truth }) => !truth.mayHold)
    return { kind: 'never', broken, object: way.object }
  }
  const keywords = new Set(failing.flatMap(({ open }) => open.map(({ keyword }) => keyword)))
  return { kind: 'depends', keywords: [...keywords] }
}

/** Why no object with these members satisfies the keyword. */
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
