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

/** Shorter plans stay in their rows. */
const planLimit = 2_048

/**
 * Encodes a plan as a reference: its event and its snapshots have the same plan, and so have all runs of one pipeline. Cached
 * per object, because plans are shared and immutable.
 */
export function encodePlan(plan: unknown): Encoded {
  if (typeof plan !== 'object' || plan === null) return encode(plan)
  const known = remembered.get(plan)
  if (known !== undefined) return known
  const encoded = encode(plan)
  const values = new Map(encoded.values)
  const isApart = encoded.text.length > planLimit
  const reference = isApart ? { text: keep(encoded.text, values), values } : encoded
  remembered.set(plan, reference)
  return reference
}

/** Encodes the payload of a plan's event. */
export function encodeWithPlan(payload: { readonly plan: object | null }): Encoded {
  const { plan, ...rest } = payload
  const others = encode(rest)
  // A payload that is kept apart as a whole has no members to add one to.
  if (plan === null || others.text === '{}' || others.text.startsWith('{"$value":')) return encode(payload)
  const { text, values } = encodePlan(plan)
  const all = new Map([...(others.values ?? []), ...(values ?? [])])
  const joined = `{"plan":${text},${others.text.slice(1)}`
  return all.size === 0 ? { text: joined } : { text: joined, values: all }
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
