/** How the command speaks: results on stdout so that pipes work, everything else on stderr, colours for people only. */
import pc from 'picocolors'
import type { Issue } from '../base/issue.ts'
import { env } from './env.ts'
import { exitCode } from './exit-codes.ts'
import type { Unreadable } from './read-input.ts'

export const colors = pc.createColors(!env.noColor && (env.forceColor || process.stderr.isTTY === true))

/** For pages on stdout. */
export const pageColors = pc.createColors(!env.noColor && (env.forceColor || process.stdout.isTTY === true))

export type Colors = typeof colors

/** Writes one JSON document to stdout: indented for reading, or on one line for machines. */
export function printJson(value: unknown, layout: 'indented' | 'line'): void {
  // A value that JSON cannot express (a custom stage can make one) prints as null rather than as an empty line.
  const text = JSON.stringify(value, null, layout === 'indented' ? 2 : 0) ?? 'null'
  process.stdout.write(`${text}\n`)
}

export function printText(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** Writes an explanation to stderr. */
export function printNote(text: string): void {
  process.stderr.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** One problem that ends the command: what happened, and what to do. */
export function printProblem(message: string, hint?: string): void {
  printNote(`${colors.red('error')} ${message}`)
  if (hint !== undefined) printNote(`  ${colors.dim(hint)}`)
}

/** Input that cannot be used ends the command: says why, and returns the exit code. */
export function refuse({ message, hint, issues = [], outcome = 'usage' }: Unreadable): number {
  printProblem(message, hint)
  for (const issue of issues) printIssue(issue)
  return exitCode(outcome)
}

/** What was said in an older way: it counts, but should be said anew. */
export function printWarnings({ issues = [] }: Unreadable): void {
  for (const { place, message, hint } of issues) {
    printNote(`${colors.yellow('!')} ${colors.bold(place)}  ${message}`)
    if (hint !== undefined) printNote(`  ${colors.dim(hint)}`)
  }
}

/** Issues of a value or a text, each with its place. `name` is how the text is called in messages. */
export function printIssues(issues: readonly Issue[], name: string, text: string): void {
  for (const { at, ...issue } of issues) {
    const place =
      'span' in at ? `${name}:${lineAndColumn(text, at.span[0])}` : at.pointer || 'the whole value'
    printIssue({ ...issue, place })
  }
}

function printIssue({
  place,
  message,
  hint,
  excerpt,
}: {
  place: string
  message: string
  hint?: string
  excerpt?: string
}): void {
  printNote(`${colors.red('✗')} ${colors.bold(place)}  ${message}`)
  if (excerpt !== undefined) printNote(excerpt)
  if (hint !== undefined) printNote(`  ${colors.dim(hint)}`)
}

/** `line:column` of an offset, both counted from one. */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  return `${before.split('\n').length}:${offset - lineStart + 1}`
}

/** A reader that stops early, such as `head`, is no error: end quietly. */
export function surviveClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      process.exit()
    })
  }
}
