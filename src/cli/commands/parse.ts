/** `proviso parse`: model text in, the value that the schema wants out. */
import { type Command, Option } from 'commander'
import { ProvisoError } from '../../base/error.ts'
import type { Issue } from '../../base/issue.ts'
import { tokens } from '../../base/pointer.ts'
import {
  createReader,
  explain,
  type ParseOptions,
  type ParseResult,
  type Pushed,
  parse,
} from '../../output/index.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { printIssues, printJson, printNote, refuse } from '../print.ts'
import { inputName, readInput } from '../read-input.ts'
import { readSchema } from '../read-schema.ts'
import { wholeNumber } from '../whole-number.ts'

interface Flags {
  readonly schema?: string
  readonly aop?: 'off' | 'minimal' | 'full'
  readonly tolerance?: '0' | '1' | '2'
  readonly prefer?: 'first' | 'last' | 'largest'
  readonly acceptTruncated?: true
  readonly shadow?: true
  readonly json?: true
  readonly explain?: true
  readonly stream?: true
  readonly maxBytes: number
}

const examples = `
Examples:
  proviso parse answer.txt                            the value that a text holds
  model | proviso parse --schema order.json           … made to satisfy a schema
  proviso parse --schema order.json --explain a.txt   … with an account of every change, on stderr
  proviso parse --schema order.json --json a.txt      … as one object: ok, value, repairs, issues, …
  model | proviso parse --stream                      … part by part while the text arrives

${describeExitCodes(['ok', 'usage', 'unmet', 'interrupted'])}`

export function addParseCommand(program: Command): void {
  program
    .command('parse')
    .summary('read a value out of model text')
    .description('Reads the text of a model (prose, fences, broken JSON) into the value that a schema wants.')
    .argument('[file]', 'text to read; stdin when absent or "-"')
    .option('-s, --schema <file>', 'JSON Schema that the value must satisfy (a JSON file)')
    .addOption(new Option('--aop <level>', 'how much the reader may do').choices(['off', 'minimal', 'full']))
    .addOption(new Option('--tolerance <n>', 'how tolerant the decoders are').choices(['0', '1', '2']))
    .addOption(
      new Option('--prefer <which>', 'which of several equally good values').choices([
        'first',
        'last',
        'largest',
      ]),
    )
    .option('--accept-truncated', 'keep strings that were cut off at the end of the text')
    .option('--shadow', 'read strictly and say what the reader would have done')
    .option('--json', 'print the whole result as one JSON object on one line')
    .option('--explain', 'say on stderr what was changed and why')
    .option(
      '--stream',
      'print finished parts while the text arrives (JSON lines, unvalidated), then the result',
    )
    .option('--max-bytes <n>', 'longest text that is read', wholeNumber, 16 * 1024 * 1024)
    .addHelpText('after', examples)
    .action(async (file: string | undefined, flags: Flags) => {
      process.exitCode = await runParse(file, flags)
    })
}

async function runParse(file: string | undefined, flags: Flags): Promise<number> {
  const found = flags.schema === undefined ? { schema: undefined } : await readSchema(flags.schema)
  if ('unreadable' in found) return refuse(found.unreadable)
  const { schema } = found
  const options = readerOptions(flags)

  const reader = flags.stream ? createReader(schema, options) : undefined
  const onChunk = reader && ((chunk: string) => printFinished(reader.push(chunk)))
  const input = await readInput(file, { maxBytes: flags.maxBytes, ...(onChunk && { onChunk }) })
  if ('unreadable' in input) return refuse(input.unreadable)

  const result = reader ? reader.end() : parse(input.text, schema, options)
  const unusable = result.ok ? undefined : result.issues.find(isSchemaProblem)
  if (unusable !== undefined)
    throw new ProvisoError('schema/invalid', unusable.message, { at: unusable.at, hint: unusable.hint ?? '' })
  report(result, flags, inputName(file))
  return exitCode(result.ok ? 'ok' : 'unmet')
}

/** The schema cannot be used, so nothing can be said about the text. */
function isSchemaProblem({ code }: Issue): boolean {
  return code === 'schema/invalid' || code === 'schema/limit'
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

/** Each part that this chunk completed, with its value; the root comes with the result. */
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

function report(result: ParseResult<unknown>, flags: Flags, name: string): void {
  const explained = flags.explain || flags.shadow
  if (explained) printNote(explain(result))
  if (flags.json || flags.stream) {
    printJson(plain(result), 'line')
  } else if (result.ok) {
    printJson(result.value, 'indented')
    for (const { message, hint } of result.issues) printNote(`${message}. ${hint ?? ''}`.trim())
  } else if (!explained) {
    printIssues(result.issues, name, result.raw)
    if (result.truncated) printNote('The text ends before the value does.')
    printNote('Add --explain to see what was found and changed.')
  }
}

/** The result as data for machines; the text itself is what the caller already has. */
function plain(result: ParseResult<unknown>): Record<string, unknown> {
  const { repairs, issues, truncated, branches } = result
  return {
    ok: result.ok,
    ...(result.ok && { value: result.value }),
    repairs,
    issues,
    truncated,
    branches,
    ...(result.shadow && { shadow: plain(result.shadow) }),
  }
}
