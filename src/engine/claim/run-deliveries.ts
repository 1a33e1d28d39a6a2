/**
 * The source of runs where a queue delivers them. Each delivery claims its run and executes it until nothing is left to do here.
 * A delivery that finds the run leased takes it over at once if its owner was fed by the same queue and does not answer a
 * challenge: the queue delivers again when a process has died, or when only its connection broke. Runs whose message was lost,
 * and expired leases, are found by a slow sweep of the store.
 */
import type { Clock } from '../../base/time/clock.ts'
import type { Handover, HeldLease } from '../../domain/ports/queue/handover.ts'
import type { Delivered, Delivery, Queue } from '../../domain/ports/queue/queue.ts'
import type { Claim, Store } from '../../domain/ports/store.ts'
import type { RunHead } from '../../domain/run.ts'
import { isTerminal } from '../../domain/status.ts'
import type { Actor } from '../run-loop/run-actor-context.ts'
import { renewLeases } from './renew-leases.ts'
import type { LeftRun, RunSource } from './run-source.ts'

interface RunDeliveriesOptions {
  readonly store: Store
  readonly handover: Handover
  readonly queue: Queue
  readonly clock: Clock
  readonly owner: string
  readonly leaseMs: number
  /** The placements that this process can serve, besides none. */
  readonly placements: readonly string[]
  /** The active runs of this process. */
  readonly actors: ReadonlyMap<string, Actor>
  /** When this process should be offered a run again that it released for lack of a capability. */
  readonly retryAt: (runId: string) => number | undefined
  readonly onClaim: (claim: Claim) => void
  readonly onLeaseLost: (actor: Actor) => void
  /** Called when the store or the queue fails. */
  readonly onError: (cause: unknown) => void
}

export interface RunDeliveries extends RunSource {
  /** Handles one delivery of the queue. */
  receive(delivery: Delivery): Promise<Delivered>
  /** Renews the lease of this run at once: another process asks whether its owner is alive. */
  answerChallenge(runId: string): void
}

/** How long the owner of a lease has to answer a challenge. */
const challengeMs = 700
/** Pause between two reads of a lease. */
const readMs = 50
/** Pause before a run whose owner is alive is checked again. */
const aliveMs = 500
/** Pause before another process is offered a run whose placement this one cannot serve. */
const misplacedMs = 500
const sweepMs = 5_000
/** Runs that are due for less are on their way. */
const lateMs = 2_000
const sweepSize = 500
/** Pause between two messages about the same late run. */
const resendMs = 15_000

/** Whether this queue delivered the run to the owner: then it delivers it again when the owner dies. */
export function isFedBy(queue: Pick<Queue, 'name'>, owner: string): boolean {
  return owner.startsWith(`${queue.name}/`)
}

export function createRunDeliveries(options: RunDeliveriesOptions): RunDeliveries {
  const { store, queue, clock, owner, leaseMs, placements, actors, onError } = options
  let closed = false
  let cancelRenewal = () => {}
  const departures = createDepartures()
  const sweep = createSweep(options)

  const scheduleRenewal = () => {
    cancelRenewal = clock.timer(clock.now() + leaseMs / 3, scheduleRenewal)
    renewLeases(options).catch(onError)
  }

  /** Executes a claimed run; one that is claimed during the shutdown is released. */
  const execute = async (claim: Claim): Promise<Acquired> => {
    if (closed) {
      await store.release(claim.runId, claim.lease)
      throw leaving()
    }
    options.onClaim(claim)
    return here
  }

  const acquire = async (runId: string): Promise<Acquired> => {
    const [claim] = await store.claim({ owner, leaseMs, limit: 1, runId, placements })
    if (claim) return execute(claim)
    const head = await store.head(runId)
    if (head === undefined || isTerminal(head.status)) return { kind: 'over', again: undefined }
    // The queue delivers to any process.
    if (head.placement !== undefined && !placements.includes(head.placement))
      return { kind: 'over', again: clock.now() + misplacedMs }
    const found = await options.handover.findLease(runId)
    if (found === undefined) return whenDue(head, clock.now())
    if (found.owner !== owner && !isFedBy(queue, found.owner)) return { kind: 'over', again: found.until }
    // Another delivery of the run has just claimed it here.
    if (actors.has(runId)) return here
    // This process may have lost the answer to its claim, or its actor has crashed: nothing to ask.
    if (found.owner !== owner && (await answersChallenge(options, runId, found)))
      return { kind: 'wait', ms: aliveMs }
    const taken = await options.handover.takeOver({ runId, owner, leaseMs, from: found })
    return taken ? execute(taken) : { kind: 'wait', ms: readMs }
  }

  const handle = async ({ runId, isLate, signal }: Delivery): Promise<Delivered> => {
    while (!signal.aborted) {
      if (closed) throw leaving()
      const acquired = actors.has(runId) ? here : await acquire(runId)
      if (acquired.kind === 'over') return after(acquired.again)
      if (acquired.kind === 'wait') {
        // An owner that is alive has a delivery of its own.
        if (isLate && acquired.ms === aliveMs) return {}
        await pause(clock, acquired.ms)
        continue
      }
      const left = await departures.next(runId, signal)
      if (left?.why === 'closed') throw leaving()
      // A bug: tried as often as another process would claim it.
      if (left?.why === 'crashed') return after(clock.now() + leaseMs)
      const { isChanged, missing = [], wakeAt } = left?.idle ?? {}
      if (!isChanged) return after(missing.length > 0 ? options.retryAt(runId) : wakeAt)
    }
    return {}
  }

  return {
    async receive(delivery) {
      try {
        return await handle(delivery)
      } catch (cause) {
        if (!closed) onError(cause)
        throw cause
      }
    },
    answerChallenge(runId) {
      const actor = actors.get(runId)
      if (actor?.lease === undefined) return
      renewLeases({ ...options, actors: new Map([[runId, actor]]) }).catch(onError)
    },
    open() {
      scheduleRenewal()
      sweep.open()
    },
    wake: (runId) => void queue.send({ runId }).catch(onError),
    onFree: () => {},
    onLeft: departures.notify,
    async close() {
      closed = true
      sweep.close()
      await queue.close()
    },
    end: () => cancelRenewal(),
  }
}

/** Whether the owner of the lease renews or releases it when it is asked to. */
async function answersChallenge(
  { handover, clock }: Pick<RunDeliveriesOptions, 'handover' | 'clock'>,
  runId: string,
  found: HeldLease,
): Promise<boolean> {
  handover.challenge(runId)
  const until = clock.now() + challengeMs
  while (clock.now() < until) {
    await pause(clock, readMs)
    const now = await handover.findLease(runId)
    if (now?.until !== found.until || now.epoch !== found.epoch) return true
  }
  return false
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.timer(clock.now() + ms, resolve))
}

type Acquired =
  /** The run is executed here. */
  | { readonly kind: 'here' }
  /** Another process may release it soon. */
  | { readonly kind: 'wait'; readonly ms: number }
  /** Nothing is left to do until then. */
  | { readonly kind: 'over'; readonly again: number | undefined }

const here: Acquired = { kind: 'here' }

const after = (again: number | undefined): Delivered => (again === undefined ? {} : { again })

function leaving(): Error {
  return new Error('This process is shutting down')
}

/** When a run without a lease is due, by its head. */
function whenDue({ wakeAt }: RunHead, now: number): Acquired {
  if (wakeAt === undefined || wakeAt > now) return { kind: 'over', again: wakeAt }
  // Its row is being written, or the clock of the store is a little behind.
  return { kind: 'wait', ms: readMs }
}

/** Finds runs that are late, and has them delivered. */
function createSweep({ handover, queue, clock, actors, onError }: RunDeliveriesOptions) {
  let cancel = () => {}
  const sweep = async () => {
    const late = await handover.listLate({ lateMs, limit: sweepSize })
    // Every process sends it: the queue delivers one of the messages.
    for (const { runId, dueAt } of late) {
      if (actors.has(runId)) continue
      // Every process sends it, and the queue delivers one of the messages; again later, if that one was lost or is stuck.
      const round = Math.floor((clock.now() - dueAt) / resendMs)
      await queue.send({ runId, id: `late-${dueAt}-${round}`, isLate: true })
    }
  }
  const open = () => {
    let isOver = false
    const stopTimer = clock.timer(clock.now() + sweepMs, () => {
      sweep()
        .catch(onError)
        .finally(() => isOver || open())
    })
    cancel = () => {
      isOver = true
      stopTimer()
    }
  }
  return { open, close: () => cancel() }
}

/** Waits for runs to leave this process. */
function createDepartures() {
  const waiting = new Map<string, Set<(left: LeftRun | undefined) => void>>()
  return {
    /** Resolves when the run leaves, or to nothing when the signal is aborted. */
    next(runId: string, signal: AbortSignal): Promise<LeftRun | undefined> {
      return new Promise((resolve) => {
        const all = waiting.get(runId) ?? new Set()
        waiting.set(runId, all)
        const settle = (left: LeftRun | undefined) => {
          signal.removeEventListener('abort', onAbort)
          all.delete(settle)
          if (all.size === 0 && waiting.get(runId) === all) waiting.delete(runId)
          resolve(left)
        }
        const onAbort = () => settle(undefined)
        signal.addEventListener('abort', onAbort)
        all.add(settle)
        if (signal.aborted) settle(undefined)
      })
    },
    notify(runId: string, left: LeftRun) {
      for (const settle of [...(waiting.get(runId) ?? [])]) settle(left)
    },
  }
}
