/** `proviso parse`: reads the value that a schema describes out of model text. */
import { createReadStream } from 'node:fs'
import { type Command, Option } from 'commander'
import { tokens } from '../../base/pointer.ts'
import type { ParseOptions, Pushed } from '../../output/index.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { wholeNumber } from '../options/option-parsers.ts'
import {
  loadSchema,
  type Reading,
  type ReadingRequest,
  type ReportFlags,
  readAnswer,
  readingAsData,
  readText,
  reportReading,
  unusableInput,
} from '../parse/reading.ts'
import { cannotWatch, watchReadings } from '../parse/watch-readings.ts'
import { printJson, refuse } from '../print.ts'
import { cannotOpen, inputName, type Unreadable } from '../read-input.ts'

interface Flags extends ReportFlags {
  readonly schema?: string
  readonly aop?: 'off' | 'minimal' | 'full'
  readonly tolerance?: '0' | '1' | '2'
  readonly prefer?: 'first' | 'last' | 'largest'
  readonly acceptTruncated?: true
  readonly watch?: true
  readonly lines?: true
  readonly maxBytes: number
}

const examples = `
Examples:
  proviso parse answer.txt                            print the value in a text
  model | proviso parse --schema order.json           coerce the value to a schema
  proviso parse --schema order.json --explain a.txt   explain every change on stderr
  proviso parse --schema order.json --json a.txt      print ok, value, repairs, issues, diagnostics, …
  proviso parse --schema order.json --watch a.txt     parse again on every change
  model | proviso parse --stream                      print parts while the text arrives

${describeExitCodes(['ok', 'usage', 'unmet', 'interrupted'])}`

export function addParseCommand(program: Command): void {
  program
    .command('parse')
    .summary('parse model text into a value')
    .description('parse model text (prose, fences, broken JSON) into a value that satisfies a schema')
    .argument('[file]', 'text file; "-" or no file is stdin')
    .option('-s, --schema <file>', 'JSON Schema of the value (a JSON file)')
    .addOption(new Option('--aop <level>', 'level of coercion').choices(['off', 'minimal', 'full']))
    .addOption(new Option('--tolerance <n>', 'tolerance of the decoders').choices(['0', '1', '2']))
    .addOption(
      new Option('--prefer <which>', 'choice among equally good values').choices([
        'first',
        'last',
        'largest',
      ]),
    )
    .option('--accept-truncated', 'keep strings cut off at the end of the text')
    .option('--shadow', 'parse strictly, and report the repairs without applying them')
    .option('--json', 'print the whole result as one line of JSON')
    .option('--explain', 'explain every change on stderr')
    .option('--problems', 'print each issue and repair on stderr as FILE:LINE:COLUMN: severity code: message')
    .option('--lines', 'parse one text per line (each a JSON string), and print one line of --json for each')
    .option('-w, --watch', 'parse again on every change of the text file or the schema file, until Ctrl-C')
    .option(
      '--stream',
      'print finished parts while the text arrives (JSON lines, unvalidated), then the result',
    )
    .option('--max-bytes <n>', 'maximum length of the text', wholeNumber, 16 * 1024 * 1024)
    .addHelpText('after', examples)
    .action(async (file: string | undefined, flags: Flags) => {
      process.exitCode = await runParse(file, flags)
    })
}

async function runParse(file: string | undefined, flags: Flags): Promise<number> {
  const request: ReadingRequest = {
    file,
    schemaFile: flags.schema,
    maxBytes: flags.maxBytes,
    options: readerOptions(flags),
    ...(flags.stream && { onPush: printFinished }),
  }
  if (flags.lines) {
    const other = flags.watch ? '--watch' : flags.stream ? '--stream' : undefined
    return other ? refuse({ message: `Cannot combine --lines and ${other}` }) : readLines(request)
  }
  if (!flags.watch) return reportReading(await readAnswer(request), flags)
  const refused = cannotWatch(request)
  return refused ? refuse(refused) : watchReadings(request, flags)
}

function readerOptions(flags: Flags): ParseOptions {
  return {
    limits: { bytes: flags.maxBytes },
    ...(flags.aop && { aop: flags.aop }),
    ...(flags.tolerance && { tolerance: Number(flags.tolerance) as 0 | 1 | 2 }),
    ...(flags.prefer && { prefer: flags.prefer }),
    ...(flags.acceptTruncated && { acceptTruncated: true }),
    ...(flags.shadow && { shadow: true }),
  }
}

/** Prints each part that this chunk completed, with its value; the root is printed with the result. */
function printFinished({ partial, finished, replaced }: Pushed<unknown>): void {
  if (replaced) printJson({ replaced: true }, 'line')
  for (const pointer of finished) {
    if (pointer !== '') printJson({ finished: pointer, value: valueAt(partial, pointer) }, 'line')
  }
}

function valueAt(value: unknown, pointer: string): unknown {
  return tokens(pointer).reduce<unknown>(
    (inside, token) =>
      typeof inside === 'object' && inside !== null && Object.hasOwn(inside, token)
        ? (inside as Record<string, unknown>)[token]
        : undefined,
    value,
  )
}

// `proviso parse --lines`: parses many texts in one process, for programs in other languages. Each line is a text as a JSON string.

/** Prints one line for each input line, in order. Returns 3 if a text did not meet the contract. */
async function readLines({ file, schemaFile, maxBytes, options }: ReadingRequest): Promise<number> {
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
