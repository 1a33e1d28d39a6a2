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
  /** The only runs that may be claimed; absent: every run of the store. */
  readonly own: ReadonlySet<string> | undefined
  /** Run ids to skip while claiming: another process is better placed to run them. */
  readonly excludedRuns: () => readonly string[]
  /** The active runs of this process. */
  readonly actors: ReadonlyMap<string, Actor>
  /** Called with each claimed run. */
  readonly onClaim: (claim: Claim) => void
  /** Called when another process has claimed the run. */
  readonly onLeaseLost: (actor: Actor) => void
  /** Called when the store fails; the poller tries again later. */
  readonly onError: (cause: unknown) => void
}

const claimSize = 32
/**
 * In a long backlog, runs of other tenants are claimed after every so many pages, because that query passes over the whole
 * backlog: stores return the oldest first, and the tenant of thousands of due runs must not keep the others waiting.
 */
const pagesPerLook = 8
/** Lower bound between polls: a run that is due but leased to another process must not cause a tight loop. */
const shortestPause = 50

export function createRunPoller(options: RunPollerOptions): RunSource {
  const { store, clock, owner, leaseMs, pollMs, own } = options
  let opened = false
  let closed = false
  let polling: Promise<void> | undefined
  let nextPollAt = Number.POSITIVE_INFINITY
  let isWanted = false
  let lastPollAt = Number.NEGATIVE_INFINITY
  let cancelPoll = () => {}
  let cancelRenewal = () => {}

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

  const claim = async (exceptTenants: readonly string[] = []): Promise<Claim[]> => {
    const except = options.excludedRuns()
    if (!own) return store.claim({ owner, leaseMs, limit: claimSize, except, exceptTenants })
    const wanted = [...own].filter((runId) => !except.includes(runId))
    const claims = wanted.map((runId) => store.claim({ owner, leaseMs, limit: 1, runId }))
    return (await Promise.all(claims)).flat()
  }

  /** Reports claims; claims that arrive after `close` are released, so that another process need not wait for their leases. */
  const takeClaims = async (claims: readonly Claim[]): Promise<void> => {
    const late: Claim[] = []
    for (const each of claims) {
      if (closed) late.push(each)
      else options.onClaim(each)
    }
    await Promise.all(late.map(({ runId, lease }) => store.release(runId, lease)))
  }

  const poll = async () => {
    try {
      for (let full = true, pages = 0; full && !closed; pages++) {
        const claims = await claim()
        await takeClaims(claims)
        full = !own && claims.length === claimSize
        if (full && !closed && pages % pagesPerLook === 0)
          await takeClaims(await claim([...new Set(claims.map(({ tenant }) => tenant))]))
      }
      const next = own ? undefined : await store.nextWake({ except: options.excludedRuns() })
      if (next !== undefined) wakeAt(Math.max(next, clock.now() + shortestPause))
    } catch (cause) {
      options.onError(cause)
    }
  }

  /** Renewal has its own timer: a slow claim must not let leases expire. */
  const scheduleRenewal = () => {
    cancelRenewal = clock.timer(clock.now() + leaseMs / 3, scheduleRenewal)
    renewLeases(options).catch(options.onError)
  }

  return {
    open() {
      opened = true
      wakeAt(clock.now())
      scheduleRenewal()
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
    end: () => cancelRenewal(),
  }
}
