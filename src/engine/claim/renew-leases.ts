/** Heartbeat: renews the leases of the runs that this process executes, and finds the ones it has lost. */
import type { Store } from '../../domain/ports/store.ts'
import type { Actor } from '../run-loop/run-actor-context.ts'

interface RenewOptions {
  readonly store: Store
  readonly owner: string
  readonly leaseMs: number
  /** The active runs of this process. */
  readonly actors: ReadonlyMap<string, Actor>
  /** Called when another process has claimed the run. */
  readonly onLeaseLost: (actor: Actor) => void
}

/**
 * Renews the leases of all runs here and dismisses the runs whose lease was lost. The others learn how long their journal
 * is: not every store can notify about events that another process appended (a reply, a cancellation).
 */
export async function renewLeases({
  store,
  owner,
  leaseMs,
  actors,
  onLeaseLost,
}: RenewOptions): Promise<void> {
  const mine = [...actors.values()].filter((actor) => actor.lease !== undefined)
  if (mine.length === 0) return
  const renewed = await store.renew({ owner, leaseMs, runIds: mine.map(({ runId }) => runId) })
  const held = new Map(renewed.map(({ runId, seq }) => [runId, seq]))
  for (const actor of mine) {
    const seq = held.get(actor.runId)
    // A run that rests gives its lease back in the write that is under way; if another process has it, that write fails.
    if (seq === undefined && actor.isWriting) continue
    if (seq === undefined) {
      actor.stop()
      onLeaseLost(actor)
    } else if (actors.get(actor.runId) === actor) actor.notify(seq)
  }
}
