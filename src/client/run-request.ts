/** A run in the short names of the library (`output`, `approve`), translated into the envelope of the API. */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { ClientError } from './client-error.ts'
import type { RunEnvelope } from './types.ts'

/** A schema of another library, or a JSON Schema. */
export type RunOutput = StandardSchemaV1 | { readonly [keyword: string]: unknown }

/** What a run should achieve, as for `app.start`. */
export interface RunRequest<Output extends RunOutput = RunOutput>
  extends Omit<RunEnvelope, 'outputContract'> {
  /** Schema of the answer: of Zod 4.2, ArkType and others that convert themselves to JSON Schema, or a JSON Schema. */
  readonly output: Output
  /** `'final'`: a person approves the answer before the run completes. */
  readonly approve?: 'final'
  readonly outputContract?: never
}

type WithoutObjective<Envelope extends { readonly objective: string }> = Omit<Envelope, 'objective'> &
  Partial<Pick<Envelope, 'objective'>>

/** The envelope of a message to a thread: without an objective, the message is the objective. */
export type MessageEnvelope<Output extends RunOutput = RunOutput> =
  | WithoutObjective<RunEnvelope>
  | WithoutObjective<RunRequest<Output>>

/** The type of the answer: of the schema of another library, otherwise unknown. */
export type RequestOutput<Output> = Output extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Output>
  : unknown

interface Translated {
  readonly envelope: RunEnvelope
  /** Validates the answer. */
  readonly validator?: StandardSchemaV1
}

/** Of an envelope without an objective, too: a message may be it. */
export function toEnvelope(given: RunEnvelope | RunRequest | MessageEnvelope): Translated {
  if (!isRequest(given)) return { envelope: given as RunEnvelope }
  const { output, approve, outputContract, ...rest } = given
  if (outputContract !== undefined)
    throw new ClientError('client/option', 'A run has either `output` or `outputContract`, not both')
  const validator = isStandard(output) ? output : undefined
  const schema = validator ? toJsonSchema(validator) : { ...output }
  const policies = approve === undefined ? undefined : withApproval(rest.policies)
  return {
    envelope: { ...rest, ...(policies && { policies }), outputContract: { schema } } as RunEnvelope,
    ...(validator && { validator }),
  }
}

function isRequest(given: object): given is RunRequest {
  return 'output' in given && given.output !== undefined
}

function isStandard(output: RunOutput): output is StandardSchemaV1 {
  return '~standard' in output
}

function toJsonSchema(schema: StandardSchemaV1): { readonly [keyword: string]: unknown } {
  const { vendor, jsonSchema } = schema['~standard'] as StandardSchemaV1.Props &
    Partial<StandardJSONSchemaV1.Props>
  // Through JSON: libraries hang undefined members on their objects.
  if (jsonSchema !== undefined)
    return relax(JSON.parse(JSON.stringify(jsonSchema.input({ target: 'draft-2020-12' }))))
  throw new ClientError(
    'client/option',
    `\`output\` is a schema of ${vendor} that does not convert itself to JSON Schema: pass its JSON Schema as \`outputContract.schema\`, and the schema as the option \`output\``,
  )
}

/** Keywords whose members are schemas by name, and keywords whose values are data. */
const named = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas'])
const data = new Set(['const', 'enum', 'default', 'examples'])
/** Formats of JSON Schema; servers refuse others. */
const formats =
  /^(date(-time)?|time|duration|email|hostname|ipv[46]|uri(-reference|-template)?|uuid|json-pointer|relative-json-pointer|regex)$/

/**
 * Removes what servers refuse in schemas of callers: patterns that look around or are long, and formats of one library. The
 * validator of the library checks them when the answer is read.
 */
function relax<T>(schema: T, isNamed = false): T {
  if (Array.isArray(schema)) return schema.map((each) => relax(each)) as T
  if (typeof schema !== 'object' || schema === null) return schema
  const kept = Object.entries(schema).filter(([key, value]) => isNamed || !isRefused(key, value))
  return Object.fromEntries(
    kept.map(([key, value]) => [
      key,
      !isNamed && data.has(key) ? value : relax(value, !isNamed && named.has(key)),
    ]),
  ) as T
}

function isRefused(keyword: string, value: unknown): boolean {
  if (typeof value !== 'string') return false
  if (keyword === 'pattern') return value.length > 256 || /\(\?(=|!|<=|<!)/.test(value)
  return keyword === 'format' && !formats.test(value)
}

/** The directive that asks a person before the run completes. */
function withApproval(policies: RunEnvelope['policies'] = {}): NonNullable<RunEnvelope['policies']> {
  const planner = toObject(policies['planner'])
  const directives = { ...toObject(planner['directives']), askBeforeFinish: true }
  return { ...policies, planner: { ...planner, directives } }
}

function toObject(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}
