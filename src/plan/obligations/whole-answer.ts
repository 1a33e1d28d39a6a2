/**
 * The keywords at the root of the caller's schema that speak about the answer as a whole (`maxProperties`, `anyOf`,
 * `not`, …), where the answer is assembled property by property: proved, refuted in every run, or reported as checked at
 * run time only.
 */
import { child } from '../../base/pointer.ts'
import type { Diagnostic } from '../../domain/diagnostic.ts'
import type { Source } from '../../domain/plan.ts'
import { type Assembled, type KeywordTruth, openKeywords } from '../../schema/assembled.ts'
import { both, placed } from '../../schema/combine.ts'
import type { CompileOptions } from '../../schema/compile.ts'
import { fitOf } from '../../schema/fit.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { project } from '../../schema/project.ts'
import { finding } from '../findings.ts'
import type { Resolved, Slot } from '../request.ts'
import { schemaOf } from '../sources.ts'
import { choicesFor } from '../worlds.ts'
import { soleOutput } from './sole-output.ts'

/** Asked when every property has its producers; an answer that is one node's whole output is judged elsewhere. */
export function wholeAnswer(resolved: Resolved): readonly Diagnostic[] {
  const { callerSchema: schema } = resolved
  const slots = resolved.slots.filter(({ inAnswer }) => inAnswer)
  if (typeof schema === 'boolean' || slots.some(({ prefix }) => prefix.length === 0)) return []
  if (Object.keys(schema).every((keyword) => elsewhere.has(keyword)) && isObjectType(schema['type']))
    return []
  const options = { untrusted: resolved.request.untrusted ?? false }
  const output = soleOutput(slots, resolved)
  if (output !== undefined && fitOf(output, schema, options).kind === 'yes') return []
  return judged(waysOf(slots, resolved, options), schema)
}

/** Keywords that other checks answer for, or that refuse nothing. */
const elsewhere = new Set(
  'type properties required $schema $id $defs definitions $comment title description default examples format'.split(
    ' ',
  ),
)

const isObjectType = (type: unknown) => type === undefined || [type].flat().includes('object')

interface Way {
  readonly object: Assembled
  readonly open: readonly KeywordTruth[]
}

function waysOf(slots: readonly Slot[], resolved: Resolved, options: CompileOptions): readonly Way[] {
  const known = new Map<string, JsonSchema>()
  return choicesFor(slots, resolved).map((choice) => {
    const object: Assembled = new Map(
      [...choice].flatMap(([{ prefix }, chosen]) => {
        const sources = chosen.filter((each) => each !== 'absent')
        if (sources.length === 0) return []
        const schema = anyOf(sources.map((source) => supplied(source, prefix[0] ?? '')))
        return [[prefix[0] ?? '', { schema, certain: sources.length === chosen.length }] as const]
      }),
    )
    return { object, open: openKeywords(object, resolved.callerSchema, options) }
  })

  /** That each property satisfies the caller's schema for it is judged property by property. */
  function supplied(source: Source, name: string): JsonSchema {
    const key = JSON.stringify([name, source])
    let schema = known.get(key)
    if (schema === undefined) {
      const wanted = project(resolved.callerSchema, child('', name)).schema
      schema = both(schemaOf(source, resolved).schema, wanted)
      known.set(key, schema)
    }
    return schema
  }
}

function anyOf(schemas: readonly JsonSchema[]): JsonSchema {
  const [only, ...others] = schemas
  if (only !== undefined && others.length === 0) return only
  const $defs: Record<string, JsonSchema> = {}
  const branches = schemas.map((schema, index) => placed(schema, `source${index}`, $defs))
  return { anyOf: branches, ...(Object.keys($defs).length > 0 && { $defs }) }
}

function judged(ways: readonly Way[], schema: { readonly [keyword: string]: unknown }): Diagnostic[] {
  const failing = ways.filter(({ open }) => open.length > 0)
  const impossible = ways.length > 0 && ways.every(({ open }) => open.some(({ truth }) => !truth.mayHold))
  const [way] = failing
  if (way === undefined) return []
  if (!impossible) {
    const keywords = new Set(failing.flatMap(({ open }) => open.map(({ keyword }) => keyword)))
    return [...keywords].map((keyword) =>
      finding('plan/output-unproven', {
        constraint: `the answer as a whole satisfies "${keyword}" of the caller's schema`,
        suggestion: `It is checked at run time only, when the answer is complete. Change "${keyword}", or supply the properties that it needs in every run`,
        details: { pointer: '', keyword, schemaPointer: child('', keyword) },
      }),
    )
  }
  const broken = way.open.filter(({ truth }) => !truth.mayHold)
  return broken.map(({ keyword, pointer }) =>
    finding('plan/output-mismatch', {
      constraint: `the answer as a whole satisfies "${keyword}" of the caller's schema`,
      suggestion: `${reasonFor(keyword, way.object, schema)}: change outputContract.schema${pointer}, or which properties the plan supplies`,
      details: { pointer: '', keyword, schemaPointer: pointer, properties: [...way.object.keys()] },
    }),
  )
}

function reasonFor(
  keyword: string,
  object: Assembled,
  schema: { readonly [keyword: string]: unknown },
): string {
  const names = [...object.keys()].map((name) => `"${name}"`).join(', ') || 'nothing'
  const counts = keyword === 'minProperties' || keyword === 'maxProperties'
  const limit = counts ? `, "${keyword}" is ${String(schema[keyword])}` : ''
  return counts
    ? `The answer has ${object.size} properties (${names})${limit}`
    : `No answer with ${names} satisfies "${keyword}"`
}
