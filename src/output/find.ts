/** Finds the value in the text: lists the candidates, tries each against the schema, and lets `rank` choose. */
import { type Attempt, attempt, type Trial, trialOf } from './attempt.ts'
import { ANSWER } from './cues.ts'
import { readFreely } from './free.ts'
import { lastResorts } from './last-resorts.ts'
import { lifted } from './lift.ts'
import { best, type Ranked } from './rank.ts'
import { fromRegions } from './readings.ts'
import { restarted } from './restart.ts'
import { rewritings } from './rewrite.ts'
import { scalarAttempts } from './scalars.ts'
import type { Scan } from './scan.ts'
import { survey } from './survey.ts'
import type { Guided } from './target.ts'

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

/** Nothing fits: perhaps the text was quoted like a mail, or written with HTML entities. */
function rewritten(trial: Trial, guided: Guided): Attempt | undefined {
  for (const text of rewritings(trial.text)) {
    const other = trialOf(text, { ...trial, strict: undefined })
    const found = withShape(other, guided, survey(other))
    if (found === undefined || !found.valid) continue
    const { value } = found.region
    const edits = [{ rule: 'rewrite' as const, start: 0, end: trial.text.length, after: { value } }]
    const region = found.region.with({ start: 0, end: trial.text.length, edits, source: text })
    return { ...found, region, edits }
  }
  return undefined
}

function withShape(trial: Trial, guided: Guided, seen: Scan): Attempt | undefined {
  const { kinds, declared } = guided
  if (!kinds.container) return best(scalarsFirst(trial, seen), trial.settings)
  const ranked = fromRegions(trial, seen.regions, declared)
  for (const again of restarted(trial, seen, declared)) ranked.push(again)
  let chosen = best(ranked, trial.settings)
  if (chosen?.valid) return chosen
  for (const resort of lastResorts(trial, seen, declared)) ranked.push(resort)
  chosen = best(ranked, trial.settings)
  if (chosen?.valid) return chosen
  // A word where an object or list is wanted is no candidate at all.
  const word = typeof chosen?.region.value !== 'object' && trial.strict === undefined
  if (!kinds.scalar) return word ? undefined : chosen
  return best([...ranked, ...plain(scalarAttempts(trial, seen))], trial.settings)
}

function plain(attempts: readonly Attempt[]): Ranked[] {
  return attempts.map((tried) => ({ attempt: tried, tier: ANSWER, correction: false, extra: 0 }))
}

/** A scalar is wanted: the text itself first, then values inside objects that hold it. */
function scalarsFirst(trial: Trial, seen: Scan): Ranked[] {
  const direct = plain(scalarAttempts(trial, seen))
  if (direct.some((r) => r.attempt.valid)) return direct
  const inside = seen.regions.flatMap((region) => [
    attempt(trial, region),
    ...(trial.settings.aop === 'full' ? lifted(trial, region, new Set()) : []),
  ])
  return [...direct, ...plain(inside)]
}
