/** Parses the body as JSON. Limits the nesting depth and refuses keys that could change prototypes. */
import type { Json } from '../../base/json.ts'

/** Maximum nesting depth of a body. */
const bodyDepth = 100

/** Parses the bytes of a body; an empty body is `null`. */
export function readBody(bytes: Uint8Array): { readonly value: Json } | { readonly unreadable: string } {
  if (bytes.length === 0) return { value: null }
  let value: Json
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    const why = cause instanceof SyntaxError ? cause.message : 'it is not UTF-8'
    return { unreadable: `The body is not JSON: ${why}` }
  }
  const wrong = findForbidden(value)
  return wrong === undefined ? { value } : { unreadable: wrong }
}

function findForbidden(value: Json): string | undefined {
  const stack: { value: Json; depth: number }[] = [{ value, depth: 0 }]
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    if (typeof visit.value !== 'object' || visit.value === null) continue
    if (visit.depth >= bodyDepth) return `The body must be nested at most ${bodyDepth} levels deep`
    if (Object.hasOwn(visit.value, '__proto__')) return 'The body must not have a key "__proto__"'
    for (const member of Object.values<Json>(visit.value))
      stack.push({ value: member, depth: visit.depth + 1 })
  }
  return undefined
}
