/**
 * The type names of output declarations (`string[]`, `object`, …) and the check of an output against them (ADR-01…11,
 * C20, C21, C49). Called by templates and pipelines.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import { jsonType, typeTests } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { detectJson } from '../detect-json.ts'

/** The output declaration of a task. */
export interface OutputFormat {
  readonly type: 'json' | 'text'
  /** A type name; without it, any JSON value is accepted. */
  readonly schema?: string
}

/** The error for output that does not have the declared type, in the format of the error taxonomy (ADR-11). */
export interface OutputFormatIssue {
  readonly type: 'TASK_FAILURE'
  readonly reason: 'output_format_failure'
  readonly message: string
  readonly details: { readonly expectedType: string; readonly actualType: string }
  /** Pointer of the first value with the wrong type; `''` is the whole output. */
  readonly path: Pointer
}

export interface CheckedOutput {
  /** The original output. */
  readonly content: string
  /** Present only when the content is JSON. */
  readonly parsedContent?: unknown
  readonly issue?: OutputFormatIssue
}

/** The JSON Schema of a type name; `undefined` for an unknown name. */
export function shorthandSchema(name: string): JsonSchema | undefined {
  const type = readName(name)
  if (!type) return undefined
  let schema: JsonSchema = { type: type.base }
  for (let i = 0; i < type.lists; i++) schema = { type: 'array', items: schema }
  return schema
}

/** Whether a value has the named type. Unknown names match nothing; arrays and null are not objects. */
export function validateType(value: unknown, name: string): boolean {
  return mismatch(value, name) === undefined
}

/**
 * Checks an output against its declaration. Undeclared output never fails: if it is JSON, `parsedContent` is added.
 * Output declared as text stays text.
 */
export function checkOutputFormat(content: string, format?: OutputFormat): CheckedOutput {
  if (format?.type === 'text') return { content }
  const { isParsed, value } = detectJson(content)
  const checked = isParsed ? { content, parsedContent: value } : { content }
  if (!format) return checked
  const path = format.schema === undefined ? (isParsed ? undefined : '') : mismatch(value, format.schema)
  return path === undefined
    ? checked
    : { ...checked, issue: formatIssue(format.schema ?? 'json', value, path) }
}

/** Maximum nesting of list types; a deeper one is most likely a typing error. */
const MAX_LISTS = 16

function readName(name: string): { base: string; lists: number } | undefined {
  let base = name.trim()
  let lists = 0
  while (base.endsWith('[]') && lists <= MAX_LISTS) {
    base = base.slice(0, -2).trimEnd()
    lists++
  }
  if (lists > MAX_LISTS) return undefined
  if (base === '' && lists > 0) return { base: 'array', lists: lists - 1 }
  return Object.hasOwn(typeTests, base) ? { base, lists } : undefined
}

/** Pointer of the first value that differs from the named type; `undefined` if none differs. */
function mismatch(value: unknown, name: string): Pointer | undefined {
  const type = readName(name)
  return type ? mismatchAt(value, type.base, { lists: type.lists, at: '' }) : ''
}

function mismatchAt(
  value: unknown,
  base: string,
  { lists, at }: { lists: number; at: Pointer },
): Pointer | undefined {
  if (lists === 0) return typeTests[base]?.(value) ? undefined : at
  if (!Array.isArray(value)) return at
  for (const [index, item] of value.entries()) {
    const found = mismatchAt(item, base, { lists: lists - 1, at: child(at, index) })
    if (found !== undefined) return found
  }
  return undefined
}

function formatIssue(expectedType: string, value: unknown, path: Pointer): OutputFormatIssue {
  const actualType = jsonType(value) ?? typeof value
  return {
    type: 'TASK_FAILURE',
    reason: 'output_format_failure',
    message: `Expected output of type "${expectedType}" but got "${actualType}"`,
    details: { expectedType, actualType },
    path,
  }
}

/** The schema of a type name; throws for an unknown name. */
export function namedSchema(name: string): JsonSchema {
  const schema = shorthandSchema(name)
  if (schema !== undefined) return schema
  throw new ProvisoError('schema/invalid', `"${name.slice(0, 60)}" is not the name of a type`, {
    hint: 'Use a JSON Schema, or one of its types, with [] for lists',
  })
}
