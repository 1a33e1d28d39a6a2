/**
 * Canonical JSON (RFC 8785): one text per value, whatever the order of its keys, so that it can be hashed and compared.
 * `canonicalize` recurses and throws bare errors; this file looks first, so that callers get a located ProvisoError.
 */
import canonicalize from 'canonicalize'
import { ProvisoError } from './error.ts'
import { child, type Pointer } from './pointer.ts'

/** Deeper or larger values have no canonical text. Shared sub-objects count each time they are reached. */
export const canonicalLimits = { depth: 1_000, nodes: 10_000_000 } as const

/**
 * The canonical text of a JSON value. Members that are `undefined` are left out, as `JSON.stringify` does.
 * Lone surrogates, which RFC 8785 leaves undefined, are written as `\udXXX` escapes, so they neither throw nor collide.
 */
export function canonicalJson(value: unknown): string {
  const needsEscapes = inspect(value)
  if (!needsEscapes) return canonicalize(value) ?? 'null'
  return (canonicalize(escaped(value)) ?? 'null').replace(marks, (_, code: string) =>
    code === mark ? mark : `\\u${code}`,
  )
}

interface Visit {
  readonly value: unknown
  readonly pointer: Pointer
  readonly depth: number
}

/** Throws on what JSON cannot hold; says whether any string needs its surrogates escaped. */
function inspect(root: unknown): boolean {
  let needsEscapes = false
  let nodes = 0
  const path: object[] = []
  const onPath = new Set<object>()
  const stack: Visit[] = [{ value: root, pointer: '', depth: 0 }]
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const { value, pointer, depth } = visit
    while (path.length > depth) onPath.delete(path.pop() as object)
    if (++nodes > canonicalLimits.nodes) refuse(`has more than ${canonicalLimits.nodes} nodes`, '')
    if (typeof value === 'string') {
      needsEscapes ||= troublesome.test(value)
    } else if (typeof value === 'object' && value !== null) {
      if (onPath.has(value)) refuse('contains itself', pointer)
      if (depth >= canonicalLimits.depth) refuse(`is nested deeper than ${canonicalLimits.depth}`, '')
      if ('toJSON' in value && typeof value.toJSON === 'function') refuse('has a toJSON method', pointer)
      path.push(value)
      onPath.add(value)
      if (Array.isArray(value)) {
        for (let i = value.length - 1; i >= 0; i--) {
          stack.push({ value: value[i] ?? null, pointer: child(pointer, i), depth: depth + 1 })
        }
      } else {
        for (const [key, member] of Object.entries(value)) {
          if (member === undefined) continue
          needsEscapes ||= troublesome.test(key)
          stack.push({ value: member, pointer: child(pointer, key), depth: depth + 1 })
        }
      }
    } else if (
      typeof value === 'number' ? !Number.isFinite(value) : value !== null && typeof value !== 'boolean'
    ) {
      refuse(`is ${typeof value === 'number' ? value : `a ${typeof value}`}, which JSON cannot hold`, pointer)
    }
  }
  return needsEscapes
}

function refuse(what: string, pointer: Pointer): never {
  const where = pointer === '' ? 'The value' : `The value at ${pointer.slice(0, 200)}`
  throw new ProvisoError('json/unrepresentable', `${where} ${what}`, { at: { pointer } })
}

/** A noncharacter that marks an escaped surrogate on its way through `canonicalize`; a mark in the text is doubled. */
const mark = '\uffff'
const troublesome = /[\p{Surrogate}\uffff]/u
const marks = /\uffff(\uffff|d[0-9a-f]{3})/g

function escaped(value: unknown): unknown {
  if (typeof value === 'string') return escapeText(value)
  if (Array.isArray(value)) return value.map(escaped)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [escapeText(key), escaped(member)]))
}

function escapeText(text: string): string {
  return text.replace(/[\p{Surrogate}\uffff]/gu, (unit) =>
    unit === mark ? mark + mark : mark + unit.charCodeAt(0).toString(16),
  )
}
