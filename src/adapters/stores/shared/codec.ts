/**
 * Encodes values as column text and back. A value whose JSON is small stays in its row. In a larger one every large part is
 * stored once in its own table under its SHA-256, and the row holds `{"$value": hash}` instead. Parts are replaced from the
 * inside out, so that the same large value always has the same hash. Keys that look like `$value` are escaped with one more `$`.
 */
import { createHash } from 'node:crypto'
import { ProvisoError } from '../../../base/errors/error.ts'
import { type Json, setOwn } from '../../../base/json.ts'

/** Maximum JSON length in a row; in longer values, parts of half that length are stored separately. */
export const inlineLimit = 8_192
const partLimit = inlineLimit / 2

export interface Encoded {
  readonly text: string
  /** Texts to be kept by their hash, if there are any. */
  readonly values?: ReadonlyMap<string, string>
}

export function encode(value: unknown): Encoded {
  const text = plainText(value)
  if (text.length <= inlineLimit && !text.includes('$value"')) return { text }
  const values = new Map<string, string>()
  const packed = pack(value, values, text.length > inlineLimit)
  const kept = packed.length > inlineLimit ? keep(packed, values) : packed
  return values.size === 0 ? { text: kept } : { text: kept, values }
}

const remembered = new WeakMap<object, Encoded>()

/** The same, cached per object: for plans, which many runs share and which are immutable. */
export function encodeOnce(value: unknown): Encoded {
  if (typeof value !== 'object' || value === null) return encode(value)
  const encoded = remembered.get(value) ?? encode(value)
  remembered.set(value, encoded)
  return encoded
}

/** The value of a column's text; `values` holds the texts of all references, found with `references`. */
export function decode(text: string, values: ReadonlyMap<string, string> = new Map()): Json {
  const value: Json = JSON.parse(text)
  return text.includes('$value"') ? unpack(value, values) : value
}

/** The hashes that a text refers to. Quotes inside strings are escaped, so a string never looks like a reference. */
export function references(text: string): string[] {
  if (!text.includes('{"$value":')) return []
  return [...text.matchAll(/\{"\$value":"([0-9a-f]{64})"\}/g)].map(([, hash = '']) => hash)
}

/** JSON text as it is, with nothing kept apart. */
export function plainText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch (cause) {
    throw new ProvisoError('json/unrepresentable', 'Cannot store a value that is not JSON', { cause })
  }
}

/** JSON text with large parts replaced by references. `apart` false: only keys are escaped. */
function pack(value: unknown, values: Map<string, string>, apart: boolean): string {
  if (typeof value !== 'object' || value === null) return plainText(value)
  const part = (member: unknown) => {
    const text = pack(member, values, apart)
    return apart && text.length > partLimit ? keep(text, values) : text
  }
  if (Array.isArray(value)) return `[${value.map(part).join(',')}]`
  const members: string[] = []
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) members.push(`${JSON.stringify(escaped(key))}:${part(member)}`)
  }
  return `{${members.join(',')}}`
}

/** The name under which a large value is stored. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function keep(text: string, values: Map<string, string>): string {
  const hash = hashText(text)
  values.set(hash, text)
  return `{"$value":"${hash}"}`
}

function unpack(value: Json, values: ReadonlyMap<string, string>): Json {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => unpack(item, values))
  const result = {}
  for (const [key, member] of Object.entries(value)) {
    if (key === '$value') return resolve(member, values)
    setOwn(result, unescaped(key), unpack(member, values))
  }
  return result
}

function resolve(hash: Json, values: ReadonlyMap<string, string>): Json {
  const text = typeof hash === 'string' ? values.get(hash) : undefined
  if (text === undefined) {
    throw new ProvisoError('store/corrupt', `The value ${String(hash)} is missing from flex_values`)
  }
  return decode(text, values)
}

function escaped(key: string): string {
  return /^\$+value$/.test(key) ? `$${key}` : key
}

function unescaped(key: string): string {
  return /^\$\$+value$/.test(key) ? key.slice(1) : key
}
