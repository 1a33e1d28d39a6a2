/** JSON Pointers (RFC 6901): the location format of issues, repairs and finished paths. */
import { type Json, own } from './json.ts'

/** A JSON Pointer; `''` is the whole value. */
export type Pointer = string

export function escapeToken(token: string): string {
  return token.includes('~') || token.includes('/')
    ? token.replaceAll('~', '~0').replaceAll('/', '~1')
    : token
}

/** Appends one token to a pointer. */
export function child(pointer: Pointer, token: string | number): Pointer {
  return typeof token === 'number' ? `${pointer}/${token}` : `${pointer}/${escapeToken(token)}`
}

/** Splits a pointer into its unescaped tokens. */
export function tokens(pointer: Pointer): string[] {
  if (pointer === '') return []
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the value at a pointer, or `undefined` if absent; own members and elements only. */
export function valueAt(root: Json, pointer: Pointer): Json | undefined
export function valueAt(root: unknown, pointer: Pointer): unknown
export function valueAt(root: unknown, pointer: Pointer): unknown {
  let value = root
  for (const token of tokens(pointer))
    value = typeof value === 'object' && value !== null ? own(value, token) : undefined
  return value
}
