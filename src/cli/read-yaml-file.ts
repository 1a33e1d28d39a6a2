/** The bytes of a pipeline file; one that is too large is refused by its size, before it is read. */
import { readFile, stat } from 'node:fs/promises'
import { type ReadYaml, readYaml, tooLarge, yamlLimits } from '../pipeline/index.ts'
import type { Unreadable } from './read-input.ts'

export type YamlFile =
  | { readonly read: ReadYaml; readonly text: string }
  | { readonly unreadable: Unreadable }

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
