/** What to ask of a provider for one intent and one schema: the methods from the strongest down, or why no method applies. */
import { isObject } from '../../../base/json.ts'
import type { StructuredIntent, StructuredOutcome } from '../../../domain/ports/provider.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { type Dialect, type DialectName, dialects } from './dialects.ts'
import { lowerSchema } from './lower-schema.ts'

/** One method to ask; the last of a plan asks for nothing. */
export interface StructuredMethod {
  readonly outcome: StructuredOutcome
  readonly format?: { readonly type: 'json'; readonly schema?: { readonly [keyword: string]: unknown } }
  /** Guided decoding: the backend and the schema it holds the model to. */
  readonly guided?: { readonly backend: 'outlines' | 'xgrammar'; readonly schema: JsonSchema }
}

interface PlanRequest {
  readonly provider: string
  readonly model: string
  readonly intent: StructuredIntent
  readonly schema: JsonSchema | undefined
  readonly dialect: DialectName
  /** Its JSON mode without a schema exists. Default true. */
  readonly jsonObject?: boolean
  /** What a schema takes beyond itself, in bytes. Default 0. */
  readonly overhead?: number
  /** The server can be asked for guided decoding. Default false. */
  readonly guides?: boolean
  /** Servers of all kinds, some of which ignore a schema without saying so. */
  readonly unsure?: true
}

/** `undefined` when nothing was wanted. */
export function planStructured(request: PlanRequest): readonly StructuredMethod[] | undefined {
  const { intent, schema, provider, model } = request
  if (intent === 'off') return undefined
  const skip = (reason: string): StructuredMethod => ({ outcome: { kind: 'skipped', reason } })
  if (schema === undefined) return [skip('there is no schema')]
  if (isTextContract(schema)) return [skip('the contract is plain text')]
  if (intent === 'outlines' || intent === 'xgrammar') return listGuidedMethods(request, schema, intent)
  const mode = getJsonMode(provider, model)
  if (mode === 'none') return [skip(`"${model}" has no JSON mode`)]
  return [...listJsonMethods(request, schema, mode), skip('the provider refused every JSON mode')]
}

function listJsonMethods(request: PlanRequest, schema: JsonSchema, mode: JsonMode): StructuredMethod[] {
  const methods: StructuredMethod[] = []
  const dialect: Dialect = dialects[request.dialect]
  if (mode === 'json_schema') {
    const lowered = lowerSchema(schema, dialect)
    if (lowered.schema) {
      const weakened = lowered.notes.filter(({ kind }) => kind === 'weakened').length
      const { wrapped } = lowered
      const bytes = countBytes(lowered.schema) + (request.overhead ?? 0)
      methods.push({
        outcome: {
          ...{ kind: 'applied', as: 'json_schema', weakened, bytes },
          ...(wrapped && { wrapped }),
          ...(request.unsure && { unsure: true }),
        },
        format: { type: 'json', schema: lowered.schema },
      })
    }
  }
  if ((request.jsonObject ?? true) && hasObjectRoot(schema))
    methods.push({ outcome: { kind: 'applied', as: 'json_object', weakened: 1 }, format: { type: 'json' } })
  if (methods.length > 0) return methods
  return [{ outcome: { kind: 'skipped', reason: 'the schema cannot be said in this provider’s dialect' } }]
}

function listGuidedMethods(
  { guides, provider }: PlanRequest,
  schema: JsonSchema,
  backend: 'outlines' | 'xgrammar',
): StructuredMethod[] {
  if (!guides) return [{ outcome: { kind: 'skipped', reason: `${provider} has no guided decoding` } }]
  const lowered = lowerSchema(schema, dialects[backend])
  const refused: StructuredMethod = { outcome: { kind: 'skipped', reason: `the server refused ${backend}` } }
  if (!lowered.schema)
    return [{ outcome: { kind: 'skipped', reason: `the schema cannot be said in ${backend}` } }]
  const weakened = lowered.notes.filter(({ kind }) => kind === 'weakened').length
  return [
    {
      outcome: { kind: 'applied', as: backend, weakened, bytes: countBytes(lowered.schema) },
      guided: { backend, schema: lowered.schema },
    },
    refused,
  ]
}

/** Whether the answer is held to the whole schema, so that no words need to state it. */
export function isWhole(outcome: StructuredOutcome | undefined): boolean {
  return (
    outcome?.kind === 'applied' && outcome.as !== 'json_object' && outcome.weakened === 0 && !outcome.unsure
  )
}

/** A contract of plain text is answered with text, and not promoted to JSON (C14). */
export function isTextContract(schema: JsonSchema): boolean {
  return isObject(schema) && schema['type'] === 'string'
}

function hasObjectRoot(schema: JsonSchema): boolean {
  return isObject(schema) && (schema['type'] === 'object' || isObject(schema['properties']))
}

function countBytes(schema: JsonSchema): number {
  return Buffer.byteLength(JSON.stringify(schema))
}

// JSON mode of models, by name, so that no network request is needed; a server's refusal takes precedence.

/** From the strongest to none: held to a schema, held to JSON, left alone. */
type JsonMode = 'json_schema' | 'json_object' | 'none'

interface Profile {
  readonly provider: string
  readonly models: RegExp
  readonly mode: JsonMode
}

/** The first matching row wins; an unknown model is called with the strongest mode. */
const profiles: readonly Profile[] = [
  {
    provider: 'openai',
    models: /^(o1-mini|o1-preview|gpt-3\.5-turbo-(0301|0613|instruct)|gpt-4(-0\d{3}|-32k.*)?$)/,
    mode: 'none',
  },
  { provider: 'openai', models: /^gpt-4o-2024-05-13$/, mode: 'json_object' },
  { provider: 'openai', models: /^(gpt-3\.5-turbo|gpt-4-turbo|gpt-4-\d{4}-preview)/, mode: 'json_object' },
  {
    provider: 'openai',
    models: /^(gpt-4o|gpt-4\.1|gpt-5|o1|o3|o4|ft:gpt-4o|ft:gpt-4\.1)/,
    mode: 'json_schema',
  },
  { provider: 'google', models: /^gemma/, mode: 'none' },
]

export function getJsonMode(provider: string, model: string): JsonMode {
  const row = profiles.find((profile) => profile.provider === provider && profile.models.test(model))
  return row?.mode ?? 'json_schema'
}
