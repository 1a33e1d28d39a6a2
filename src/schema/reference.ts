/** Local references of a JSON Schema, and the sub-schemas that they lead to. */
import { own } from '../base/json.ts'
import { type Pointer, tokens } from '../base/pointer.ts'
import type { JsonSchema } from './json-schema.ts'

/** What stands in the schema at a pointer; `undefined` when nothing does. */
export function schemaAt(root: JsonSchema, pointer: Pointer): unknown {
  let at: unknown = root
  for (const token of tokens(pointer)) {
    if (typeof at !== 'object' || at === null) return undefined
    at = own(at, token)
  }
  return at
}

/** The text behind `#`, percent escapes resolved where they are sound. */
export function fragmentOf(ref: string): string {
  const fragment = ref.slice(ref.indexOf('#') + 1)
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
