/** Lists the regions of the text; strict JSON and values that are quoted or bracketed as a whole become one region. */

import { isOpener } from '../decode/chars.ts'
import { findThoughtEnd, THOUGHT_END, THOUGHT_START } from '../decode/ends.ts'
import { deeperThan } from '../decode/strict.ts'
import { hasFastPaths } from '../fast-paths.ts'
import type { Region } from '../scan/region.ts'
import { decodeBare, type Scan, type ScanOptions, scan, strictRegion } from '../scan/scan.ts'
import type { Trial } from './attempt.ts'
import { findCallKeys } from './call-keys.ts'
import { areWords } from './list-lines.ts'

/** Longer texts are not read without brackets: bare values are short answers, not megabytes of other text. */
export const LONGEST_BARE = 1_000_000

export function toScanOptions({ settings, allowance, target }: Trial): ScanOptions {
  const { guided } = target
  // Scalars are sought outside of every object and list, and any object or list may be a call.
  const keepsAll =
    !hasFastPaths || guided === undefined || guided.kinds.scalar || findCallKeys(guided) !== undefined
  return {
    depth: settings.limits.depth,
    acceptTruncated: settings.acceptTruncated,
    allowance,
    keeps: keepsAll ? undefined : (value) => target.check(value).ok,
  }
}

/** Lists the regions. Text already parsed as strict JSON is a single region. */
export function survey(trial: Trial): Scan {
  const options = toScanOptions(trial)
  const { text, strict } = trial
  if (typeof strict?.value !== 'object' || strict.value === null)
    return introduced(trial, scan(text, options), options)
  if (deeperThan(strict.value, options.depth)) return { regions: [], blocks: [], tooDeep: true }
  return { regions: [strictRegion(text, strict.value, options)], blocks: [], tooDeep: false }
}

interface BlockRange {
  readonly start: number
  readonly end: number
  readonly reasoning: boolean
  readonly kind: string
  readonly name: string
}

/**
 * A fence, tag or text that is one quoted string or one pair of round brackets: the whole is the value, not its
 * content.
 */
function introduced(trial: Trial, seen: Scan, options: ScanOptions): Scan {
  const { text } = trial
  const whole: BlockRange = { start: 0, end: text.length, reasoning: false, kind: 'text', name: '' }
  const found: Region[] = []
  const single = { ...options, onlyOne: true }
  for (const block of [
    whole,
    ...seen.blocks.filter((b) => b.kind === 'fence' || b.end - b.start < 100_000),
    ...quotedLines(text, seen),
  ]) {
    // The common case, without a regular expression.
    if (isOpener(text.charCodeAt(block.start))) continue
    const first = /^[\s\ufeff\u200b]*(["(])/.exec(
      text.slice(block.start, Math.min(block.end, block.start + 80)),
    )
    if (first === null) continue
    const region = decodeBare(text, block.start, block.end, single)
    const complete =
      region !== undefined &&
      !region.truncated &&
      /^[\s\u200b\ufeff;]*$/.test(text.slice(region.end, block.end))
    if (
      !complete ||
      !(first[1] === '('
        ? Array.isArray(region.value) && !region.implicit
        : typeof region.value === 'string' && !region.bare)
    )
      continue
    found.push(
      region.with({ reasoning: block.reasoning, fence: block.kind === 'fence' ? block.name : undefined }),
    )
  }
  if (found.length === 0) return seen
  const outside = seen.regions.filter((r) => !found.some((f) => f.start <= r.start && r.start < f.end))
  return { ...seen, regions: [...outside, ...found].sort((a, b) => a.start - b.start) }
}

/** Whether a reasoning block is open at `start`, or an unopened one is closed behind `end`. */
export function isReasoned(text: string, start: number, end: number): boolean {
  const before = text.slice(0, start)
  const opened = before.split(THOUGHT_START).length - 1
  const closed = before.split(THOUGHT_END).length - 1
  if (opened > closed) return true
  return findThoughtEnd(text.slice(end)) !== undefined
}

const QUOTED_LINE = /[^\S\n]*"(?:[^"\\\n]|\\.)*"[^\S\n]*$/my
const LINE_END = /[\n\r\u2028\u2029]/g
const MOST_LINES = 20

/** Lines between prose that are one JSON string each and contain an escape: an encoded answer. */
function quotedLines(text: string, seen: Scan): BlockRange[] {
  if (!text.includes('\\')) return []
  const lines: BlockRange[] = []
  let next = 0
  for (
    let start = 0, end = 0;
    start < text.length && lines.length < MOST_LINES;
    start = nextLine(text, end)
  ) {
    end = start
    while (next < seen.regions.length && (seen.regions[next] as Region).end <= start) next++
    const region = seen.regions[next]
    if (region !== undefined && region.start < start) {
      // Inside of a region: continue behind it.
      end = region.end - 1
      continue
    }
    QUOTED_LINE.lastIndex = start
    if (isOpener(text.charCodeAt(start)) || !QUOTED_LINE.test(text)) continue
    end = QUOTED_LINE.lastIndex
    const line = text.slice(start, end)
    if (!line.includes('\\') || !/[{[]/.test(line)) continue
    lines.push({ start, end, reasoning: isReasoned(text, start, end), kind: 'text', name: '' })
  }
  return lines
}

function nextLine(text: string, from: number): number {
  LINE_END.lastIndex = from
  return LINE_END.test(text) ? LINE_END.lastIndex : text.length
}

/** `[1]`, `[x]`: bracketed citations in prose. */
export function isSlight(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length === 1 &&
    !value.some((item) => typeof item === 'object' && item !== null)
  )
}

/** Something other than prose. */
export function isData(region: Region, text: string): boolean {
  const { node } = region
  if (node.items === undefined) return !(node.kind === 'string' && node.bare)
  if (node.kind === 'object') return true
  const kinds = new Set(node.items.map((item) => item.items !== undefined))
  if (region.implicit && kinds.size > 1) return false
  return areWords(region, text)
}
