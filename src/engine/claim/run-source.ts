/**
 * Where an engine gets its runs from: it polls the store (`run-poller.ts`), or a queue delivers them (`run-deliveries.ts`).
 * Either way, a run is executed under a lease of the store.
 */
import type { LeftNotice } from '../../domain/event/lifecycle.ts'

/** Why a run has left this process. */
export interface LeftRun {
  readonly why: LeftNotice['why']
  /** Only with `rests`. */
  readonly idle?: {
    /** Something happened to the run meanwhile: it may continue at once. */
    readonly isChanged: boolean
    /** Capabilities that it needs next and this process lacks. */
    readonly missing: readonly string[]
    /** When its timers are due. */
    readonly timers: readonly number[]
    /** When it can continue: now if it has work left, at its first timer, or absent if it waits for a person or is over. */
    readonly wakeAt?: number
  }
}

export interface RunSource {
  open(): void
  /** Has the run executed, here or by another process: it is new, or was changed from outside. */
  wake(runId: string): void
  /** A run of the store waits for a process: another one released it. */
  onFree(): void
  /** Another process asks whether the owner of this run is alive. Absent: no other process takes runs over. */
  answerChallenge?(runId: string): void
  /** Called when a run has left this process. */
  onLeft(runId: string, left: LeftRun): void
  /** Gets no more runs; lease renewal continues until `end`. Resolves when the runs of a claim under way are released. */
  close(): Promise<void>
  end(): void
}
