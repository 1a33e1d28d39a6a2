/** Reads the bytes of a source file up to a size limit; rejects a file that is too large before reading it. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
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

export async function readYamlFile(file: string): Promise<YamlFile> {
  const found = await readBytes(file, yamlLimits.bytes)
  if ('tooLarge' in found) return { read: tooLarge(file, found.tooLarge), text: '' }
  if ('unreadable' in found)
    return { unreadable: { ...found.unreadable, hint: 'Pass the path of a pipeline, a YAML file' } }
  return { read: readYaml(found.bytes, file), text: Buffer.from(found.bytes).toString('utf8') }
}
