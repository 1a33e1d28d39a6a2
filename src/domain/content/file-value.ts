/**
 * Files in values: `{ "$file": { mediaType, data } }` anywhere in the inputs of a model is sent as a part of its message, and
 * the words name it by its number. Only data, no addresses: a provider would fetch what a model or another tenant has written.
 */
import { sha256Hex } from '../../base/canonical.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import { child, type Pointer } from '../../base/pointer.ts'

/** An image or another file as a value. */
export interface FileValue {
  readonly $file: {
    /** Such as `image/png` or `application/pdf`. */
    readonly mediaType: string
    /** In base64. */
    readonly data: string
    readonly name?: string
  }
}

/** JSON Schema of a file, for the input contracts of capabilities. */
export const fileSchema = {
  type: 'object',
  properties: {
    $file: {
      type: 'object',
      properties: {
        mediaType: { type: 'string' },
        data: { type: 'string' },
        name: { type: 'string' },
      },
      required: ['mediaType', 'data'],
      additionalProperties: false,
    },
  },
  required: ['$file'],
  additionalProperties: false,
} as const

/** What is recorded of a file that was sent: where it is in the inputs, and its hash. */
export interface FileReference {
  readonly pointer: Pointer
  readonly mediaType: string
  readonly name?: string
  readonly bytes: number
  /** Of its data in base64. */
  readonly sha256: string
}

export interface TakenFile extends FileReference {
  readonly data: string
}

/** Most bytes of all files of one call: the journal keeps the inputs. */
const mostFileBytes = 5 * 1024 * 1024

/** Makes the value of a file. */
export function toFile(data: Uint8Array, mediaType: string, name?: string): FileValue {
  let binary = ''
  // In chunks: a call takes a limited number of arguments.
  for (let from = 0; from < data.length; from += 8_192)
    binary += String.fromCharCode(...data.subarray(from, from + 8_192))
  return { $file: { mediaType, data: btoa(binary), ...(name !== undefined && { name }) } }
}

export interface Taken {
  /** With `{ "$file": 1, "mediaType": … }` instead of the first file, and so on. */
  readonly inputs: Json
  readonly files: readonly TakenFile[]
  readonly issues: readonly Issue[]
}

/** Takes the files out of the inputs of a model, in the order in which they appear. */
export function takeFiles(inputs: Json): Taken {
  const files: TakenFile[] = []
  const issues: Issue[] = []
  const take = (value: Json, pointer: Pointer): Json => {
    if (Array.isArray(value)) return value.map((item, index) => take(item, child(pointer, index)))
    if (!isObject(value)) return value
    const content = own(value, '$file')
    if (content === undefined)
      return Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, take(member as Json, child(pointer, name))]),
      )
    const file = readFile(content, pointer)
    if ('code' in file) {
      issues.push(file)
      return null
    }
    files.push(file)
    const { mediaType, name } = file
    return { $file: files.length, mediaType, ...(name !== undefined && { name }) }
  }
  const rest = take(inputs, '')
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  if (bytes > mostFileBytes)
    issues.push({
      code: 'model/file-size',
      at: { pointer: files.at(-1)?.pointer ?? '' },
      message: `the files of a call must have at most ${mostFileBytes} bytes, got ${bytes}`,
      hint: 'Send a smaller image, or fewer files in one call',
    })
  return { inputs: rest, files, issues }
}

function readFile(content: unknown, pointer: Pointer): TakenFile | Issue {
  const wrong = (member: string, message: string, hint: string): Issue => ({
    code: 'model/file',
    at: { pointer: `${pointer}/$file${member}` },
    message,
    hint,
  })
  if (!isObject(content))
    return wrong('', '`$file` must be an object', 'Write { "$file": { "mediaType": …, "data": … } }')
  const { mediaType, data, name } = content
  if (typeof mediaType !== 'string' || !/^[a-z]+\/[\w.+-]+$/i.test(mediaType))
    return wrong('/mediaType', 'mediaType must be a media type', 'Write one such as "image/png"')
  if (typeof data !== 'string' || data.length === 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    return wrong('/data', 'data must be base64', 'Encode the bytes of the file, without a "data:" prefix')
  if (name !== undefined && typeof name !== 'string')
    return wrong('/name', 'name must be a string', 'Leave it out, or write the name of the file')
  const bytes = Math.floor((data.replace(/=+$/, '').length * 3) / 4)
  return {
    pointer,
    mediaType: mediaType.toLowerCase(),
    ...(name !== undefined && { name }),
    bytes,
    sha256: sha256Hex(data),
    data,
  }
}

/** What is recorded of files. */
export function toReferences(files: readonly TakenFile[]): FileReference[] {
  return files.map(({ data: _, ...reference }) => reference)
}
