/** Reads text from a file or from stdin, whole or in chunks as they arrive. Accepts UTF-8 only, up to a size limit. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import type { Position } from './diagnostics/positions.ts'

/** Why an input cannot be read: an expected outcome that ends the command with exit code 2. */
export interface Unreadable {
  readonly message: string
  readonly hint?: string
  /** Issues inside the input, each with its location. */
  readonly issues?: readonly {
    readonly location: string
    readonly message: string
    readonly hint?: string
    /** The line, with a caret under the location. */
    readonly excerpt?: string
  }[]
  /** The file does not exist. */
  readonly missing?: true
  /** Where in the file reading fails, counted from zero, if known. */
  readonly position?: Position
  /** Outcome of the command. Default `usage`. */
  readonly outcome?: 'usage' | 'importFailed'
}

type Input = { readonly text: string } | { readonly unreadable: Unreadable }

interface InputOptions {
  /** Maximum number of bytes to read. */
  readonly maxBytes: number
  /** Receives every chunk of decoded text when it arrives. */
  readonly onChunk?: (chunk: string) => void
}

/** Name of an input in messages. */
export function inputName(file: string | undefined): string {
  return file === undefined || file === '-' ? 'stdin' : file
}

/** Reads a whole input; `undefined` and `-` mean stdin. */
export async function readInput(file: string | undefined, options: InputOptions): Promise<Input> {
  const name = inputName(file)
  // Keeps the BOM: offsets count from the start of the input.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const parts: string[] = []
  const take = (text: string) => {
    if (text === '') return
    parts.push(text)
    options.onChunk?.(text)
  }
  let bytes = 0
  try {
    for await (const chunk of await open(file)) {
      const part = chunk as Uint8Array
      const before = bytes
      bytes += part.byteLength
      if (bytes > options.maxBytes) return { unreadable: tooLong(name, options.maxBytes) }
      try {
        take(decoder.decode(part, { stream: true }))
      } catch {
        return { unreadable: notUtf8(name, part, before) }
      }
    }
  } catch (error) {
    return { unreadable: cannotOpen(name, error as NodeJS.ErrnoException) }
  }
  try {
    take(decoder.decode())
  } catch {
    const message = `${name} is not UTF-8: it ends in the middle of a character, after ${bytes} bytes`
    return { unreadable: { message, hint: 'Save the whole text as UTF-8 and try again' } }
  }
  return { text: parts.join('') }
}

async function open(file: string | undefined): Promise<AsyncIterable<unknown>> {
  if (file === undefined || file === '-') {
    if (process.stdin.isTTY)
      process.stderr.write('Reading from the terminal; end with Ctrl-D on an empty line.\n')
    return process.stdin
  }
  if ((await stat(file)).isDirectory()) throw Object.assign(new Error('is a folder'), { code: 'EISDIR' })
  return createReadStream(file)
}

function tooLong(name: string, maxBytes: number): Unreadable {
  return {
    message: `${name} is longer than ${maxBytes} bytes`,
    hint: 'Shorten the text, or raise --max-bytes',
  }
}

function notUtf8(name: string, part: Uint8Array, before: number): Unreadable {
  const utf16 =
    before === 0 && ((part[0] === 0xff && part[1] === 0xfe) || (part[0] === 0xfe && part[1] === 0xff))
  if (utf16) {
    return {
      message: `${name} is UTF-16, not UTF-8`,
      hint: 'Convert it first: iconv -f UTF-16 -t UTF-8',
    }
  }
  return {
    message: `${name} is not UTF-8: bad byte near offset ${before + suspectByte(part, before > 0)}`,
    hint: 'Convert it first, for example: iconv -f WINDOWS-1252 -t UTF-8',
  }
}

/** Finds the first byte of a chunk that is not UTF-8, by binary search; a later chunk may begin inside a character. */
function suspectByte(part: Uint8Array, continued: boolean): number {
  const start = continued ? part.findIndex((byte) => (byte & 0xc0) !== 0x80) : 0
  if (start < 0 || start > 3 || decodes(part.subarray(start))) return 0
  let [good, bad] = [start, part.byteLength]
  while (bad - good > 1) {
    const middle = (good + bad) >> 1
    if (decodes(part.subarray(start, middle))) good = middle
    else bad = middle
  }
  // Steps back to the start of the incomplete character that the decoder was still reading.
  while (good > start && !decodes(part.subarray(start, good), 'whole')) good--
  return good
}

function decodes(part: Uint8Array, extent: 'begin' | 'whole' = 'begin'): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(part, { stream: extent === 'begin' })
    return true
  } catch {
    return false
  }
}

export function cannotOpen(name: string, error: NodeJS.ErrnoException): Unreadable {
  const reasons: Record<string, string> = {
    ENOENT: 'no such file',
    EACCES: 'permission denied',
    EISDIR: 'it is a folder',
  }
  return {
    message: `Cannot read ${name}: ${reasons[error.code ?? ''] ?? error.message}`,
    hint: 'Pass the path of a text file, or pipe the text to stdin',
    ...(error.code === 'ENOENT' && { missing: true }),
  }
}
