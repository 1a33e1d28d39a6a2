/** What stands in the text: every region, with strict JSON and quoted or bracketed wholes taken as what they are. */
import type { Trial } from './attempt.ts'
import type { Region } from './region.ts'
import { decodeBare, type Scan, type ScanOptions, scan, strictRegion } from './scan.ts'
import { deeperThan } from './strict.ts'

/** Longer texts are not read without brackets of their own: that is for answers, not for megabytes of something else. */
export const LONGEST_BARE = 1_000_000

export function scanOptionsOf({ settings, allowance }: Pick<Trial, 'settings' | 'allowance'>): ScanOptions {
  return { depth: settings.limits.depth, acceptTruncated: settings.acceptTruncated, allowance }
}

/** Strict JSON has been read already: then there is one region, the text. */
export function survey(trial: Trial): Scan {
  const options = scanOptionsOf(trial)
  const { text, strict } = trial
  if (typeof strict?.value !== 'object' || strict.value === null)
    return introduced(trial, scan(text, options), options)
  if (deeperThan(strict.value, options.depth)) return { regions: [], blocks: [], tooDeep: true }
  return { regions: [strictRegion(text, strict.value, options)], blocks: [], tooDeep: false }
}

/** A fence, tag or text that is one quoted string or one pair of round brackets: that is the value, not what is in it. */
function introduced(trial: Trial, seen: Scan, options: ScanOptions): Scan {
  const { text } = trial
  const whole = { start: 0, end: text.length, reasoning: false, kind: 'text', name: '' }
  const found: Region[] = []
  for (const block of [
    whole,
    ...seen.blocks.filter((b) => b.kind === 'fence' || b.end - b.start < 100_000),
  ]) {
    const first = /^[\s\ufeff\u200b]*(["(])/.exec(
      text.slice(block.start, Math.min(block.end, block.start + 80)),
    )
    if (first === null) continue
    const region = decodeBare(text, block.start, block.end, options)
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
  const outside = seen.regions.filter((r) => !found.some((f) => f.start <= r.start && r.end <= f.end))
  return { ...seen, regions: [...outside, ...found].sort((a, b) => a.start - b.start) }
}

/** `[1]`, `[x]`: what prose puts into brackets. */
export function isSlight(value: unknown): boolean {
  return (
    Array.isArray(value) &&
    value.length === 1 &&
    !value.some((item) => typeof item === 'object' && item !== null)
  )
}

/** Something other than words. */
export function isData(region: Region): boolean {
  const { node } = region
  if (node.items === undefined) return !(node.kind === 'string' && node.bare)
  if (node.kind === 'object') return true
  const kinds = new Set(node.items.map((item) => item.items !== undefined))
  if (region.implicit && kinds.size > 1) return false
  return node.items.every(
    (item) => item.kind !== 'string' || !item.bare || /^[^\s<>`]+$/.test(String(item.value)),
  )
}
