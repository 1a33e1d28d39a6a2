/**
 * Canonical JSON (RFC 8785): the same text for equal values, regardless of key order, for hashing and comparing.
 * `canonicalize` recurses and throws bare errors; this file validates first, so that callers get a located ProvisoError.
 * Also the synchronous SHA-256 with which the text is hashed.
 */

import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'
import canonicalize from 'canonicalize'
import { type ErrorCode, ProvisoError } from './errors/error.ts'
import { child, type Pointer } from './pointer.ts'

/** Larger or deeper values are refused. Shared sub-objects count each time they are reached. */
export const canonicalLimits = { depth: 1_000, nodes: 10_000_000 } as const

/**
 * Returns the canonical text of a JSON value. Omits `undefined` members, as `JSON.stringify` does. Lone surrogates, which
 * RFC 8785 leaves undefined, become `\udXXX` escapes, so they neither throw nor collide.
 */
export function canonicalJson(value: unknown): string {
  const { isSorted } = inspect(value, { code: 'json/unrepresentable', subject: 'The value' })
  // With sorted keys, as most inputs of calls have them, plain JSON is canonical: numbers and texts are written alike, and
  // lone surrogates as the escapes below. It takes a fraction of the time.
  if (isSorted) return JSON.stringify(value)
  try {
    return canonicalize(value) ?? 'null'
  } catch {
    // After the checks above, only a lone surrogate can make `canonicalize` throw.
    return (canonicalize(escaped(value)) ?? 'null').replace(marks, (_, code: string) =>
      code === mark ? mark : `\\u${code}`,
    )
  }
}

/**
 * Returns the JSON text of a value with keys in their own order, after the same checks and limits as the canonical text.
 * Much faster, and good enough as a cache key; equal values with another key order have another text.
 */
export function checkedJson(value: unknown, refusal: Refusal): string {
  inspect(value, refusal)
  return JSON.stringify(value)
}

/** How to report a value that JSON cannot represent. */
interface Refusal {
  readonly code: ErrorCode
  /** Names the value at the start of the message. */
  readonly subject: string
}

/** Position of the traversal: the keys on the path and their containers. Pointers are built only for errors. */
interface Traversal {
  readonly keys: (string | number)[]
  readonly containers: object[]
  readonly refusal: Refusal
  nodes: number
  /** Whether the keys of all objects so far are in canonical order (by UTF-16 code units). */
  isSorted: boolean
}

/** Throws if the value contains anything that JSON cannot represent. */
function inspect(value: unknown, refusal: Refusal): Traversal {
  const traversal = { keys: [], containers: [], refusal, nodes: 0, isSorted: true }
  visit(value, traversal)
  return traversal
}

function visit(value: unknown, traversal: Traversal): void {
  const { containers } = traversal
  if (++traversal.nodes > canonicalLimits.nodes)
    refuse(traversal, `has more than ${canonicalLimits.nodes} nodes`, 0)
  if (typeof value !== 'object' || value === null) {
    const isJson =
      typeof value === 'number'
        ? Number.isFinite(value)
        : value === null || typeof value === 'string' || typeof value === 'boolean'
    if (isJson) return
    refuse(traversal, `is ${typeof value === 'number' ? value : `a ${typeof value}`}, which JSON cannot hold`)
  }
  if (containers.length >= canonicalLimits.depth) refuseDepth(traversal)
  if ('toJSON' in value && typeof value.toJSON === 'function') refuse(traversal, 'has a toJSON method')
  containers.push(value)
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) visitMember(value[index], index, traversal)
  } else {
    let before = ''
    for (const key of Object.keys(value)) {
      if (key < before) traversal.isSorted = false
      before = key
      visitMember((value as Readonly<Record<string, unknown>>)[key], key, traversal)
    }
  }
  containers.pop()
}

function visitMember(member: unknown, key: string | number, traversal: Traversal): void {
  // `undefined` becomes null in a list; as an object member it is omitted.
  if (member === undefined) return
  traversal.keys.push(key)
  visit(member, traversal)
  traversal.keys.pop()
}

/** Detects cycles only at the depth limit: checking on every level would slow down every other value. */
function refuseDepth(traversal: Traversal): never {
  const { containers } = traversal
  const again = containers.findIndex((container, index) => containers.indexOf(container) < index)
  if (again > 0) refuse(traversal, 'contains itself', again)
  refuse(traversal, `is nested deeper than ${canonicalLimits.depth}`, 0)
}

/** `depth`: the number of keys of the path that lead to the reported location. */
function refuse({ keys, refusal }: Traversal, what: string, depth = keys.length): never {
  const pointer = keys.slice(0, depth).reduce<Pointer>(child, '')
  const where = pointer === '' ? refusal.subject : `${refusal.subject} at ${pointer.slice(0, 200)}`
  throw new ProvisoError(refusal.code, `${where} ${what}`, { at: { pointer } })
}

/** Noncharacter that marks an escaped surrogate while `canonicalize` runs; a literal one in the text is doubled. */
const mark = '\uffff'
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

/**
 * Returns the SHA-256 of a text's UTF-8 bytes, in lower-case hex. Uses Node's implementation where available, and a
 * JavaScript one in browsers.
 */
export function sha256Hex(text: string): string {
  // `isWellFormed` is available wherever `nodeHash` is, and takes a fraction of the time of the search in `encode`.
  if (nodeHash) return nodeHash('sha256', text.isWellFormed() ? text : encode(text))
  return bytesToHex(sha256(encode(text)))
}

type NodeHash = (algorithm: string, data: string | Uint8Array) => string

/** What Node has and browsers do not, typed here: the console compiles this file without the types of Node. */
interface NodeGlobals {
  readonly process?: { getBuiltinModule?(name: string): { readonly hash?: NodeHash } | undefined }
}

/** Several times faster than JavaScript. Looked up at run time, so that bundlers for browsers do not try to resolve it. */
const nodeHash = /* @__PURE__ */ findNodeHash()

function findNodeHash(): NodeHash | undefined {
  return (globalThis as NodeGlobals).process?.getBuiltinModule?.('node:crypto')?.hash
}

const loneSurrogate = /\p{Surrogate}/gu
const utf8 = /* @__PURE__ */ new TextEncoder()

/**
 * Encodes as UTF-8, with lone surrogates as the three bytes of their code point (WTF-8). A plain encoder writes U+FFFD for
 * all of them, so different texts would share a hash.
 */
function encode(text: string): Uint8Array {
  if (text.search(loneSurrogate) < 0) return utf8.encode(text)
  const parts: Uint8Array[] = []
  let from = 0
  for (const { index } of text.matchAll(loneSurrogate)) {
    const unit = text.charCodeAt(index)
    parts.push(utf8.encode(text.slice(from, index)))
    parts.push(Uint8Array.of(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)))
    from = index + 1
  }
  parts.push(utf8.encode(text.slice(from)))
  return concat(parts)
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
