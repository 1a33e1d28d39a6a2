/** The bytes of a source file, as many as it may have and not one more: a file that is too large is known before it is read. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { cannotOpen, type Unreadable } from './read-input.ts'

export type FileBytes =
  | { readonly bytes: Uint8Array }
  /** How large it is, as far as is known. */
  | { readonly tooLarge: number }
  | { readonly unreadable: Unreadable }

export async function readBytes(file: string, most: number): Promise<FileBytes> {
  try {
    const found = await stat(file)
    if (found.isDirectory()) throw Object.assign(new Error('is a folder'), { code: 'EISDIR' })
    if (found.size > most) return { tooLarge: found.size }
    const parts: Uint8Array[] = []
    // Not everything that can be read has a size.
    for await (const part of createReadStream(file, { end: most })) parts.push(part)
    const bytes = Buffer.concat(parts)
    return bytes.byteLength > most ? { tooLarge: bytes.byteLength } : { bytes }
  } catch (error) {
    return { unreadable: cannotOpen(file, error as NodeJS.ErrnoException) }
  }
}
