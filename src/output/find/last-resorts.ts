/** Fallbacks when no region fits: members without braces, regions that began too early, lines of key and value. */

import { ANSWER } from '../scan/cues.ts'
import type { Region } from '../scan/region.ts'
import { decodeBare, type Scan, scan } from '../scan/scan.ts'
import type { Guided } from '../schema/target.ts'
import { attempt, type Trial } from './attempt.ts'
import { bulletLines, keyLines } from './key-lines.ts'
import type { Ranked } from './rank.ts'
import { fromRegions, listWanted } from './readings.ts'
import { isData, LONGEST_BARE, scanOptionsOf } from './survey.ts'

/** How often a region that consumed the rest of the text is rescanned from inside. */
const RESCANS = 4

export function lastResorts(trial: Trial, seen: Scan, declared: ReadonlySet<string>): Ranked[] {
  if (trial.text.length > LONGEST_BARE) return []
  const options = scanOptionsOf(trial)
  const guided = trial.target.guided as Guided
  const regions: Region[] = []
  for (const [start, end] of bareRanges(trial, seen)) {
    const region = decodeBare(trial.text, start, end, options)
    if (region === undefined) continue
    if (!listWanted(trial) || isData(region)) regions.push(region)
  }
  const ink = trial.text.length - trial.text.trimStart().length
  let swallowed = seen.regions.find(
    (region) => region.start > ink && region.fence === undefined && beganTooEarly(region),
  )
  for (let i = 0; swallowed !== undefined && i < RESCANS; i++) {
    const again = scan(trial.text, options, swallowed.start + 1).regions
    for (const region of again) regions.push(region)
    swallowed = again.find(beganTooEarly)
  }
  const ranked = fromRegions(trial, regions, declared).map((r) => ({ ...r, extra: r.extra + 30 }))
  const lines = listWanted(trial) ? bulletLines(trial.text) : keyLines(trial.text, guided)
  if (lines !== undefined)
    ranked.push({ attempt: attempt(trial, lines), tier: ANSWER, correction: false, extra: 40 })
  return ranked
}

/** Whether a region runs to the end of the text and contains non-JSON: its opening bracket belonged to the prose. */
function beganTooEarly(region: Region): boolean {
  return region.truncated && region.start > 0 && region.edits.some((edit) => PROSE_RULES.has(edit.rule))
}

const PROSE_RULES: ReadonlySet<string> = new Set([
  'stray-text',
  'bare-value',
  'inner-quote',
  'missing-colon',
  'missing-quote',
  'bare-key',
])

/** Ranges that may hold a value without brackets: the whole text, or a fence or tag in it. */
function bareRanges({ text, allowance }: Trial, seen: Scan): [number, number][] {
  const ranges: [number, number][] = []
  const start = text.length - text.trimStart().length
  const first = seen.regions[0]
  if (first === undefined || first.start > start) ranges.push([start, text.length])
  for (const block of seen.blocks) {
    if (!allowance.spend(seen.regions.length, block.start)) break
    if (!seen.regions.some((region) => region.start >= block.start && region.end <= block.end))
      ranges.push([block.start, block.end])
  }
  return ranges.slice(0, 20)
}
