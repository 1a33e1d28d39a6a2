/** SHA-256 of text, synchronous and without Node, so that the same hash is computed in a browser and on a server. */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex } from '@noble/hashes/utils.js'

/** The SHA-256 of a text's UTF-8 bytes, in lower-case hex. */
export function sha256Hex(text: string): string {
  return bytesToHex(sha256(encode(text)))
}

const loneSurrogate = /\p{Surrogate}/gu
const utf8 = new TextEncoder()

/**
 * UTF-8, and for lone surrogates the three bytes that UTF-8 would give their code point (known as WTF-8).
 * A plain encoder writes U+FFFD for all of them, so different texts would share a hash.
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
