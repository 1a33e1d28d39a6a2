/**
 * Shares the permits of one limit among the processes of a store: a pure function from what the store has and what one
 * process needs to what the store has next. Permits are leased, so those of a dead process return. Shares are max-min fair:
 * no process gets more than another that wants as much, and single permits go to the process that has waited longest.
 */
import type { LimitRule } from './limit-rules.ts'

export interface Holder {
  readonly held: number
  /** In use and waited for. */
  readonly wanted: number
  /** The turn in which it last got a permit, 0 for none; the lowest is next. */
  readonly turn: number
  /** When its lease ends, by the store's clock. */
  readonly until: number
}

/** One limit, as a document in the store. */
export interface Shared {
  /** For reports. */
  readonly rule: LimitRule
  readonly turn: number
  readonly holders: { readonly [owner: string]: Holder }
  /** What is left of the rate at a time of the store's clock. */
  readonly bucket?: { readonly tokens: number; readonly at: number }
}

export interface Need {
  readonly owner: string
  /** Permits that attempts under way have. */
  readonly inUse: number
  /** Attempts that wait for a permit, and attempts that wait for the rate. */
  readonly waiting: number
  readonly waitingForRate: number
  readonly leaseMs: number
  /** By the store's clock; `undefined`: not known yet, so nothing expires and nothing is refilled. */
  readonly now: number | undefined
}

export interface Share {
  readonly shared: Shared
  /** Permits that the process has now. */
  readonly held: number
  /** Starts that the rate allows it now. */
  readonly tokens: number
  /** Another process waits for permits. */
  readonly isContended: boolean
}

export function sharePermits(before: Shared | undefined, rule: LimitRule, need: Need): Share {
  const { owner, inUse, waiting, now, leaseMs } = need
  const others = Object.entries(before?.holders ?? {}).filter(
    ([name, { until }]) => name !== owner && (now === undefined || until > now),
  )
  const mine = before?.holders[owner]
  const wanted = inUse + waiting
  const held = countPermits(rule, others, { owner, wanted, inUse, turn: mine?.turn ?? 0 })
  const isMore = held > (mine?.held ?? 0)
  const turn = (before?.turn ?? 0) + (isMore ? 1 : 0)
  const until = (now ?? mine?.until ?? 0) + leaseMs
  const own = { held, wanted, turn: isMore ? turn : (mine?.turn ?? 0), until }
  const isGone = wanted === 0 && need.waitingForRate === 0
  const { bucket, tokens } = takeTokens(before?.bucket, rule, need)
  return {
    shared: {
      rule,
      turn,
      holders: Object.fromEntries([...others, ...(isGone ? [] : [[owner, own] as const])]),
      ...(bucket && { bucket }),
    },
    held,
    tokens,
    isContended: others.some(([, other]) => other.wanted > other.held),
  }
}

interface Wish extends Pick<Holder, 'wanted' | 'turn'> {
  readonly owner: string
}

function countPermits(
  { concurrency }: LimitRule,
  others: readonly (readonly [string, Holder])[],
  { inUse, ...mine }: Wish & { readonly inUse: number },
): number {
  if (concurrency === undefined) return mine.wanted
  const free = concurrency - others.reduce((sum, [, { held }]) => sum + held, 0)
  const fair = fairShare(concurrency, mine, [
    ...others.map(([owner, { wanted, turn }]) => ({ owner, wanted, turn })),
    mine,
  ])
  // Attempts under way keep their permits.
  return Math.max(inUse, Math.min(mine.wanted, fair, free), 0)
}

/** Returns the share of one: rounds of equal parts, then single permits in the order of turns, which is the same for all. */
function fairShare(limit: number, mine: Wish, all: readonly Wish[]): number {
  const left = all.map((wish) => ({ wish, left: wish.wanted }))
  let remaining = limit
  let share = 0
  for (;;) {
    const active = left.filter((each) => each.left > 0)
    const part = Math.floor(remaining / active.length)
    if (active.length === 0 || remaining === 0) return share
    if (part === 0) {
      const next = active.sort((one, other) => byTurn(one.wish, other.wish)).slice(0, remaining)
      return share + (next.some(({ wish }) => wish === mine) ? 1 : 0)
    }
    for (const each of active) {
      const given = Math.min(each.left, part)
      each.left -= given
      remaining -= given
      if (each.wish === mine) share += given
    }
  }
}

function byTurn(one: Wish, other: Wish): number {
  return one.turn - other.turn || (one.owner < other.owner ? -1 : 1)
}

function takeTokens(before: Shared['bucket'], { rate }: LimitRule, { now, waitingForRate }: Need) {
  if (rate === undefined) return { bucket: undefined, tokens: 0 }
  const { count, perMs } = rate
  const filled =
    before === undefined || now === undefined
      ? (before?.tokens ?? (now === undefined ? 0 : count))
      : Math.min(count, before.tokens + (Math.max(0, now - before.at) / perMs) * count)
  const tokens = Math.min(waitingForRate, Math.floor(filled))
  const at = now ?? before?.at
  return { bucket: at === undefined ? undefined : { tokens: filled - tokens, at }, tokens }
}
