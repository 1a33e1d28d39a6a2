/** The one file that knows Ajv: chooses the dialect, checks a schema against its meta-schema, builds validators. */
import { Ajv, type ErrorObject, MissingRefError, type Options, type ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvEqual from 'ajv/dist/runtime/equal.js'
import { jsonEqual } from '../base/equal.ts'
import { ProvisoError } from '../base/error.ts'
import { own } from '../base/json.ts'
import type { Pointer } from '../base/pointer.ts'
import { clip } from './describe.ts'
import { formats } from './formats.ts'
import type { JsonSchema } from './json-schema.ts'
import { placeOfReference, schemaGraph } from './references.ts'
import { regexEngine } from './regex.ts'

export type { ErrorObject } from 'ajv'

export interface ValidatorOptions {
  /** Regexes run on the linear engine. */
  readonly untrusted: boolean
  /** Collect every violation instead of stopping at the first. */
  readonly allErrors: boolean
}

/** One schema in an Ajv of its own, so that no schema sees another's `$id`s and nothing is retained by a shared cache. */
export interface Validator {
  readonly validate: ValidateFunction
  /** A validator for the sub-schema at a pointer, with the base and the references of the whole schema. */
  at(schemaPointer: Pointer): ValidateFunction
}

const rootKey = 'proviso:root'

const dialects = {
  'https://json-schema.org/draft/2020-12/schema': Ajv2020,
  'http://json-schema.org/draft-07/schema': Ajv,
} as const

type Dialect = keyof typeof dialects

export function createValidator(schema: JsonSchema, options: ValidatorOptions): Validator {
  const dialect = dialectOf(schema)
  let chosen = ajvOptions(schema, options)
  for (;;) {
    try {
      return build(schema, dialect, chosen)
    } catch (cause) {
      const again = fallback(cause, chosen)
      if (again === undefined || options.untrusted) throw unusable(cause, schema)
      chosen = again
    }
  }
}

/** What to try when Ajv could not compile a trusted schema; each way out is taken once. */
function fallback(cause: unknown, tried: Options): Options | undefined {
  const wantsMetaSchema =
    cause instanceof MissingRefError && cause.missingRef.includes('//json-schema.org/draft')
  if (wantsMetaSchema && !tried.meta) return { ...tried, meta: true }
  // Stopping at the first error nests the code of each property in that of the one before: thousands are too deep.
  if (cause instanceof RangeError && !tried.allErrors) return { ...tried, allErrors: true }
  return undefined
}

function build(schema: JsonSchema, dialect: Dialect, options: Options): Validator {
  const ajv = new dialects[dialect](options)
  // Tracking evaluated members throws on some unions of patternProperties and if; only unevaluated* needs it.
  if (!options.meta && !JSON.stringify(schema).includes('"unevaluated')) ajv.opts.unevaluated = false
  // A keyword of draft-04 that Ajv refuses; since then it is an annotation like any other.
  ajv.removeKeyword('id')
  // Ajv compares with a function that calls `toString` and `valueOf` of values, and so throws on data with such keys.
  // Its scope finds functions by key: ours is put where it looks for its own.
  ajv.scope.value('func', { key: ajvEqual.default ?? ajvEqual, ref: jsonEqual })
  ajv.addSchema(schema, rootKey)
  const validate = ajv.getSchema(rootKey) as ValidateFunction
  return {
    validate,
    at(schemaPointer) {
      try {
        return ajv.compile({
          $ref: `${rootKey}#${schemaPointer.split('/').map(encodeURIComponent).join('/')}`,
        })
      } catch (cause) {
        throw unusable(cause, schema)
      }
    },
  }
}

function ajvOptions(schema: JsonSchema, { untrusted, allErrors }: ValidatorOptions): Options {
  return {
    allErrors,
    // Errors carry their schema and value, from which messages are made.
    verbose: allErrors,
    meta: false,
    validateSchema: false,
    strict: false,
    logger: false,
    ownProperties: untrusted || namesInherited(schema),
    formats,
    // Optimising the generated code is quadratic in the number of properties and overflows the stack on wide schemas.
    code: { optimize: isWide(schema) ? false : 1, regExp: regexEngine({ untrusted }) },
  }
}

/**
 * Whether the schema speaks of a property that every object inherits (`toString`, `constructor`): only then does asking
 * for own properties make a difference, and it costs a seventh of the time.
 */
function namesInherited(schema: JsonSchema): boolean {
  const text = JSON.stringify(schema)
  return inherited.some((name) => text.includes(name))
}

const inherited = Object.getOwnPropertyNames(Object.prototype)

const wide = 20_000

function isWide(schema: JsonSchema): boolean {
  return JSON.stringify(schema).length > wide
}

export function dialectOf(schema: JsonSchema): Dialect {
  const declared = typeof schema === 'boolean' ? undefined : own(schema, '$schema')
  if (declared === undefined) return 'https://json-schema.org/draft/2020-12/schema'
  const uri = typeof declared === 'string' ? declared.replace(/#$/, '') : ''
  if (uri in dialects) return uri as Dialect
  throw new ProvisoError('schema/invalid', `The schema declares an unknown $schema: ${clip(declared)}`, {
    at: { pointer: '/$schema' },
    hint: `Use one of ${Object.keys(dialects).join(', ')}, or leave $schema out`,
  })
}

const metaSchemas = new Map<Dialect, ValidateFunction>()

/** Throws `schema/invalid` where the schema breaks its own meta-schema. The meta-schemas are compiled once. */
export function checkMetaSchema(schema: JsonSchema): void {
  const dialect = dialectOf(schema)
  let validate = metaSchemas.get(dialect)
  if (validate === undefined) {
    const ajv = new dialects[dialect]({ strict: false, logger: false, validateFormats: false })
    validate = ajv.getSchema(dialect) as ValidateFunction
    metaSchemas.set(dialect, validate)
  }
  let valid: boolean
  try {
    valid = validate(schema) as boolean
  } catch (cause) {
    throw unusable(cause, schema)
  }
  const error = mostPrecise(validate.errors ?? [])
  if (valid || error === undefined) return
  const keyword = error.instancePath.split('/').at(-1)
  const what =
    error.keyword === 'enum' ? `must be one of ${clip(error.params['allowedValues'], 200)}` : error.message
  throw new ProvisoError(
    'schema/invalid',
    `The schema is not valid at ${error.instancePath || 'its root'}: ${keyword ? `"${keyword}" ` : ''}${what}`,
    { at: { pointer: error.instancePath } },
  )
}

/** Meta-schemas nest unions; the deepest place is the one a person wrote wrongly. */
function mostPrecise(errors: readonly ErrorObject[]): ErrorObject | undefined {
  let best: ErrorObject | undefined
  for (const error of errors)
    if (best === undefined || error.instancePath.length > best.instancePath.length) best = error
  return best
}

/** Says why Ajv could not compile, without the code it generated. */
function unusable(cause: unknown, schema: JsonSchema): ProvisoError {
  if (cause instanceof MissingRefError) {
    const ref = cause.missingRef.replace(rootKey, '')
    const pointer = placeOfReference(schemaGraph(schema), ref)
    const where = pointer === undefined ? 'The schema' : `The schema at ${pointer}`
    return new ProvisoError('schema/invalid', `${where} refers to ${clip(ref)}, which is not in it`, {
      ...(pointer !== undefined && { at: { pointer } }),
      hint: 'References must stay inside the schema: put the target into its "$defs"',
    })
  }
  if (cause instanceof RangeError) {
    return new ProvisoError(
      'schema/invalid',
      'The schema is nested or refers to itself too deeply to be compiled',
    )
  }
  const reason = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause)
  return new ProvisoError(
    'schema/invalid',
    `The schema cannot be compiled: ${clip(reason, 200).slice(1, -1)}`,
  )
}
