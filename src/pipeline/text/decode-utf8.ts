/**
 * Decodes UTF-8 strictly: reports the first invalid byte with its location, and keeps the text before it for
 * the excerpt.
 */
import type { Finding } from './source.ts'

export function decodeUtf8(bytes: Uint8Array): { readonly text: string; readonly finding?: Finding } {
  try {
    return { text: decode(bytes) }
  } catch {
    const good = firstBadByte(bytes)
    const line = decode(bytes.subarray(0, good))
    const bad = (bytes[good] ?? 0).toString(16).padStart(2, '0')
    const finding: Finding = {
      code: 'pipeline/utf-8',
      range: [line.length, line.length + 1],
      message: `byte 0x${bad} at offset ${good} is not UTF-8`,
      hint: 'Save the file as UTF-8, for example: iconv -f WINDOWS-1252 -t UTF-8',
    }
    return { text: `${line}\ufffd`, finding }
  }
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
}

/** Binary search for the number of valid bytes from the start. */
function firstBadByte(bytes: Uint8Array): number {
  let [good, bad] = [0, bytes.byteLength]
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (begins(bytes.subarray(0, middle))) good = middle
    else bad = middle
  }
  // Step back over an incomplete sequence: it starts at the invalid byte.
  while (good > 0 && !isWhole(bytes.subarray(0, good))) good--
  return good
}

function begins(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

function isWhole(bytes: Uint8Array): boolean {
  try {
    decode(bytes)
    return true
  } catch {
    return false
  }
}
