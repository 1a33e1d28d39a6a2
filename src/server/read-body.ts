/** A body's bytes as JSON, or why they are none: bounded in depth, and without keys that could become prototypes. */
import type { Json } from '../base/json.ts'

/** How deep a body may be nested. */
export const bodyDepth = 100

/** No bytes are no body. */
export function readBody(bytes: Uint8Array): { readonly value: Json } | { readonly unreadable: string } {
  if (bytes.length === 0) return { value: null }
  let value: Json
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    const why = cause instanceof SyntaxError ? cause.message : 'it is not UTF-8'
    return { unreadable: `The body is not JSON: ${why}` }
  }
  const wrong = look(value)
  return wrong === undefined ? { value } : { unreadable: wrong }
}

function look(value: Json): string | undefined {
  const stack: { value: Json; depth: number }[] = [{ value, depth: 0 }]
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    if (typeof visit.value !== 'object' || visit.value === null) continue
    if (visit.depth >= bodyDepth) return `The body is nested deeper than ${bodyDepth}`
    if (Object.hasOwn(visit.value, '__proto__'))
      return 'The body has a key "__proto__", which is not accepted'
    for (const member of Object.values<Json>(visit.value))
      stack.push({ value: member, depth: visit.depth + 1 })
  }
  return undefined
}
