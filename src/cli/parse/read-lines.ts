/** `proviso parse --lines`: parses many texts in one process, for programs in other languages. Each line is a text as a JSON string. */
import { createReadStream } from 'node:fs'
import { exitCode } from '../exit-codes.ts'
import { printJson, refuse } from '../print.ts'
import { cannotOpen, inputName, type Unreadable } from '../read-input.ts'
import {
  loadSchema,
  type Reading,
  type ReadingRequest,
  readingAsData,
  readText,
  unusableInput,
} from './reading.ts'

/** Prints one line for each input line, in order. Returns 3 if a text did not meet the contract. */
export async function readLines({ file, schemaFile, maxBytes, options }: ReadingRequest): Promise<number> {
  const name = inputName(file)
  const loaded = await loadSchema(schemaFile)
  if ('kind' in loaded) return end(loaded)
  let [number, allMet] = [0, true]
  for await (const line of splitLines(file, maxBytes)) {
    if (typeof line !== 'string') return end(unusableInput(name, line))
    number++
    const text = parseText(line)
    const reading =
      text === undefined
        ? unusableInput(name, { message: `Line ${number} of ${name} must be a text as a JSON string` })
        : readText(text, { name, loaded, options })
    // An invalid schema ends the command, because it fails for every text.
    if (text !== undefined && reading.kind === 'unusable') return end(reading)
    printJson(readingAsData(reading), 'line')
    allMet &&= reading.kind === 'read' && reading.result.ok
  }
  return exitCode(allMet ? 'ok' : 'unmet')
}

function end(reading: Reading & { kind: 'unusable' }): number {
  printJson(readingAsData(reading), 'line')
  return refuse(reading.why)
}

function parseText(line: string): string | undefined {
  try {
    const text: unknown = JSON.parse(line)
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

/** Yields the lines as they arrive; the last item is the error if reading fails. */
async function* splitLines(file: string | undefined, maxBytes: number): AsyncGenerator<string | Unreadable> {
  const name = inputName(file)
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const chunks = file === undefined || file === '-' ? process.stdin : createReadStream(file)
  const tooLong = {
    message: `A line of ${name} is longer than ${maxBytes} bytes`,
    hint: 'Raise the limit with --max-bytes',
  }
  let parts: string[] = []
  let length = 0
  try {
    for await (const chunk of chunks) {
      const [first = '', ...others] = decoder.decode(chunk as Uint8Array, { stream: true }).split('\n')
      parts.push(first)
      length += first.length
      for (const next of others) {
        if (length > maxBytes) return yield tooLong
        yield parts.join('')
        parts = [next]
        length = next.length
      }
      if (length > maxBytes) return yield tooLong
    }
    parts.push(decoder.decode())
  } catch (error) {
    return yield error instanceof TypeError
      ? { message: `${name} is not UTF-8`, hint: 'Encode the lines as UTF-8' }
      : cannotOpen(name, error as NodeJS.ErrnoException)
  }
  const last = parts.join('')
  if (last !== '') yield last
}
