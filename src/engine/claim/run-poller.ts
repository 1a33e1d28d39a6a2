/** Polls the store for due and abandoned runs, claims them, and renews the leases of the runs this process owns (heartbeat). */
import type { Clock } from '../../base/time/clock.ts'
import type { Claim, Store } from '../../domain/ports/store.ts'
import type { Actor } from '../run-loop/run-actor-context.ts'

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

export interface RunPoller {
  open(): void
  /** Polls no later than this. */
  wakeAt(at: number): void
  /** Stops polling; lease renewal continues until `end`. */
  close(): void
  end(): void
}

const claimSize = 32
/** Lower bound between polls: a run that is due but leased to another process must not cause a tight loop. */
const shortestPause = 50

export function createRunPoller(options: RunPollerOptions): RunPoller {
  const { store, clock, owner, leaseMs, pollMs, own, actors } = options
  let opened = false
  let closed = false
  let isPolling = false
  let nextPollAt = Number.POSITIVE_INFINITY
  let cancelPoll = () => {}
  let cancelRenewal = () => {}

  const wakeAt = (at: number) => {
    if (!opened || closed || at >= nextPollAt) return
    cancelPoll()
    nextPollAt = at
    cancelPoll = clock.timer(at, () => {
      nextPollAt = Number.POSITIVE_INFINITY
      void poll()
    })
  }

  const claim = async (): Promise<Claim[]> => {
    const except = options.excludedRuns()
    if (!own) return store.claim({ owner, leaseMs, limit: claimSize, except })
    const wanted = [...own].filter((runId) => !except.includes(runId))
    const claims = wanted.map((runId) => store.claim({ owner, leaseMs, limit: 1, runId }))
    return (await Promise.all(claims)).flat()
  }

  const poll = async () => {
    if (isPolling || closed) return
    isPolling = true
    try {
      for (let full = true; full && !closed; ) {
        const claims = await claim()
        for (const each of claims) if (!closed) options.onClaim(each)
        full = !own && claims.length === claimSize
      }
      const next = own ? undefined : await store.nextWake({ except: options.excludedRuns() })
      if (next !== undefined) wakeAt(Math.max(next, clock.now() + shortestPause))
    } catch (cause) {
      options.onError(cause)
    } finally {
      isPolling = false
      wakeAt(clock.now() + pollMs)
    }
  }

  /** Renewal has its own timer: a slow claim must not let leases expire. */
  const scheduleRenewal = () => {
    cancelRenewal = clock.timer(clock.now() + leaseMs / 3, scheduleRenewal)
    renew().catch(options.onError)
  }

  /**
   * Renews the leases of all runs here and dismisses the runs whose lease was lost. Then reads the heads of the others:
   * not every store can notify about events that another process appended (a reply, a cancellation).
   */
  const renew = async () => {
    const mine = [...actors.values()].filter((actor) => actor.lease !== undefined)
    if (mine.length === 0) return
    const held = new Set(await store.renew({ owner, leaseMs, runIds: mine.map(({ runId }) => runId) }))
    for (const actor of mine) {
      if (held.has(actor.runId)) continue
      actor.stop()
      options.onLeaseLost(actor)
    }
    const kept = mine.filter((actor) => actors.get(actor.runId) === actor)
    const heads = await Promise.all(kept.map(({ runId }) => store.head(runId)))
    for (const [index, actor] of kept.entries()) actor.notify(heads[index]?.seq ?? 0)
  }

  return {
    open() {
      opened = true
      wakeAt(clock.now())
      scheduleRenewal()
    },
    wakeAt,
    close() {
      closed = true
      cancelPoll()
    },
    end: () => cancelRenewal(),
  }
}
