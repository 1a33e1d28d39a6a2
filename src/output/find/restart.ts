/** Handles a model that broke off and began again: finds the second beginning inside the unfinished first value. */

import type { Region } from '../scan/region.ts'
import { type Scan, scan } from '../scan/scan.ts'
import type { Trial } from './attempt.ts'
import type { Ranked } from './rank.ts'
import { fromRegions } from './readings.ts'
import { isSlight, scanOptionsOf } from './survey.ts'

/** Reads the text that an unfinished value consumed as a value of its own. */
export function restarted(trial: Trial, seen: Scan, declared: ReadonlySet<string>): Ranked[] {
  const broken = seen.regions.find((region) => region.editCount > 0)
  if (broken === undefined) return []
  for (const index of restarts(trial.text, broken)) {
    const cut = broken.with({ end: proseStart(trial.text, index) })
    const prose = trial.text.slice(Math.max(cut.end, index - 300), index).trimEnd()
    if (!/[:.!]$/.test(prose) || !/\p{L}{2}/u.test(prose) || /["{}[\]]/.test(prose)) continue
    const again = scan(trial.text, scanOptionsOf(trial), index).regions.filter(
      (region) => !isSlight(region.value),
    )
    return fromRegions(trial, [cut, ...again], declared).filter((r) => r.attempt.region !== cut)
  }
  return []
}

/** Blank lines inside a region that are followed by the beginning of a value; at most a few. */
function restarts(text: string, within: Region): number[] {
  const found: number[] = []
  let blank = -1
  for (
    let at = text.indexOf('\n', within.start);
    at >= 0 && at < within.end && found.length < 8;
    at = text.indexOf('\n', at + 1)
  ) {
    if (blank < 0 && !mayBreak(text, at + 1)) continue
    const line = text.slice(at + 1, at + 80)
    const ink = line.trimStart()
    if (/^\s*\n|^[`~]{3,}/.test(line)) blank = blank < 0 ? at : blank
    else {
      if (blank >= 0 && /^[{[｛［]\s*["'“„‘«＂{[]/.test(ink)) found.push(blank)
      blank = -1
    }
  }
  return found
}

/** Whether the line at `from` may be blank or a fence: a cheap test that avoids copying most lines. */
function mayBreak(text: string, from: number): boolean {
  let i = from
  while (text[i] === ' ' || text[i] === '\t') i++
  return i >= text.length || !/[^\s`~]/.test(text[i] as string)
}

/** Start of the paragraph that ends at `index`. */
function proseStart(text: string, index: number): number {
  return Math.max(0, text.lastIndexOf('\n\n', index - 1))
}
