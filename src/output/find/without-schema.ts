/** Reads text without a schema: the first substantial value, else the values of the bare text, else the text itself. */
import { isObject } from '../../base/json.ts'
import { isCorrection, tierOf } from '../scan/cues.ts'
import type { Region } from '../scan/region.ts'
import { decodeBare, type Scan, type ScanOptions } from '../scan/scan.ts'
import { type Attempt, attempt, type Trial } from './attempt.ts'
import { best, type Ranked } from './rank.ts'
import { strangeness, together, unescaped } from './readings.ts'
import { quotedWhole, textRegion } from './scalars.ts'
import { isData, isSlight, LONGEST_BARE, scanOptionsOf } from './survey.ts'

const NO_NAMES: ReadonlySet<string> = new Set()

export function readFreely(trial: Trial, seen: Scan): Attempt | undefined {
  const { text } = trial
  const options = scanOptionsOf(trial)
  const quoted = quotedWhole(trial)
  if (quoted !== undefined) return attempt(trial, quoted)
  const members = membersWithoutBraces(text, options)
  if (members !== undefined) return attempt(trial, members)
  const lines = sequence(text, seen.regions)
  if (lines !== undefined) return attempt(trial, lines)
  const lossy = seen.regions.find((region) => region.uses('stray-value'))
  if (lossy !== undefined) return attempt(trial, lossy)
  if (seen.regions.length > 0) return best(bySubstance(trial, seen.regions), trial.settings)
  if (seen.tooDeep || !/[\p{L}\p{N}]/u.test(text)) return undefined
  for (const [start, end] of [
    ...seen.blocks.map((b) => [b.start, b.end] as const),
    [0, text.length] as const,
  ]) {
    if (end - start > LONGEST_BARE) continue
    const region = decodeBare(text, start, end, options)
    if (region !== undefined && isData(region)) return attempt(trial, region)
  }
  return attempt(trial, textRegion(trial, text.length - text.trimStart().length, text.trimEnd().length))
}

/** `"a": 1, "b": 2` without the braces. */
function membersWithoutBraces(text: string, options: ScanOptions): Region | undefined {
  if (!/^\s*"[^"\n]{1,100}"\s*:/.test(text.slice(0, 200))) return undefined
  const region = decodeBare(text, 0, text.length, options)
  return isObject(region?.value) ? region : undefined
}

/** Values on separate lines or separated by commas, with nothing else in the text. */
function sequence(text: string, regions: readonly Region[]): Region | undefined {
  if (regions.length < 2 || regions.some((region) => region.fence !== undefined || region.reasoning))
    return undefined
  let at = 0
  for (const region of regions) {
    const between = text.slice(at, region.start).replace(/\/\*[^*]*\*\//g, '')
    if (!/^[\s,]*$/.test(between) || (at > 0 && !/[\n,]/.test(between))) return undefined
    at = region.end
  }
  if (!/^[\s,;]*$/.test(text.slice(at))) return undefined
  const full = regions.filter((region) => strangeness(region.value, NO_NAMES) === 0)
  return full.length === 1 ? full[0] : together(regions)
}

/** Ranks objects and lists of values before citations and placeholders in prose. */
function bySubstance(trial: Trial, regions: readonly Region[]): Ranked[] {
  return regions.map((region, index) => {
    const previous = regions[index - 1]
    const slight = region.fence === undefined && regions.length > 1 && isSlight(region.value)
    return {
      attempt: unescaped(trial, region) ?? attempt(trial, region),
      tier: tierOf(trial.text, region, previous, undefined) + (slight ? 0.5 : 0),
      correction: isCorrection(trial.text, region, previous),
      extra: strangeness(region.value, NO_NAMES),
    }
  })
}
