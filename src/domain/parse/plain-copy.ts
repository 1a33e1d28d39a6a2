/**
 * Copies submitted input as plain JSON: the caller cannot change the copy later, and parsers may rely on it having no
 * functions, no cycles and bounded depth.
 */

import { type Json, setOwn } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'
import { isForeignSchema } from '../../schema/standard.ts'
import type { ParseIssue } from './issue-table.ts'

export const plainLimits = { depth: 100, nodes: 1_000_000 } as const

type PlainCopy =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly issue: ParseIssue }

interface Visit {
  readonly value: unknown
  readonly into: object
  readonly key: string
  /** The visit of the object or list that holds the value; absent for the whole value. */
  readonly parent?: Visit
  readonly depth: number
}

interface PlainOptions {
  /** How `undefined` and holes in lists are treated: as `null`, like `JSON.stringify` (default), or as an issue. */
  readonly holes?: 'null' | 'refuse'
}

/** Members of objects that are `undefined` are left out, as `JSON.stringify` does. */
export function plainCopy(given: unknown, { holes = 'null' }: PlainOptions = {}): PlainCopy {
  const root: { value: Json } = { value: null }
  const stack: Visit[] = [{ value: given, into: root, key: 'value', depth: 0 }]
  let nodes = 1
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const { value, into, key, depth } = visit
    if (isScalar(value)) {
      setOwn(into, key, value)
      continue
    }
    if (isForeignSchema(value)) return refuseSchema(pointerTo(visit))
    const what = unrepresentable(value)
    if (what !== undefined) return refuse(pointerTo(visit), what)
    if (depth >= plainLimits.depth) return refuse('', `is nested deeper than ${plainLimits.depth}`)
    // Before anything is made of it: a list may be as long as it says, and hold nothing.
    if (Array.isArray(value) && value.length > plainLimits.nodes) return tooMany()
    const copy: object = Array.isArray(value) ? new Array(value.length).fill(null) : {}
    setOwn(into, key, copy)
    // A list member by member where holes count: they are no entries.
    const inList = Array.isArray(value) && holes === 'refuse'
    const members = inList
      ? Array.from(value, (member, index) => [String(index), member] as const)
      : Object.entries(value as object)
    // Before they are on the stack: what holds itself many times would fill the memory on its way down.
    nodes += members.length
    if (nodes > plainLimits.nodes) return tooMany()
    // In their order; what needs a visit of its own takes its place now and is filled in then.
    for (const [name, member] of members)
      if (isScalar(member)) setOwn(copy, name, member)
      else if (member !== undefined || inList) setOwn(copy, name, null)
    // Last first: the stack gives them back in order.
    for (const [name, member] of members.reverse()) {
      if (isScalar(member) || (member === undefined && !inList)) continue
      stack.push({ value: member, into: copy, key: name, parent: visit, depth: depth + 1 })
    }
  }
  return { ok: true, value: root.value }
}

/** Pointers are made for issues only: most copies have none. */
function pointerTo({ parent, key }: Visit): Pointer {
  return parent === undefined ? '' : child(pointerTo(parent), key)
}

function isScalar(value: unknown): value is null | boolean | number | string {
  return (
    value === null ||
    typeof value === 'boolean' ||
    typeof value === 'string' ||
    (typeof value === 'number' && Number.isFinite(value))
  )
}

function unrepresentable(value: unknown): string | undefined {
  if (value === undefined) return 'is absent'
  if (typeof value === 'number') return `is ${value}, which JSON cannot hold`
  if (typeof value !== 'object') return `is a ${typeof value}, which JSON cannot hold`
  const kind = Object.prototype.toString.call(value).slice(8, -1)
  return kind === 'Object' || kind === 'Array' ? undefined : `is a ${kind}, which JSON cannot hold`
}

function tooMany(): PlainCopy {
  return refuse('', `has more than ${plainLimits.nodes} values`)
}

/** Its members look like a JSON Schema that allows nearly everything; read as one, the contract would not hold. */
function refuseSchema(pointer: Pointer): PlainCopy {
  const hint = 'Pass its JSON Schema: z.toJSONSchema(schema) with Zod, schema.toJsonSchema() with ArkType'
  return refuse(pointer, 'is a schema object of another library, which JSON cannot hold', hint)
}

function refuse(pointer: Pointer, what: string, hint = 'Pass plain JSON data'): PlainCopy {
  const issue: ParseIssue = {
    code: 'json/unrepresentable',
    at: { pointer },
    message: `the value ${what}`,
    hint,
  }
  return { ok: false, issue }
}
