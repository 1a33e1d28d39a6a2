/** Checks every regular expression of a schema before Ajv sees it, because only here its location is still known. */
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, own } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import { clip } from '../describe.ts'
import type { SchemaGraph } from '../references/references.ts'
import { compileNative } from './native-regex.ts'
import { linearHint, linearRegex } from './regex.ts'

/** Throws `schema/invalid` for what is no regular expression and, if asked, `schema/limit` for what is not linear. */
export function checkPatterns(graph: SchemaGraph, options: { readonly linear: boolean }): void {
  for (const { pattern, pointer } of listPatterns(graph)) {
    try {
      if (options.linear) new RegExp(pattern, 'u')
      else compileNative(pattern, 'u')
    } catch (cause) {
      throw new ProvisoError(
        'schema/invalid',
        `The schema at ${pointer} is not valid: ${clip(pattern)} is not a regular expression (${reason(cause)})`,
        { at: { pointer } },
      )
    }
    if (options.linear) checkLinear(pattern, pointer)
  }
}

function checkLinear(pattern: string, pointer: Pointer): void {
  try {
    linearRegex(pattern, 'u')
  } catch (cause) {
    throw new ProvisoError(
      'schema/limit',
      `The schema at ${pointer} has the pattern ${clip(pattern)}, which has no linear-time form (limit: pattern)`,
      {
        at: { pointer },
        hint: `${linearHint}: ${reason(cause)}`,
        cause,
      },
    )
  }
}

export function* listPatterns(
  graph: SchemaGraph,
): Iterable<{ readonly pattern: string; readonly pointer: Pointer }> {
  for (const [schema, { pointer }] of graph) {
    const pattern = own(schema, 'pattern')
    if (typeof pattern === 'string') yield { pattern, pointer: child(pointer, 'pattern') }
    const keyed = own(schema, 'patternProperties')
    if (!isObject(keyed)) continue
    for (const key of Object.keys(keyed))
      yield { pattern: key, pointer: child(child(pointer, 'patternProperties'), key) }
  }
}

function reason(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : String(cause)
  return message.slice(message.lastIndexOf(': ') + 2)
}
