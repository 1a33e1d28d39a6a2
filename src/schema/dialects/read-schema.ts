/** The entrance of every schema: its dialect is found out, and it is rewritten as 2020-12. */
import type { Issue } from '../../base/errors/issue.ts'
import { own } from '../../base/json.ts'
import { clip } from '../describe.ts'
import type { JsonSchema } from '../json-schema.ts'
import { type Draft, draftOf, knownDialects, yearOf } from './draft.ts'
import { normalise } from './normalise.ts'

interface ReadSchema {
  readonly draft: Draft
  readonly schema: JsonSchema
  /** The same as JSON text. */
  readonly text: string
  /** What the author of the schema should know, although it can be used. */
  readonly notes: readonly Issue[]
}

/**
 * Reads a schema from its JSON text and rewrites it as 2020-12. `check` gets the schema as it is written. An unknown `$schema`
 * is noted, and the schema is read as one that declares none.
 */
export function readSchema(text: string, check?: (given: JsonSchema, draft: Draft) => void): ReadSchema {
  const given: JsonSchema = JSON.parse(text)
  const declared = draftOf(given)
  const draft = declared === 'unknown' ? 'undeclared' : declared
  const notes = declared === 'unknown' ? [unknown(given)] : []
  check?.(given, draft)
  if (yearOf(draft) >= 2020 && !dated.test(text)) return { draft, schema: given, text, notes }
  const schema = normalise(given, draft)
  return { draft, schema, text: JSON.stringify(schema), notes }
}

/** Finds what may have to be rewritten, and some of what need not be: most schemas are spared the walk by their text. */
const dated =
  /"(?:\$schema":(?!"https:..json-schema.org.draft.2020-12.schema")|\$id":"[^"]*#|\$recursive|nullable|dependencies|additionalItems|exclusiveM\w+":[tf]|items":\[)/

const rewritten = new WeakMap<object, JsonSchema>()

/** The schema in 2020-12; the very same object where nothing had to be rewritten. */
export function toLatest(given: JsonSchema): JsonSchema {
  if (typeof given === 'boolean') return given
  let latest = rewritten.get(given)
  if (latest === undefined) {
    const before = JSON.stringify(given)
    const { schema, text } = readSchema(before)
    latest = text === before ? given : schema
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
