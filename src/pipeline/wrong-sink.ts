/** Why `sink_to` cannot name a member of the context; the same for the rule and for the compiler. */
import { isObject, type Json, own } from '../base/json.ts'

/** Names of the whole context in templates of the original project. */
const roots: ReadonlySet<string> = new Set(['context', 'scratchpad'])

export interface Sink {
  /** What the context holds before the first step. */
  readonly given: { readonly [key: string]: Json }
  /** Whether the output may be a map. */
  readonly isMap: boolean
}

export function wrongSink(key: string, { given, isMap }: Sink): string | undefined {
  if (key.includes('.')) return `"${key}" is a path, and sink_to names one member of the context`
  const value = own(given, key)
  if (value === undefined && roots.has(key)) return `"${key}" is no member of the context, but all of it`
  if (!isObject(value) || isMap) return undefined
  return `the context has a map under "${key}", and this step puts something else in its place`
}
