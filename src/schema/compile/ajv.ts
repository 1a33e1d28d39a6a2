/**
 * The one file that knows Ajv: compiles a schema that is used often to code. What Ajv judges wrongly, throws at or takes
 * exponential time for stays with the interpreter, and so does everything where code must not be generated.
 */
import type { Options, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import ajvEqual from 'ajv/dist/runtime/equal.js'
import { jsonEqual } from '../../base/json.ts'
import { isMultiple } from '../interpreter/assertions.ts'
import type { JsonSchema } from '../json-schema.ts'
import type { SchemaObject } from '../keywords.ts'
import { formats } from '../patterns/formats.ts'
import { type PatternOptions, regexEngine } from '../patterns/regex.ts'
import { isShared, multipliesWithDepth, type SchemaGraph } from '../references/references.ts'

/** Whether schemas can be compiled. */
export const isCompiler: boolean = true

/** A function that Ajv has generated; `undefined` where it could not be generated, and interpreting continues. */
export function compileWithAjv(
  schema: JsonSchema,
  graph: SchemaGraph,
  options: PatternOptions,
): ((value: unknown) => boolean) | undefined {
  if (!isCompilable(schema, graph) || !mayGenerateCode()) return undefined
  try {
    return build(schema, options)
  } catch {
    // Nested too deeply for the compiler, or a form that it does not take: the interpreter has the same verdict.
    return undefined
  }
}

/** An Ajv of its own for each schema: none sees another's `$id`s, and nothing is retained by a shared cache. */
function build(schema: JsonSchema, { untrusted = false, linearPatterns = false }: PatternOptions) {
  const text = JSON.stringify(schema)
  const options: Options = {
    meta: false,
    validateSchema: false,
    strict: false,
    logger: false,
    // Asking for own properties costs a seventh of the time, and matters where names are used that objects inherit.
    ownProperties: untrusted || inherited.some((name) => text.includes(name)),
    formats,
    // Optimising the generated code is quadratic in the number of properties.
    code: { optimize: text.length > wide ? false : 1, regExp: regexEngine({ untrusted, linearPatterns }) },
  }
  const ajv = new Ajv2020(options)
  // Tracking evaluated members throws on some unions of patternProperties and if; only unevaluated* needs it.
  ajv.opts.unevaluated = false
  // A keyword of draft-04 that Ajv refuses; since then it is an annotation like any other.
  ajv.removeKeyword('id')
  // Ajv's own multipleOf refuses quotients of 1e21 and more.
  ajv.removeKeyword('multipleOf')
  ajv.addKeyword({
    keyword: 'multipleOf',
    type: 'number',
    compile: (divisor: number) => (value: number) => isMultiple(value, divisor),
  })
  // Ajv compares with a function that calls `toString` and `valueOf` of values, and so throws on data with such keys.
  // Its scope finds functions by key: ours is put where it looks for its own.
  ajv.scope.value('func', { key: ajvEqual.default ?? ajvEqual, ref: jsonEqual })
  const validate: ValidateFunction = ajv.compile(schema)
  return validate as (value: unknown) => boolean
}

const inherited = Object.getOwnPropertyNames(Object.prototype)

const wide = 20_000

/** Generating code for a longer schema takes seconds. */
const longest = 200_000

/** Whether Ajv's verdict is right for every value, and found in bounded time. */
export function isCompilable(schema: JsonSchema, graph: SchemaGraph): boolean {
  let hasUnion = false
  for (const [part, { pointer }] of graph) {
    if (faulty.some((keyword) => Object.hasOwn(part, keyword))) return false
    // A base of its own inside of another: references are resolved wrongly in some of them.
    if (pointer !== '' && Object.hasOwn(part, '$id')) return false
    // After a `prefixItems` longer than the array, the code skips `contains`.
    if (Object.hasOwn(part, 'contains') && Object.hasOwn(part, 'prefixItems')) return false
    if (refersOutside(part)) return false
    hasUnion ||= Object.hasOwn(part, 'anyOf') || Object.hasOwn(part, 'oneOf')
  }
  // Through shared or recursive branches each level of the value multiplies the work by the number of branches.
  const [root] = graph.keys()
  if (root !== undefined && hasUnion && (isShared(graph, root) || multipliesWithDepth(graph))) return false
  const text = JSON.stringify(schema)
  // The code takes a property of this name for the prototype.
  return text.length <= longest && !text.includes('"__proto__"')
}

const faulty = ['unevaluatedProperties', 'unevaluatedItems', '$dynamicRef', '$dynamicAnchor']

/** A reference to a meta-schema, which only the interpreter has built in. */
function refersOutside(part: SchemaObject): boolean {
  const ref = part['$ref']
  return typeof ref === 'string' && !ref.startsWith('#')
}

let allowed: boolean | undefined

/** Whether code may be generated from text here: Workers and strict content security policies refuse it. */
function mayGenerateCode(): boolean {
  if (allowed === undefined) {
    try {
      new Function('return true')
      allowed = true
    } catch {
      allowed = false
    }
  }
  return allowed
}
