/** Finds the value in the text: lists the candidates, tries each against the schema, and chooses with `rank`. */

import { ANSWER } from '../scan/cues.ts'
import type { Scan } from '../scan/scan.ts'
import type { Guided } from '../schema/target.ts'
import { type Attempt, attempt, type Trial, trialOf } from './attempt.ts'
import { lastResorts } from './last-resorts.ts'
import { best, type Ranked } from './rank.ts'
import { fromRegions } from './readings.ts'
import { restarted } from './restart.ts'
import { scalarAttempts } from './scalars.ts'
import { survey } from './survey.ts'
import { keywordCalls } from './tool-calls.ts'
import { lifted } from './unwrap.ts'
import { readFreely } from './without-schema.ts'

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
    yield text.replace(/&(quot|apos|amp|lt|gt|nbsp|#34|#39);/g, (_, name: string) => ENTITIES[name] as string)
  }
}

export interface Found {
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
    const other = trialOf(text, { ...trial, strict: undefined })
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
  const ranked = fromRegions(trial, seen.regions, declared)
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
