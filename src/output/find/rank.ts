/** Ranks the candidates: valid before invalid, then by trust, then by fewest changes, then by the caller's preference. */

import type { Settings } from '../settings.ts'
import type { Attempt } from './attempt.ts'

export interface Ranked {
  readonly attempt: Attempt
  /** How trustworthy its surroundings are; lower is better (`cues.ts`). */
  readonly tier: number
  /** The text says that this value replaces an earlier one. */
  readonly correction: boolean
  /** Penalty beyond the cost of the changes. */
  readonly extra: number
  /**
   * An object where the schema expects a list, or the reverse: a value of the expected kind beside it is the likelier
   * answer.
   */
  readonly otherKind?: boolean
  /** Covers none of the text: an empty value, one without declared members, or one made from a citation. */
  readonly slight?: boolean
}

/** Penalty above the usual cost of repairing a value of the expected kind. */
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
  if (slight !== 0) return slight
  const cost = computeCost(a) - computeCost(b)
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

function computeCost({ attempt, extra, otherKind }: Ranked): number {
  return attempt.cost + extra + (otherKind ? OTHER_KIND : 0)
}

/** Without a valid candidate, reports the largest of the expected kind outside of reasoning. */
function compareInvalid(a: Ranked, b: Ranked): number {
  const kind = Number(a.otherKind ?? false) - Number(b.otherKind ?? false)
  return (
    a.tier - b.tier || kind || a.extra - b.extra || size(b) - size(a) || a.attempt.cost - b.attempt.cost || 1
  )
}

function size(ranked: Ranked): number {
  return ranked.attempt.region.end - ranked.attempt.region.start
}
