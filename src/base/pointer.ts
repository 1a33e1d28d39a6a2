/** JSON Pointers (RFC 6901): how every issue, repair and finished path says where it is. */

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

/** The tokens of a pointer, unescaped. */
export function tokens(pointer: Pointer): string[] {
  if (pointer === '') return []
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}
