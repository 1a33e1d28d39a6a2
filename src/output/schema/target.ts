/** The compiled target of a parse: the caller's schema with its shapes and its validator. */
import { ProvisoError } from '../../base/errors/error.ts'
import { memoize } from '../../base/memoize.ts'
import { type CompiledSchema, compileSchema, type JsonSchema } from '../../schema/compile/compile.ts'
import type { RefusedSchemaCode } from '../../schema/issue-table.ts'
import { regexEngine } from '../../schema/patterns/regex.ts'
import { type Shape, Shapes } from '../../schema/shape.ts'
import {
  isStandardSchema,
  standardJsonSchema,
  unguidedNote,
  validateStandard,
} from '../../schema/standard.ts'
import type { ReaderIssue } from '../issue-table.ts'
import type { AnySchema, ParseOptions } from '../types.ts'
import { namedSchema } from './shorthand.ts'

export interface Guided {
  readonly compiled: CompiledSchema
  readonly shapes: Shapes
  readonly root: Shape
  /** Property names declared by the root, in any of its branches. */
  readonly declared: ReadonlySet<string>
  /** The kinds of value that the root allows, including its unions. */
  readonly kinds: { readonly container: boolean; readonly scalar: boolean }
}

export interface Target {
  /** Why the schema cannot be used; empty if it can. */
  readonly refused: readonly ReaderIssue[]
  /** Notes for the author of a schema that can be used. */
  readonly notes: readonly ReaderIssue[]
  /** Absent without a schema, or for one that can only validate. */
  readonly guided: Guided | undefined
  readonly jsonSchema: JsonSchema | undefined
  /** Validates the value and returns it as transformed by the validator. */
  check(value: unknown): Checked
  /** The same, with every violation. */
  explain(value: unknown): readonly ReaderIssue[]
}

type Checked = { readonly ok: true; readonly value: unknown } | { readonly ok: false }

const NOT_OK: Checked = { ok: false }
const FREE: Target = {
  refused: [],
  notes: [],
  guided: undefined,
  jsonSchema: undefined,
  check: (value) => ({ ok: true, value }),
  explain: () => [],
}

/** A schema may be JSON Schema, a Standard Schema value, or the name of a basic type (`object`, `string[]`). */
export function resolveTarget(schema: AnySchema | undefined, options: ParseOptions): Target {
  if (schema === undefined || schema === true) return FREE
  // The common case costs one look-up.
  const plain =
    ((typeof schema === 'object' && schema !== null) || typeof schema === 'function') &&
    !options.untrusted &&
    !options.jsonSchema
  const targets = options.linearPatterns ? linearTargets : nativeTargets
  const known = plain ? targets.get(schema) : undefined
  if (known !== undefined) return known
  const target = makeTarget(schema, options)
  if (plain) targets.set(schema, target)
  return target
}

const nativeTargets = new WeakMap<object, Target>()
const linearTargets = new WeakMap<object, Target>()

function makeTarget(schema: AnySchema, options: ParseOptions): Target {
  try {
    return isStandardSchema(schema) ? standardTarget(schema, options) : jsonTarget(schema, options)
  } catch (cause) {
    if (!(cause instanceof ProvisoError)) throw cause
    return refusedTarget(cause)
  }
}

/** The target of an unusable schema: rejects every value and reports why. */
function refusedTarget({ code, message, at, hint }: ProvisoError): Target {
  // The compiler of schemas throws no other codes.
  const issue: ReaderIssue = { code: code as RefusedSchemaCode, at: at ?? { pointer: '' }, message, hint }
  return {
    refused: [issue],
    notes: [],
    guided: undefined,
    jsonSchema: undefined,
    check: () => NOT_OK,
    explain: () => [issue],
  }
}

function jsonTarget(schema: JsonSchema | string, options: ParseOptions): Target {
  const json = typeof schema === 'string' ? namedSchema(schema) : schema
  const compiled = compileSchema(json, pickPatterns(options))
  return {
    refused: [],
    notes: compiled.notes,
    get guided() {
      return createGuide(compiled, options)
    },
    jsonSchema: json,
    check: (value) => (compiled.accepts(value) ? { ok: true, value } : NOT_OK),
    explain: (value) => compiled.validate(value),
  }
}

function standardTarget(schema: Parameters<typeof validateStandard>[0], options: ParseOptions): Target {
  const json = standardJsonSchema(schema, options.jsonSchema)
  const compiled = json === undefined ? undefined : compileSchema(json, pickPatterns(options))
  return {
    refused: [],
    notes: compiled === undefined ? [unguidedNote(schema)] : compiled.notes,
    get guided() {
      return compiled === undefined ? undefined : createGuide(compiled, options)
    },
    jsonSchema: json,
    check(value) {
      const result = validateStandard(schema, value)
      return 'issues' in result ? NOT_OK : { ok: true, value: result.value }
    },
    explain(value) {
      const result = validateStandard(schema, value)
      return 'issues' in result ? result.issues : []
    },
  }
}

function pickPatterns({ untrusted = false, linearPatterns = false }: ParseOptions) {
  return { untrusted, linearPatterns }
}

const createGuide = memoize((compiled: CompiledSchema, options: ParseOptions): Guided => {
  const engine = regexEngine(pickPatterns(options))
  const shapes = new Shapes(compiled.schema, (pattern) => engine(pattern, 'u'))
  const root = shapes.at([''])
  const branches = shapes.branchesOf(root)
  const declared = shapes.namesOf(root)
  return { compiled, shapes, root, declared, kinds: getKinds(root, branches) }
})

function getKinds(root: Shape, branches: readonly Shape[]): Guided['kinds'] {
  const all = root.types.length > 0 || branches.length === 0 ? [root] : branches
  const open = all.some((shape) => shape.types.length === 0)
  const types = new Set(all.flatMap((shape) => shape.types))
  const container = open || types.has('object') || types.has('array')
  return { container, scalar: open || [...types].some((type) => type !== 'object' && type !== 'array') }
}
