/**
 * Small documents that a server keeps beside the runs, such as webhooks, their deliveries, schedules and calls that workers take. A
 * document may belong to a run, is deleted with it, and may be due at a time, by the store's clock.
 */
import type { Json } from '../../base/json.ts'
import type { NewOperation } from './operations.ts'

const documentKinds = [
  'webhook',
  'delivery',
  'facet',
  'call',
  'message',
  'memory',
  'schedule',
  'process',
  'limit',
] as const

/** How long a process counts as alive after it has renewed its document. */
export const processAliveMs = 45_000

export type DocumentKind = (typeof documentKinds)[number]

export interface DocumentKey {
  readonly kind: DocumentKind
  readonly tenant: string
  readonly id: string
}

export interface NewDocument extends DocumentKey {
  readonly body: Json
  /** The run that it is deleted with. */
  readonly runId?: string
  /** Milliseconds since 1970; `claimDue` returns it from then on. 0: at once; added with 0, it is due at the time of the store's clock. */
  readonly dueAt?: number
}

export interface DocumentRow extends NewDocument {
  /** From 1; grows with every change. */
  readonly version: number
  readonly createdAt: number
  readonly updatedAt: number
}

export interface DocumentQuery {
  readonly kind: DocumentKind
  readonly tenant?: string
  /** Only documents whose ids begin with this text. */
  readonly prefix?: string
  /** Default: all. */
  readonly limit?: number
  /** Only documents that follow this one in the order, for paging. */
  readonly after?: Pick<DocumentRow, 'createdAt' | 'id'>
}

/** Recorded in the operations audit, in the transaction of the change. */
interface Recorded {
  readonly operation?: NewOperation
}

export interface Documents {
  /** Adds a document; undefined if there is one with this key. */
  add(document: NewDocument, given?: Recorded): Promise<DocumentRow | undefined>
  /** Replaces a document if it has this version; undefined if it is gone or has changed. A `dueAt` that is not given is removed. */
  replace(
    document: NewDocument,
    given: Recorded & {
      readonly version: number
      /** Due this long after now, by the store's clock, instead of `dueAt`. */
      readonly dueInMs?: number
    },
  ): Promise<DocumentRow | undefined>
  /** False if there is none. */
  remove(key: DocumentKey, given?: Recorded): Promise<boolean>
  find(key: DocumentKey): Promise<DocumentRow | undefined>
  /** Newest first; those of one time by id, the last first. */
  list(query: DocumentQuery): Promise<DocumentRow[]>
  /**
   * Returns documents that are due, earliest first, and makes each due again after `leaseMs`: another process then claims it,
   * unless it was replaced meanwhile.
   */
  claimDue(request: {
    readonly kind: DocumentKind
    readonly limit: number
    readonly leaseMs: number
    /** Only documents of this tenant whose ids begin with this text. */
    readonly within?: { readonly tenant: string; readonly prefix: string }
  }): Promise<DocumentRow[]>
  /** The earliest time at which `claimDue` could return a document, and the time now, by the store's clock. */
  nextDue(kind: DocumentKind): Promise<{ readonly at: number; readonly now: number } | undefined>
}
