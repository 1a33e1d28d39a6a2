/**
 * Notifications about the runs of this process, sent as soon as the events are in the journal (FLEX-77). For metrics
 * and display; the journal is the source of truth.
 */
import type { EventType, JournalEvent } from '../event.ts'
import type { RunStatus } from '../status.ts'

/** A node that has ended, regardless of which process started it. */
export interface EndedNode {
  readonly nodeId: string
  readonly capabilityId?: string
  /** From the node's start, which may have been in another process, to its end. */
  readonly durationMs: number
}

/** Events that this process has appended in one go. Read only: others get the same objects. */
export interface AppendedNotice {
  readonly kind: 'appended'
  readonly runId: string
  readonly correlationId: string
  /** The trace that the run began in. */
  readonly traceparent?: string
  /** The conversation that the run belongs to. */
  readonly thread?: { readonly tenant: string; readonly threadId: string }
  /** Status of the run after these events. */
  readonly status: RunStatus
  /** By the process that owns the run, or from outside: a reply, a cancellation, a resumption. */
  readonly by: 'carrier' | 'outside'
  readonly events: readonly JournalEvent[]
  readonly ended: readonly EndedNode[]
}

/** A run is no longer carried here. */
export interface LeftNotice {
  readonly kind: 'left'
  readonly runId: string
  /**
   * `rests`: over, or waiting for a person or a time. `started`: stored for another process to execute. `lost`: another has it.
   * `refused`: its start was not stored.
   */
  readonly why: 'rests' | 'started' | 'lost' | 'refused' | 'crashed' | 'closed'
  /** Last known status. */
  readonly status?: RunStatus
}

export type LifecycleNotice = AppendedNotice | LeftNotice

/** May return a promise; while it is pending, notices wait. `missed`: how many were dropped before this one. */
export type LifecycleListener = (
  notice: LifecycleNotice,
  more: { readonly missed: number },
) => void | Promise<void>

export interface LifecycleOptions {
  /** Notices that wait while the listener is busy; the oldest are dropped beyond that. Default 1,000. */
  readonly buffer?: number
  /** Only events of these types are reported; appends without any are skipped. Default: all. */
  readonly types?: readonly EventType[]
  /** Only events of runs that belong to a thread, and no other notices. */
  readonly ofThreads?: true
}

/** Returns the way to end it. */
export type SubscribeToLifecycle = (listener: LifecycleListener, options?: LifecycleOptions) => () => void
