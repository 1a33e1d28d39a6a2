/** Which of the candidates is the answer: valid before invalid, then trust, then the least changed, then the caller's preference. */
import type { Attempt } from './attempt.ts'
import type { Settings } from './settings.ts'

export interface Ranked {
  readonly attempt: Attempt
  /** How trustworthy its surroundings are; lower is better (`cues.ts`). */
  readonly tier: number
  /** The text says that it replaces an earlier one. */
  readonly correction: boolean
  /** What speaks against it beyond the changes made. */
  readonly extra: number
  /** An object where the schema wants a list, or the reverse: something of the wanted kind beside it is rather meant. */
  readonly otherKind?: boolean
  /** It accounts for nothing of the text: an empty value, or a citation made into one. */
  readonly slight?: boolean
}

/** Exceeds the usual cost of repairing a value of the wanted kind. */
const OTHER_KIND = 8

export function best(ranked: readonly Ranked[], settings: Settings): Attempt | undefined {
  let chosen: Ranked | undefined
  for (const candidate of ranked) {
    if (chosen === undefined || compare(candidate, chosen, settings) < 0) chosen = candidate
  }
  return chosen?.attempt
}

/** Negative when the later candidate `a` is better than the earlier `b`. */
function compare(a: Ranked, b: Ranked, settings: Settings): number {
  if (a.attempt.valid !== b.attempt.valid) return a.attempt.valid ? -1 : 1
  if (!a.attempt.valid) return compareInvalid(a, b)
  if (a.tier !== b.tier) return a.tier - b.tier
  if (a.correction && a.attempt.region !== b.attempt.region) return -1
  const slight = Number(a.slight ?? false) - Number(b.slight ?? false)
  if (slight !== 0 && a.attempt.region !== b.attempt.region) return slight
  const cost = costOf(a) - costOf(b)
  if (cost !== 0) return cost
  if (a.attempt.region === b.attempt.region) return 1
  switch (settings.prefer) {
    case 'first':
      return 1
    case 'last':
      return -1
    case 'largest':
      return size(b) - size(a) || 1
  }
}

function costOf({ attempt, extra, otherKind }: Ranked): number {
  return attempt.cost + extra + (otherKind ? OTHER_KIND : 0)
}

/** Nothing is valid: the one to report is the largest of the wanted kind outside of reasoning. */
function compareInvalid(a: Ranked, b: Ranked): number {
  const kind = Number(a.otherKind ?? false) - Number(b.otherKind ?? false)
  return (
    a.tier - b.tier || kind || a.extra - b.extra || size(b) - size(a) || a.attempt.cost - b.attempt.cost || 1
  )
}

function size(ranked: Ranked): number {
  return ranked.attempt.region.end - ranked.attempt.region.start
}
