/** The identity of a schema: equal contracts have equal hashes, however their keys are ordered. */
import { canonicalJson } from '../base/canonical.ts'
import { sha256Hex } from '../base/hash.ts'
import type { JsonSchema } from './json-schema.ts'

/** SHA-256 (hex) of the schema's canonical JSON. */
export function schemaHash(schema: JsonSchema): string {
  return sha256Hex(canonicalJson(schema))
}
