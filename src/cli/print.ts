/** Prints results on stdout so that pipes work and everything else on stderr, with colours only for terminals and with keys redacted. */
import pc from 'picocolors'
import type { Issue } from '../base/errors/issue.ts'
import { createRedactor } from '../domain/redaction/redact.ts'
import { env } from './env.ts'
import { exitCode } from './exit-codes.ts'
import type { Unreadable } from './read-input.ts'
import { toTerminal } from './terminal.ts'

export const colors = pc.createColors(!env.noColor && (env.forceColor || process.stderr.isTTY === true))

/** Colours for pages on stdout. */
export const pageColors = pc.createColors(!env.noColor && (env.forceColor || process.stdout.isTTY === true))

export type Colors = typeof colors

/** Redacts API keys from everything that the CLI prints. */
export const redactor = createRedactor({ secrets: env.secrets })

/** Writes one JSON document to stdout: indented for reading, or on one line for machines. */
export function printJson(value: unknown, layout: 'indented' | 'line'): void {
  // A value that JSON cannot express (a custom stage can return one) prints as null instead of an empty line.
  const text = JSON.stringify(redactor.known(value), null, layout === 'indented' ? 2 : 0) ?? 'null'
  write(process.stdout, `${text}\n`)
}

export function printText(given: string): void {
  const known = redactor.known(given)
  // In a pipe the text stays as it is: it may be a patch.
  const text = process.stdout.isTTY ? toTerminal(known) : known
  write(process.stdout, text.endsWith('\n') ? text : `${text}\n`)
}

/** A picture that stays below all notes, such as the tree of a run. */
interface Picture {
  readonly hide: () => void
  readonly show: () => void
}

let below: Picture | undefined

/** Keeps a picture below the notes until the returned function is called. */
export function showBelow(picture: Picture): () => void {
  below = picture
  return () => {
    below = undefined
  }
}

/** Writes an explanation to stderr. */
export function printNote(given: string): void {
  const text = toTerminal(redactor.text(given))
  below?.hide()
  write(process.stderr, text.endsWith('\n') ? text : `${text}\n`)
  below?.show()
}

/** Prints a problem that ends the command, with a hint on what to do. */
export function printProblem(message: string, hint?: string): void {
  printNote(`${colors.red('error')} ${message}`)
  if (hint !== undefined) printNote(`  ${colors.dim(hint)}`)
}

/** Prints why an input cannot be used, and returns the exit code. */
export function refuse({ message, hint, issues = [], outcome = 'usage' }: Unreadable): number {
  printProblem(message, hint)
  for (const issue of issues) printIssue(issue)
  return exitCode(outcome)
}

/** Prints warnings about deprecated spellings: they still work, but should be replaced. */
export function printWarnings({ issues = [] }: Unreadable): void {
  for (const { location, message, hint } of issues) {
    printNote(`${colors.yellow('!')} ${colors.bold(location)}  ${message}`)
    if (hint !== undefined) printNote(`  ${colors.dim(hint)}`)
  }
}

/** Prints the issues of a value or a text, each with its location. `name` identifies the text in messages. */
export function printIssues(issues: readonly Issue[], name: string, text: string): void {
  for (const { at, ...issue } of issues) {
    const location =
      'span' in at ? `${name}:${lineAndColumn(text, at.span[0])}` : at.pointer || 'the whole value'
    printIssue({ ...issue, location })
  }
}

function printIssue({
  location,
  message,
  hint,
  excerpt,
}: {
  location: string
  message: string
  hint?: string
  excerpt?: string
}): void {
  printNote(`${colors.red('✗')} ${colors.bold(location)}  ${message}`)
  if (excerpt !== undefined) printNote(excerpt)
  if (hint !== undefined) printNote(`  ${colors.dim(hint)}`)
}

/** Returns `line:column` of an offset, both counted from one. */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return `${before.split('\n').length}:${offset - lineStart + 1}`
}

/** Whether the process continues when its output cannot be written. */
let isOutputOptional = false

/** Lets a process that serves others continue when its output cannot be written: the disk of its log may be full, or its reader gone. */
export function continueWithoutOutput(): void {
  isOutputOptional = true
}

/** Writes a line of a log. */
export function writeLog(line: string): void {
  write(process.stderr, line)
}

function write(stream: NodeJS.WriteStream, text: string): void {
  try {
    stream.write(text)
  } catch (cause) {
    // Files are written at once, and throw.
    if (!isOutputOptional) throw cause
  }
}

/** Exits quietly on EPIPE: a consumer that stops early, such as `head`, is not an error. */
export function surviveClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (isOutputOptional) return
      if (error.code !== 'EPIPE') throw error
      process.exit()
    })
  }
}
