/** Parses and validates path, query and body against the schemas of a route. Returns located issues before anything is done. */
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json, own, setOwn } from '../../base/json.ts'
import { compileSchema } from '../../schema/compile/compile.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { type Refusal, refusal } from '../problem.ts'
import type { Route } from '../route.ts'

interface Parts {
  readonly params: { readonly [name: string]: string }
  readonly query: { readonly [name: string]: Json }
  readonly body: Json
}

interface GivenParts {
  readonly params: { readonly [name: string]: string }
  readonly query: { readonly [name: string]: string | readonly string[] }
  readonly body: Json
}

const nothing = { type: 'object', additionalProperties: false } as const

export function readParts(route: Route, given: GivenParts): Parts | Refusal {
  const query = readQuery(given.query, route.query ?? nothing)
  const wrong = [
    ...findIssues(route.params ?? true, given.params, 'the path'),
    ...findIssues(route.query ?? nothing, query, 'the query'),
  ]
  if (wrong.length > 0) return refuseIssues('request/unreadable', wrong)
  const inBody =
    route.body === undefined ? checkEmptyBody(given.body) : findIssues(route.body, given.body, 'the body')
  if (inBody.length > 0) return refuseIssues('request/invalid', inBody)
  return { params: given.params, query, body: given.body }
}

/** Converts query strings to numbers, booleans or lists where the schema asks for them and the conversion is exact. */
function readQuery(given: GivenParts['query'], schema: JsonSchema): { [name: string]: Json } {
  const shapes = isObject(schema) ? own(schema, 'properties') : undefined
  const query: { [name: string]: Json } = {}
  for (const [name, value] of Object.entries(given)) {
    const shape = isObject(shapes) ? own(shapes, name) : undefined
    setOwn(query, name, readValue(value, isObject(shape) ? own(shape, 'type') : undefined))
  }
  return query
}

function readValue(value: string | readonly string[], type: unknown): Json {
  if (type === 'array') return typeof value === 'string' ? [value] : value
  if (typeof value !== 'string') return value
  if (type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value)
  if (type === 'number' && /^-?\d{1,15}(\.\d{1,15})?$/.test(value)) return Number(value)
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

export function findIssues(schema: JsonSchema, value: unknown, part: string): Issue[] {
  return compileSchema(schema)
    .validate(value)
    .map((issue) => ({ ...issue, message: `${part}: ${issue.message}` }))
}

function checkEmptyBody(body: Json): Issue[] {
  if (body === null) return []
  return [{ code: 'request/body', at: { pointer: '' }, message: 'the body: must be empty' }]
}

export function refuseIssues(
  code: 'request/unreadable' | 'request/invalid',
  issues: readonly Issue[],
): Refusal {
  return refusal(code, formatMessage(issues), { issues })
}

/** Formats the first issue with its location, for clients that show only the message. */
function formatMessage([first, ...others]: readonly Issue[]): string {
  if (first === undefined) return ''
  const pointer = 'pointer' in first.at ? first.at.pointer : ''
  const more = others.length > 0 ? ` (and ${others.length} more)` : ''
  return `${first.message}${pointer === '' ? '' : `, at ${pointer}`}${more}`
}

// Parses the body as JSON. Limits the nesting depth and refuses keys that could change prototypes.

/** Maximum nesting depth of a body. */
const bodyDepth = 100

/** Parses the bytes of a body; an empty body is `null`. */
export function readBody(bytes: Uint8Array): { readonly value: Json } | { readonly unreadable: string } {
  if (bytes.length === 0) return { value: null }
  let value: Json
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    const why = cause instanceof SyntaxError ? cause.message : 'it is not UTF-8'
    return { unreadable: `The body is not JSON: ${why}` }
  }
  const wrong = findForbidden(value)
  return wrong === undefined ? { value } : { unreadable: wrong }
}

function findForbidden(value: Json): string | undefined {
  const stack: { value: Json; depth: number }[] = [{ value, depth: 0 }]
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    if (typeof visit.value !== 'object' || visit.value === null) continue
    if (visit.depth >= bodyDepth) return `The body must be nested at most ${bodyDepth} levels deep`
    if (Object.hasOwn(visit.value, '__proto__')) return 'The body must not have a key "__proto__"'
    for (const member of Object.values<Json>(visit.value))
      stack.push({ value: member, depth: visit.depth + 1 })
  }
  return undefined
}
