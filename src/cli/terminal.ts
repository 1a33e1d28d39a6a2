/** What the terminal on stderr can show, and texts made to fit it. */
import measureText from 'fast-string-truncated-width'
import { env } from './env.ts'

/** Whether a picture on stderr can be redrawn in place. */
export const canRedraw = process.stderr.isTTY === true && !env.isDumb

/** Whether a person sits at the terminal and can answer. */
export const isInteractive = canRedraw && process.stdin.isTTY === true

/** Rows for a picture; one line is left for the cursor. */
export function rowsLeft(): number {
  return Math.max((process.stderr.rows ?? 24) - 2, 3)
}

export function columns(): number {
  return Math.max(process.stderr.columns ?? 80, 20)
}

/** Rows of the terminal that a line takes where it is wrapped. */
export function countRows(line: string, width: number): number {
  return Math.max(1, Math.ceil(measureText(line).width / width))
}

const graphemes = new Intl.Segmenter()

/** Cuts a line to a width of terminal cells and marks the cut with `…`; closes colours. */
export function cutLine(line: string, width: number): string {
  if (measureText(line).width <= width) return line
  const ellipsis = env.isAscii ? '...' : '…'
  let left = width - ellipsis.length
  let kept = ''
  // Colours have no width and stay; the library's own cut counts signs before the cut too late.
  for (const [part, color] of line.matchAll(/(\u001b\[\d+m)|[^\u001b]+/g)) {
    if (color !== undefined) kept += color
    else
      for (const { segment } of graphemes.segment(part)) {
        left -= measureText(segment).width
        if (left < 0) return `${kept}${ellipsis}${kept.includes('\u001b[') ? '\u001b[0m' : ''}`
        kept += segment
      }
  }
  return kept
}

/** Signs of our own output and what stands for them where the locale is not UTF-8. */
const plain: Readonly<Record<string, string>> = {
  '✓': 'ok',
  '✗': 'x',
  '▸': '>',
  '·': '.',
  '↻': '~',
  '‖': '=',
  '⊘': '/',
  '–': '-',
  '…': '...',
  '├': '|',
  '└': '`',
  '│': '|',
  '─': '-',
  '×': 'x',
  '←': '<-',
  '→': '->',
}

const signs = new RegExp(`[${Object.keys(plain).join('')}]`, 'gu')

/** Replaces the signs of our own output if the locale is not UTF-8. */
export function toTerminal(text: string): string {
  return env.isAscii ? text.replace(signs, (sign) => plain[sign] ?? sign) : text
}
