/** Which dialect of JSON Schema a schema is written in, by its `$schema`. */
import { own } from '../../base/json.ts'

/** `undeclared` is 2020-12 that also accepts older forms which 2020-12 gives no meaning of its own. */
export type Draft = '04' | '06' | '07' | '2019-09' | '2020-12' | 'openapi-3.0' | 'openapi-3.1' | 'undeclared'

/** Every `$schema` that is known. */
const dialects: readonly (readonly [uri: string, draft: Draft])[] = [
  ['http://json-schema.org/draft-04/schema#', '04'],
  ['http://json-schema.org/draft-06/schema#', '06'],
  ['http://json-schema.org/draft-07/schema#', '07'],
  ['https://json-schema.org/draft/2019-09/schema', '2019-09'],
  ['https://json-schema.org/draft/2020-12/schema', '2020-12'],
  ['https://spec.openapis.org/oas/3.0/dialect', 'openapi-3.0'],
  ['https://spec.openapis.org/oas/3.1/dialect/base', 'openapi-3.1'],
]

/** For hints. */
export const knownDialects = dialects.map(([uri]) => uri)

const drafts: ReadonlyMap<string, Draft> = new Map([
  ...dialects.map(([uri, draft]) => [getName(uri), draft] as const),
  ['json-schema.org/schema', '2020-12'],
])

/** `http` and `https`, with and without an empty fragment, are the same name. */
function getName(uri: string): string {
  return uri.replace(/^https?:\/\//, '').replace(/#$/, '')
}

/** The draft that a URI names. */
export function draftOfUri(uri: string): Draft | undefined {
  const name = getName(uri)
  const openapi = /^spec\.openapis\.org\/oas\/(3\.[01])\//.exec(name)
  if (openapi !== null) return openapi[1] === '3.0' ? 'openapi-3.0' : 'openapi-3.1'
  return drafts.get(name)
}

/** The declared draft of a schema; an unknown `$schema` is `unknown`, a missing one `undeclared`. */
export function findDraft(schema: unknown): Draft | 'unknown' {
  const declared = typeof schema === 'object' && schema !== null ? own(schema, '$schema') : undefined
  if (declared === undefined) return 'undeclared'
  return (typeof declared === 'string' ? draftOfUri(declared) : undefined) ?? 'unknown'
}

/** Position in time, for tables of when a keyword came and went: drafts begin with their number or year. */
export function getDraftYear(draft: Draft): number {
  return Number.parseInt(draft, 10) || (draft === 'openapi-3.0' ? 4 : 2020)
}
