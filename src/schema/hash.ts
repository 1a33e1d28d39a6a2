/** The identity of a schema: equal contracts have equal hashes, however their keys are ordered. */
import { canonicalJson, sha256Hex } from '../base/canonical.ts'
import type { JsonSchema } from './json-schema.ts'

/** The last ones by their canonical text, for the same few contracts come again and again. */
const hashes = new Map<string, string>()
const most = { hashes: 256, text: 4_000 } as const

/** By identity, which costs nothing: the contracts of runs are shared, and schemas never change. */
const byIdentity = new WeakMap<object, string>()

/** SHA-256 (hex) of the schema's canonical JSON. */
export function schemaHash(schema: JsonSchema): string {
  if (typeof schema !== 'object') return hashByText(schema)
  const hash = byIdentity.get(schema) ?? hashByText(schema)
  byIdentity.set(schema, hash)
  return hash
}

function hashByText(schema: JsonSchema): string {
  const text = canonicalJson(schema)
  const known = hashes.get(text)
  if (known !== undefined) return known
  const hash = sha256Hex(text)
  if (hashes.size >= most.hashes) hashes.clear()
  if (text.length <= most.text) hashes.set(text, hash)
  return hash
}
