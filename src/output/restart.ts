/** A model that broke off and began again: the second beginning, which the unfinished first value has swallowed. */
import type { Trial } from './attempt.ts'
import type { Ranked } from './rank.ts'
import { fromRegions } from './readings.ts'
import type { Region } from './region.ts'
import { type Scan, scan } from './scan.ts'
import { isSlight, scanOptionsOf } from './survey.ts'

/** The model broke off and began again: what an unfinished value has swallowed is read for itself. */
export function restarted(trial: Trial, seen: Scan, declared: ReadonlySet<string>): Ranked[] {
  const broken = seen.regions.find((region) => region.edits.length > 0)
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

/** Where the paragraph that ends at `index` begins. */
function proseStart(text: string, index: number): number {
  return Math.max(0, text.lastIndexOf('\n\n', index - 1))
}
