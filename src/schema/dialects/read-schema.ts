/** The entrance of every schema: its dialect is found out, and it is rewritten as 2020-12. */
import type { Issue } from '../../base/issue.ts'
import { own } from '../../base/json.ts'
import { clip } from '../describe.ts'
import type { JsonSchema } from '../json-schema.ts'
import { type Draft, draftOf, knownDialects } from './draft.ts'
import { normalise } from './normalise.ts'

export interface ReadSchema {
  readonly draft: Draft
  /** A copy in 2020-12. */
  readonly schema: JsonSchema
  /** What the author of the schema should know, although it can be used. */
  readonly notes: readonly Issue[]
}

/** An unknown `$schema` is noted, and the schema is read as one that declares none. */
export function readSchema(given: JsonSchema): ReadSchema {
  const declared = draftOf(given)
  const draft = declared === 'unknown' ? 'undeclared' : declared
  return { draft, schema: normalise(given, draft), notes: declared === 'unknown' ? [unknown(given)] : [] }
}

const rewritten = new WeakMap<object, JsonSchema>()

/** The schema in 2020-12; the very same object where nothing had to be rewritten. */
export function toLatest(given: JsonSchema): JsonSchema {
  if (typeof given === 'boolean') return given
  let latest = rewritten.get(given)
  if (latest === undefined) {
    const { schema } = readSchema(given)
    latest = JSON.stringify(schema) === JSON.stringify(given) ? given : schema
    rewritten.set(given, latest)
  }
  return latest
}

function unknown(schema: JsonSchema): Issue {
  const declared = typeof schema === 'boolean' ? undefined : own(schema, '$schema')
  return {
    code: 'schema/unknown-dialect',
    at: { pointer: '/$schema' },
    message: `the schema declares an unknown $schema, ${clip(declared)}, and is read as 2020-12`,
    hint: `Use one of ${knownDialects.join(', ')}, or leave $schema out`,
  }
}
