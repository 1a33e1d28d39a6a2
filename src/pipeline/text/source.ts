/** A source file with its line starts: converts offsets to lines and columns, and renders excerpts with a caret. */

import type { Issue, TextRange } from '../../base/errors/issue.ts'
import type { Pointer } from '../../base/pointer.ts'
import type { ViolationCode } from '../../schema/issue-table.ts'
import type { FileViolationCode, PipelineIssueCode } from './issue-table.ts'

// Makes one line printable above a caret: replaces every invisible character by a visible one.

const invisible = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029\u00a0]/gu

/** Each UTF-16 unit stays one unit, so that the caret below is aligned; tabs become a space. */
function visible(text: string): string {
  return text.replace(invisible, (char) => (char === '\t' ? ' ' : '\ufffd'.repeat(char.length)))
}

export interface Source {
  /** Name in messages: its path, or `pipeline`. */
  readonly name: string
  readonly text: string
  /** Offsets at which lines begin; the first is 0. */
  readonly lineStarts: readonly number[]
}

/** An issue in a source file, ready to be printed. */
export interface SourceIssue<Code extends string = PipelineIssueCode> extends Issue<Code> {
  readonly at: { readonly span: TextRange }
  /** The file it is in. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 units. */
  readonly column: number
  /** The line, with a caret under the range. */
  readonly excerpt: string
  /** Pointer into the parsed value, if the file could be parsed. */
  readonly pointer?: Pointer
}

/** A finding at a range; the source adds line, column and excerpt. */
export interface Finding<Code extends string = PipelineIssueCode> extends Omit<Issue<Code>, 'at'> {
  readonly range: TextRange
  readonly pointer?: Pointer
}

/** The code of a violation of the schema of a file. */
export function toFileCode(kind: 'pipeline' | 'config', code: ViolationCode): FileViolationCode {
  // `replace` returns any text; the result has the type that the function says.
  return code.replace('schema', kind) as FileViolationCode
}

export function createSource(text: string, name = 'pipeline'): Source {
  const lineStarts = [0]
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === 13 && text.charCodeAt(at + 1) === 10) at++
    if (char === 10 || char === 13) lineStarts.push(at + 1)
  }
  return { name, text, lineStarts }
}

export function issueAt<Code extends string>(
  source: Source,
  { range, ...said }: Finding<Code>,
): SourceIssue<Code> {
  const { line, column } = toPosition(source, range[0])
  return { ...said, at: { span: range }, file: source.name, line, column, excerpt: excerptAt(source, range) }
}

/** Line and column, both from 1. */
export function toPosition({ lineStarts }: Source, offset: number): { line: number; column: number } {
  let [low, high] = [0, lineStarts.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((lineStarts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 }
}

/** The text of a line (1-based), without its line break. */
export function lineText({ text, lineStarts }: Source, line: number): string {
  return text
    .slice(lineStarts[line - 1] ?? text.length, lineStarts[line] ?? text.length)
    .replace(/[\r\n]+$/, '')
}

/** Maximum number of characters shown of one line; longer lines are cut around the range. */
const widest = 100

/** ```
 *   3 | steps: [
 *     |        ^
 * ``` */
function excerptAt(source: Source, [start, end]: TextRange): string {
  const { line, column } = toPosition(source, start)
  const whole = lineText(source, line)
  const from = whole.length <= widest ? 0 : Math.max(0, column - 1 - widest / 2)
  const before = visible(whole.slice(from, column - 1))
  const after = visible(whole.slice(column - 1, from + widest))
  const cut = { start: from > 0 ? '…' : '', end: from + widest < whole.length ? '…' : '' }
  const width = Math.max(1, Math.min(end - start, after.length))
  const number = String(line)
  return [
    `  ${number} | ${cut.start}${before}${after}${cut.end}`,
    `  ${' '.repeat(number.length)} | ${' '.repeat(cut.start.length + before.length)}${'^'.repeat(width)}`,
  ].join('\n')
}

/** Renders `file:line:column: message`, the excerpt and the hint. */
export function describeSourceIssue({
  file,
  line,
  column,
  message,
  excerpt,
  hint,
}: SourceIssue<string>): string {
  const head = `${file}:${line}:${column}: ${message}`
  return [head, excerpt, ...(hint === undefined ? [] : [`  ${hint}`])].join('\n')
}
