/** The validators that the official suites are played through. */
import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' }
import AjvDraft04 from 'ajv-draft-04'
import type { JsonSchema } from '../../src/index.ts'
import {
  checkReferences,
  collectNames,
  compileWithAjv,
  createInterpreter,
  type Draft,
  findDraft,
  formats,
  type Names,
  nativeRegex,
  normalise,
  schemaGraph,
  sharedSchemas,
} from '../seams/schema.ts'

export type Judge = (value: unknown) => boolean

/** A document that schemas may refer to, and the draft it is written in where it declares none. */
export interface Document {
  readonly schema: JsonSchema
  readonly draft: Draft
}

export type Documents = ReadonlyMap<string, Document>

/** Makes a judge of a schema of a draft; further documents are given by URI. */
type MakeJudge = (schema: JsonSchema, draft: Draft, documents: Documents) => Judge

export const validators = {
  interpreter: interpreted,
  'compiled where safe': compiledWhereSafe,
  'ajv alone': ajvAlone,
} satisfies Record<string, MakeJudge>

export type ValidatorName = keyof typeof validators

interface Prepared {
  readonly schema: JsonSchema
  readonly names: Names
}

function prepare(given: JsonSchema, draft: Draft, documents: Documents): Prepared {
  const schema = toLatest(given, draft)
  const others = new Map([...documents].map(([uri, each]) => [uri, toLatest(each.schema, each.draft)]))
  return { schema, names: collectNames(schema, { others }) }
}

/** The suite of a draft is written in it, also where a schema declares nothing. */
function toLatest(schema: JsonSchema, draft: Draft): JsonSchema {
  const declared = findDraft(schema)
  return normalise(
    structuredClone(schema),
    declared === 'undeclared' || declared === 'unknown' ? draft : declared,
  )
}

function interpreted(...given: Parameters<MakeJudge>): Judge {
  const { schema, names } = prepare(...given)
  const graph = schemaGraph(schema, names)
  checkReferences(graph, names)
  const shared = sharedSchemas(graph)
  const interpreter = createInterpreter(schema, {
    names,
    regex: nativeRegex,
    isShared: (part) => shared.has(part),
  })
  return (value) => {
    const accepted = interpreter.accepts(value)
    if (accepted !== (interpreter.violations(value).length === 0))
      throw new Error('accepts and violations differ')
    return accepted
  }
}

/** What a schema that is used often is judged by. */
function compiledWhereSafe(...given: Parameters<MakeJudge>): Judge {
  const { schema, names } = prepare(...given)
  return compileWithAjv(schema, schemaGraph(schema, names), { untrusted: false }) ?? interpreted(...given)
}

const classes = {
  '04': AjvDraft04.default,
  '06': Ajv,
  '07': Ajv,
  '2019-09': Ajv2019,
  '2020-12': Ajv2020,
} as const

/** Ajv with its own class for the draft and the same formats, as its users have it. */
function ajvAlone(schema: JsonSchema, draft: Draft, documents: Documents): Judge {
  const Chosen = classes[draft as keyof typeof classes]
  const ajv = new Chosen({ strict: false, logger: false, formats, validateSchema: false })
  if (draft === '06') ajv.addMetaSchema(draft06)
  for (const [uri, document] of documents) {
    if (document.draft !== draft) continue
    try {
      ajv.addSchema(document.schema, uri)
    } catch {
      // A document that Ajv does not take is missing for documents that refer to it, and they fail.
    }
  }
  return ajv.compile(schema as object) as Judge
}
