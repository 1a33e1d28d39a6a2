/**
 * The local source of runs: polls the store for due and abandoned runs, claims them, and renews the leases of the runs this
 * process owns (heartbeat).
 */
import type { Clock } from '../../base/time/clock.ts'
import type { Claim, Store } from '../../domain/ports/store.ts'
import type { Actor } from '../run-loop/run-actor-context.ts'
import { renewLeases } from './renew-leases.ts'
import type { RunSource } from './run-source.ts'

interface RunPollerOptions {
  readonly store: Store
  readonly clock: Clock
  readonly owner: string
  readonly leaseMs: number
  readonly pollMs: number
  /** Placements of runs that this process serves. */
  readonly placements: readonly string[]
  /** The only runs that may be claimed; absent: every run of the store. */
  readonly own: ReadonlySet<string> | undefined
  /** Run ids to skip while claiming: another process is better placed to run them. */
  readonly excludedRuns: () => readonly string[]
  /** The active runs of this process. */
  readonly actors: ReadonlyMap<string, Actor>
  /** Free slots for attempts; below zero: how many runs wait for one. */
  readonly freeSlots: () => number
  /** Called with each claimed run. */
  readonly onClaim: (claim: Claim) => void
  /** Called when another process has claimed the run. */
  readonly onLeaseLost: (actor: Actor) => void
  /** Called when the store fails; the poller tries again later. */
  readonly onError: (cause: unknown) => void
}

const claimSize = 32
/**
 * In a long backlog, runs of other tenants are claimed after every so many pages or milliseconds, because that query passes
 * over the whole backlog: stores return the oldest first, and the tenant of thousands of due runs must not keep the others
 * waiting.
 */
const pagesPerLook = 8
const lookPauseMs = 1_000
/** Lower bound between polls: a run that is due but leased to another process must not cause a tight loop. */
const shortestPause = 50

export function createRunPoller(options: RunPollerOptions): RunSource {
  const { store, clock, pollMs, placements, own } = options
  let opened = false
  let closed = false
  let polling: Promise<void> | undefined
  let nextPollAt = Number.POSITIVE_INFINITY
  let isWanted = false
  let lastPollAt = Number.NEGATIVE_INFINITY
  let cancelPoll = () => {}

  const wakeAt = (at: number) => {
    if (!opened || closed || at >= nextPollAt) return
    cancelPoll()
    nextPollAt = at
    cancelPoll = clock.timer(at, () => {
      nextPollAt = Number.POSITIVE_INFINITY
      if (polling || closed) return
      lastPollAt = clock.now()
      polling = poll().finally(() => {
        polling = undefined
        wakeAt(clock.now() + (isWanted ? shortestPause : pollMs))
        isWanted = false
      })
    })
  }

  const onFree = () => {
    if (own) return
    // The claim under way may have come before the run.
    if (polling) isWanted = true
    else wakeAt(Math.max(clock.now(), lastPollAt + shortestPause))
  }

  const claim = createClaim(options)
  const renewal = createRenewal(options)

  /** Reports claims; claims that arrive after `close` are released, so that another process need not wait for their leases. */
  const takeClaims = async (claims: readonly Claim[]): Promise<void> => {
    const late: Claim[] = []
    for (const each of claims) {
      if (closed) late.push(each)
      else options.onClaim(each)
    }
    await Promise.all(late.map(({ runId, lease }) => store.release(runId, lease)))
  }

  const isLookDue = createLookPace(clock)

  const poll = async () => {
    try {
      for (let full = true; full && !closed; ) {
        const limit = getClaimLimit(options)
        if (limit <= 0) {
          wakeAt(clock.now() + shortestPause)
          return
        }
        if (renewal.isLate()) await renewal.renew()
        // The store is slower than a lease: a claim would take runs from this process itself.
        if (renewal.isLate()) return
        const claims = await claim(limit)
        await takeClaims(claims)
        full = !own && claims.length === limit
        if (full && !closed && isLookDue())
          await takeClaims(await claim(claimSize, [...new Set(claims.map(({ tenant }) => tenant))]))
      }
      const next = own ? undefined : await store.nextWake({ except: options.excludedRuns(), placements })
      if (next !== undefined) wakeAt(Math.max(next, clock.now() + shortestPause))
    } catch (cause) {
      options.onError(cause)
    }
  }

  return {
    open() {
      opened = true
      wakeAt(clock.now())
      renewal.start()
    },
    wake(runId) {
      if (!own || own.has(runId)) wakeAt(clock.now())
    },
    onFree,
    onLeft(_runId, { idle }) {
      if (idle?.isChanged) wakeAt(clock.now())
      for (const at of idle?.timers ?? []) wakeAt(at)
    },
    async close() {
      closed = true
      cancelPoll()
      await polling
    },
    end: renewal.stop,
  }
}

/**
 * How many runs to claim: no more than a page beyond the free slots. The others stay in the store, where other processes claim
 * them, and where runs of high priority come first.
 */
function getClaimLimit({ own, actors, freeSlots }: RunPollerOptions): number {
  if (own) return claimSize
  let unloaded = 0
  for (const actor of actors.values()) if (actor.isUnloaded) unloaded++
  return Math.min(claimSize, freeSlots() + claimSize - unloaded)
}

function createClaim({ store, owner, leaseMs, placements, own, excludedRuns }: RunPollerOptions) {
  return async (limit: number, exceptTenants: readonly string[] = []): Promise<Claim[]> => {
    const except = excludedRuns()
    if (!own) return store.claim({ owner, leaseMs, limit, except, exceptTenants, placements })
    const wanted = [...own].filter((runId) => !except.includes(runId))
    const claims = wanted.map((runId) => store.claim({ owner, leaseMs, limit: 1, runId, placements }))
    return (await Promise.all(claims)).flat()
  }
}

/** Renews leases, and says when that is overdue: under load a timer fires late, and this process could claim runs that it executes. */
function createRenewal(options: RunPollerOptions) {
  const { clock, leaseMs } = options
  /** When the last renewal that has succeeded began: no lease here is older. */
  let renewedAt = clock.now()
  let stop = () => {}
  const renew = async () => {
    const at = clock.now()
    await renewLeases(options)
    renewedAt = Math.max(renewedAt, at)
  }
  /** Renewal has its own timer: a slow claim must not let leases expire. */
  const start = () => {
    stop = clock.timer(clock.now() + leaseMs / 3, start)
    renew().catch(options.onError)
  }
  return {
    renew,
    start,
    stop: () => stop(),
    isLate: () => clock.now() - renewedAt > (leaseMs * 2) / 3,
  }
}

/** Returns whether runs of other tenants are claimed after this page. */
function createLookPace({ now }: Pick<Clock, 'now'>): () => boolean {
  let [pages, checkedAt] = [0, Number.NEGATIVE_INFINITY]
  return () => {
    pages++
    if (pages < pagesPerLook && now() - checkedAt < lookPauseMs) return false
    pages = 0
    checkedAt = now()
    return true
  }
}
