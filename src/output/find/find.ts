/** Finds the value in the text: lists the candidates, tries each against the schema, and chooses with `rank`. */
import { isObject } from '../../base/json.ts'
import { ANSWER, isCorrection, rankCue } from '../scan/cues.ts'
import type { Region } from '../scan/region.ts'
import { decodeBare, type Scan, type ScanOptions, scan } from '../scan/scan.ts'
import type { Guided } from '../schema/target.ts'
import { type Attempt, attempt, createTrial, type Trial } from './attempt.ts'
import { lastResorts } from './last-resorts.ts'
import { best, type Ranked } from './rank.ts'
import { fromRegions, isReference, strangeness, together, unescaped } from './readings.ts'
import { answerStart, quotedWhole, scalarAttempts, textRegion } from './scalars.ts'
import { isData, isSlight, LONGEST_BARE, survey, toScanOptions } from './survey.ts'
import { keywordCalls } from './tool-calls.ts'
import { lifted } from './unwrap.ts'
import { withXmlCalls } from './xml-calls.ts'

// Texts altered in transit: quoted like e-mail, or with HTML entities. Undone only when nothing else fits.

const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  apos: "'",
  amp: '&',
  lt: '<',
  gt: '>',
  nbsp: ' ',
  '#34': '"',
  '#39': "'",
}

/** Candidate originals of an altered text. */
function* rewritings(text: string): Generator<string> {
  if (text.length > 1_000_000) return
  if (/^[^\S\n]*>[^\S\n]?[^\n]*[{[]/m.test(text)) yield text.replace(/^[^\S\n]*> ?/gm, '')
  if (text.includes('&quot;') || text.includes('&#34;')) {
    yield text.replace(/&([a-z]{2,4}|#3[49]);/g, (entity, name: string) => ENTITIES[name] ?? entity)
  }
}

interface Found {
  readonly attempt: Attempt | undefined
  readonly tooDeep: boolean
}

export function find(trial: Trial): Found {
  const { guided } = trial.target
  const seen = survey(trial)
  if (guided === undefined) return { attempt: readFreely(trial, seen), tooDeep: seen.tooDeep }
  const first =
    trial.text.includes('&quot;') && !trial.text.includes('"') ? rewritten(trial, guided) : undefined
  const chosen = first ?? withShape(trial, guided, seen)
  return { attempt: chosen?.valid ? chosen : (rewritten(trial, guided) ?? chosen), tooDeep: seen.tooDeep }
}

/** Last attempt: undoes e-mail quoting or HTML entities. */
function rewritten(trial: Trial, guided: Guided): Attempt | undefined {
  for (const text of rewritings(trial.text)) {
    const other = createTrial(text, { ...trial, strict: undefined })
    const found = withShape(other, guided, survey(other))
    if (found === undefined || !found.valid) continue
    const { value } = found.region
    const edits = [{ rule: 'rewrite' as const, start: 0, end: trial.text.length, after: { value } }]
    const region = found.region.with({ start: 0, end: trial.text.length, edits, source: text })
    return { ...found, region }
  }
  return undefined
}

function withShape(trial: Trial, guided: Guided, seen: Scan): Attempt | undefined {
  const { kinds, declared } = guided
  if (!kinds.container) return best(scalarsFirst(trial, seen), trial.settings)
  const ranked = fromRegions(trial, withXmlCalls(trial, seen.regions), declared)
  for (const again of restarted(trial, seen, declared)) ranked.push(again)
  let chosen = best(ranked, trial.settings)
  if (chosen?.valid && !chosen.region.reasoning) return chosen
  for (const call of callsByKeyword(trial, seen, declared)) ranked.push(call)
  chosen = best(ranked, trial.settings)
  if (chosen?.valid) return chosen
  for (const resort of lastResorts(trial, seen, declared)) ranked.push(resort)
  chosen = best(ranked, trial.settings)
  if (chosen?.valid) return chosen
  // A bare word is not a candidate where an object or list is expected.
  const word = typeof chosen?.region.value !== 'object' && trial.strict === undefined
  if (!kinds.scalar) return word ? undefined : chosen
  return best([...ranked, ...plain(scalarAttempts(trial, seen))], trial.settings)
}

/**
 * Keyword-style calls. A draft in the reasoning is the answer only if no call in another notation occurs outside of it.
 */
function callsByKeyword(trial: Trial, seen: Scan, declared: ReadonlySet<string>): Ranked[] {
  const calls = keywordCalls(trial)
  if (calls.length === 0) return []
  const drafts = seen.regions.filter((region) => region.reasoning)
  const regions = [...drafts, ...calls].sort((a, b) => a.start - b.start)
  return fromRegions(trial, regions, declared).filter((r) => !r.attempt.region.reasoning)
}

function plain(attempts: readonly Attempt[]): Ranked[] {
  return attempts.map((tried) => ({ attempt: tried, tier: ANSWER, correction: false, extra: 0 }))
}

/** For scalar schemas: tries the text itself first, then values inside objects. */
function scalarsFirst(trial: Trial, seen: Scan): Ranked[] {
  const direct = plain(scalarAttempts(trial, seen))
  if (direct.some((r) => r.attempt.valid)) return direct
  const inside = seen.regions.flatMap((region) => [
    attempt(trial, region),
    ...(trial.settings.aop === 'full' ? lifted(trial, region, new Set()) : []),
  ])
  return [...direct, ...plain(inside)]
}

// Handles a model that broke off and began again: finds the second beginning inside the unfinished first value.

/** Reads the text that an unfinished value consumed as a value of its own. */
function restarted(trial: Trial, seen: Scan, declared: ReadonlySet<string>): Ranked[] {
  const broken = seen.regions.find((region) => region.editCount > 0)
  if (broken === undefined) return []
  for (const index of restarts(trial.text, broken)) {
    const cut = broken.with({ end: proseStart(trial.text, index) })
    const prose = trial.text.slice(Math.max(cut.end, index - 300), index).trimEnd()
    if (!/[:.!]$/.test(prose) || !/\p{L}{2}/u.test(prose) || /["{}[\]]/.test(prose)) continue
    const again = scan(trial.text, toScanOptions(trial), index).regions.filter(
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
    const first = at
    // A run of empty lines counts as one.
    while (text.startsWith('\n\n', at + 1)) at++
    const line = text.slice(at + 1, at + 80)
    const ink = line.trimStart()
    if (/^\s*\n|^[`~]{3,}/.test(line)) blank = blank < 0 ? first : blank
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

// Reads text without a schema: the first substantial value, else the values of the bare text, else the text itself.

const NO_NAMES: ReadonlySet<string> = new Set()

function readFreely(trial: Trial, seen: Scan): Attempt | undefined {
  const { text } = trial
  const options = toScanOptions(trial)
  const start = answerStart(trial)
  // A draft in the reasoning is the answer only if nothing follows it.
  const regions = start === 0 ? seen.regions : seen.regions.filter((region) => region.end > start)
  const quoted = quotedWhole(trial, start)
  if (quoted !== undefined) return attempt(trial, quoted)
  const members = membersWithoutBraces(text, options)
  if (members !== undefined) return attempt(trial, members)
  const lines = sequence(text, regions)
  if (lines !== undefined) return attempt(trial, lines)
  const lossy = regions.find((region) => region.uses('stray-value'))
  if (lossy !== undefined) return attempt(trial, lossy)
  const values = regions.filter((region) => !isReference(text, region))
  if (values.length > 0) return best(bySubstance(trial, values), trial.settings)
  if (seen.tooDeep || !/[\p{L}\p{N}]/u.test(text)) return undefined
  for (const [from, end] of [
    ...seen.blocks.map((b) => [b.start, b.end] as const),
    [start, text.length] as const,
  ]) {
    if (from < start || end - from > LONGEST_BARE) continue
    const region = decodeBare(text, from, end, options)
    if (region !== undefined && isData(region, text)) return attempt(trial, region)
  }
  const ink = text.length - text.trimStart().length
  return attempt(trial, textRegion(trial, [start || ink, text.trimEnd().length], start > 0))
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
      tier: rankCue(trial.text, region, previous, undefined) + (slight ? 0.5 : 0),
      correction: isCorrection(trial.text, region, previous),
      extra: strangeness(region.value, NO_NAMES),
    }
  })
}
