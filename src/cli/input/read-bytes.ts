/** Reads the bytes of a source file up to a size limit; rejects a file that is too large before reading it. */
import { createReadStream } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { type ReadYaml, readYaml, tooLarge, yamlLimits } from '../../pipeline/index.ts'
import { cannotOpen, type Unreadable } from '../read-input.ts'

type FileBytes =
  | { readonly bytes: Uint8Array }
  /** Size in bytes, as far as known. */
  | { readonly tooLarge: number }
  | { readonly unreadable: Unreadable }

export async function readBytes(file: string, most: number): Promise<FileBytes> {
  try {
    const found = await stat(file)
    if (found.isDirectory()) throw Object.assign(new Error('is a folder'), { code: 'EISDIR' })
    if (found.size > most) return { tooLarge: found.size }
    const parts: Uint8Array[] = []
    // Reads at most one byte more than the limit: not every readable file reports its size.
    for await (const part of createReadStream(file, { end: most })) parts.push(part)
    const bytes = Buffer.concat(parts)
    return bytes.byteLength > most ? { tooLarge: bytes.byteLength } : { bytes }
  } catch (error) {
    return { unreadable: cannotOpen(file, error as NodeJS.ErrnoException) }
  }
}

type YamlFile = { readonly read: ReadYaml; readonly text: string } | { readonly unreadable: Unreadable }

/** Reads the bytes of a pipeline file; checks the size before reading. */
export async function readYamlFile(file: string): Promise<YamlFile> {
  try {
    const found = await stat(file)
    if (found.isDirectory()) return { unreadable: cannotRead(file, 'it is a folder') }
    if (found.size > yamlLimits.bytes) return { read: tooLarge(file, found.size), text: '' }
    const bytes = await readFile(file)
    return { read: readYaml(bytes, file), text: bytes.toString('utf8') }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { unreadable: cannotRead(file, code === 'ENOENT' ? 'there is no such file' : message) }
  }
}

function cannotRead(file: string, reason: string): Unreadable {
  return { message: `cannot read ${file}: ${reason}`, hint: 'Give the path of a pipeline, a YAML file' }
}
