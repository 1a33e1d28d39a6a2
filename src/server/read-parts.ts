/** The parts of a request in the shapes that its route names: located issues for what is not, before anything is done. */
import type { Issue } from '../base/issue.ts'
import { isObject, type Json, own, setOwn } from '../base/json.ts'
import { compileSchema } from '../schema/compile.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { type Refusal, refusal } from './problem.ts'
import type { Route } from './route.ts'

export interface Parts {
  readonly params: { readonly [name: string]: string }
  readonly query: { readonly [name: string]: Json }
  readonly body: Json
}

export interface GivenParts {
  readonly params: { readonly [name: string]: string }
  readonly query: { readonly [name: string]: string | readonly string[] }
  readonly body: Json
}

const nothing = { type: 'object', additionalProperties: false } as const

export function readParts(route: Route, given: GivenParts): Parts | Refusal {
  const query = readQuery(given.query, route.query ?? nothing)
  const wrong = [
    ...issuesOf(route.params ?? true, given.params, 'the path'),
    ...issuesOf(route.query ?? nothing, query, 'the query'),
  ]
  if (wrong.length > 0) return refusal('request/unreadable', messageOf(wrong), { issues: wrong })
  const inBody =
    route.body === undefined ? unwanted(given.body) : issuesOf(route.body, given.body, 'the body')
  if (inBody.length > 0) return refusal('request/invalid', messageOf(inBody), { issues: inBody })
  return { params: given.params, query, body: given.body }
}

/** Values of a query are texts; those that are to be numbers, flags or lists become so where it is certain. */
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

function issuesOf(schema: JsonSchema, value: unknown, part: string): Issue[] {
  return compileSchema(schema)
    .validate(value)
    .map((issue) => ({ ...issue, message: `${part}: ${issue.message}` }))
}

function unwanted(body: Json): Issue[] {
  if (body === null) return []
  return [{ code: 'request/body', at: { pointer: '' }, message: 'the body: nothing is expected here' }]
}

/** The first one with its place: whoever reads only this must know which of many it is. */
function messageOf([first, ...others]: readonly Issue[]): string {
  if (first === undefined) return ''
  const pointer = 'pointer' in first.at ? first.at.pointer : ''
  const more = others.length > 0 ? ` (and ${others.length} more)` : ''
  return `${first.message}${pointer === '' ? '' : `, at ${pointer}`}${more}`
}
