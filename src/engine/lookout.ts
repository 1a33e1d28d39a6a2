/**
 * The eyes and the pulse of an engine: looks in the store for runs whose time has come or that a dead process left, and
 * gives signs of life for those that are carried here.
 */
import type { Clock } from '../base/clock.ts'
import type { Claim, Store } from '../domain/ports/store.ts'
import type { Actor } from './actor-context.ts'

export interface LookoutOptions {
  readonly store: Store
  readonly clock: Clock
  readonly owner: string
  readonly leaseMs: number
  readonly pollMs: number
  /** The only runs that may be taken; absent: every run of the store. */
  readonly own: ReadonlySet<string> | undefined
  /** Runs that are left to others for now. */
  readonly elsewhere: () => readonly string[]
  /** Runs that are carried here. */
  readonly actors: ReadonlyMap<string, Actor>
  /** Takes over a run that was claimed. */
  readonly carry: (claim: Claim) => void
  /** Lets go of a run that belongs to somebody else now. */
  readonly dismiss: (actor: Actor) => void
  /** The store did not answer; it is asked again later. */
  readonly onError: (cause: unknown) => void
}

export interface Lookout {
  open(): void
  /** Looks no later than this. */
  wakeAt(at: number): void
  /** Looks no more; signs of life go on until `end`. */
  close(): void
  end(): void
}

const claimSize = 32
/** A wake-up that is due but cannot be claimed (somebody holds it) must not be asked for in a tight loop. */
const shortestPause = 50

export function createLookout(options: LookoutOptions): Lookout {
  const { store, clock, owner, leaseMs, pollMs, own, actors } = options
  let opened = false
  let closed = false
  let looking = false
  let lookAt = Number.POSITIVE_INFINITY
  let takeBackLook = () => {}
  let takeBackBeat = () => {}

  const wakeAt = (at: number) => {
    if (!opened || closed || at >= lookAt) return
    takeBackLook()
    lookAt = at
    takeBackLook = clock.timer(at, () => {
      lookAt = Number.POSITIVE_INFINITY
      void look()
    })
  }

  const claim = async (): Promise<Claim[]> => {
    const except = options.elsewhere()
    if (!own) return store.claim({ owner, leaseMs, limit: claimSize, except })
    const wanted = [...own].filter((runId) => !except.includes(runId))
    const claims = wanted.map((runId) => store.claim({ owner, leaseMs, limit: 1, runId }))
    return (await Promise.all(claims)).flat()
  }

  const look = async () => {
    if (looking || closed) return
    looking = true
    try {
      for (let full = true; full && !closed; ) {
        const claims = await claim()
        for (const each of claims) if (!closed) options.carry(each)
        full = !own && claims.length === claimSize
      }
      const next = own ? undefined : await store.nextWake({ except: options.elsewhere() })
      if (next !== undefined) wakeAt(Math.max(next, clock.now() + shortestPause))
    } catch (cause) {
      options.onError(cause)
    } finally {
      looking = false
      wakeAt(clock.now() + pollMs)
    }
  }

  /** Signs of life go their own way: a search for work that takes its time must not cost the runs that are here. */
  const beat = () => {
    takeBackBeat = clock.timer(clock.now() + leaseMs / 3, beat)
    renew().catch(options.onError)
  }

  /**
   * A sign of life for every run here; one that is not ours any more is let go. The others are looked at: what another
   * process appended (a reply, a cancellation) is news that not every store can bring.
   */
  const renew = async () => {
    const mine = [...actors.values()].filter((actor) => actor.lease !== undefined)
    if (mine.length === 0) return
    const held = new Set(await store.renew({ owner, leaseMs, runIds: mine.map(({ runId }) => runId) }))
    for (const actor of mine) {
      if (held.has(actor.runId)) continue
      actor.stop()
      options.dismiss(actor)
    }
    const kept = mine.filter((actor) => actors.get(actor.runId) === actor)
    const heads = await Promise.all(kept.map(({ runId }) => store.head(runId)))
    for (const [index, actor] of kept.entries()) actor.heard(heads[index]?.seq ?? 0)
  }

  return {
    open() {
      opened = true
      wakeAt(clock.now())
      beat()
    },
    wakeAt,
    close() {
      closed = true
      takeBackLook()
    },
    end: () => takeBackBeat(),
  }
}
