/** Synchronous SHA-256 of text: uses Node's implementation where available, and a JavaScript one in browsers. */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'

/** The SHA-256 of a text's UTF-8 bytes, in lower-case hex. */
export function sha256Hex(text: string): string {
  // `isWellFormed` is available wherever `nodeHash` is, and takes a fraction of the time of the search in `encode`.
  if (nodeHash) return nodeHash('sha256', text.isWellFormed() ? text : encode(text))
  return bytesToHex(sha256(encode(text)))
}

type NodeHash = (algorithm: string, data: string | Uint8Array) => string

/** Several times faster than JavaScript. Looked up at run time, so that bundlers for browsers do not try to resolve it. */
const nodeHash: NodeHash | undefined = globalThis.process?.getBuiltinModule?.('node:crypto')?.hash

const loneSurrogate = /\p{Surrogate}/gu
const utf8 = new TextEncoder()

/**
 * Encodes as UTF-8, with lone surrogates as the three bytes of their code point (WTF-8). A plain encoder writes U+FFFD for
 * all of them, so different texts would share a hash.
 */
function encode(text: string): Uint8Array {
  if (text.search(loneSurrogate) < 0) return utf8.encode(text)
  const parts: Uint8Array[] = []
  let from = 0
  for (const { index } of text.matchAll(loneSurrogate)) {
    const unit = text.charCodeAt(index)
    parts.push(utf8.encode(text.slice(from, index)))
    parts.push(Uint8Array.of(0xe0 | (unit >> 12), 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)))
    from = index + 1
  }
  parts.push(utf8.encode(text.slice(from)))
  return concat(parts)
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
