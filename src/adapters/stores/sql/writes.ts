/** What is written, encoded before anything is locked. */
import type { NewEvent } from '../../../domain/event.ts'
import type { Append, AppendResult, Lease, NewRun } from '../../../domain/ports/store.ts'
import { encode, encodeOnce } from '../shared/codec.ts'
import type { EventTable } from './tables.ts'

/** Payloads as text, with the large values that were put aside. */
interface EncodedEvents {
  readonly texts: readonly string[]
  readonly values: ReadonlyMap<string, string>
}

interface Identified {
  /** Names this write, however often it is tried. */
  readonly writeId: string
  readonly runId: string
}

export type Write =
  | (Identified & { readonly kind: 'create'; readonly run: NewRun; readonly encoded: EncodedEvents })
  | (Identified & { readonly kind: 'append'; readonly append: Append; readonly encoded: EncodedEvents })
  | (Identified & { readonly kind: 'release'; readonly lease: Lease })

export type WriteResult =
  | AppendResult
  | { readonly kind: 'created'; readonly seq: number; readonly lease?: Lease }
  | { readonly kind: 'taken' }
  | { readonly kind: 'released' }

export function encodeEvents(events: readonly NewEvent[]): EncodedEvents {
  const values = new Map<string, string>()
  const texts = events.map(({ type, payload }) => {
    const { text, values: apart } = type === 'plan_generated' ? encodeOnce(payload) : encode(payload)
    for (const [hash, body] of apart ?? []) values.set(hash, body)
    return text
  })
  return { texts, values }
}

export function eventRow(
  event: NewEvent,
  { runId, seq, payload, writeId }: { runId: string; seq: number; payload: string; writeId: string },
): EventTable {
  return {
    run_id: runId,
    seq,
    type: event.type,
    version: event.version,
    at: event.at,
    plan_version: event.planVersion,
    node_id: event.nodeId ?? null,
    message: event.message ?? null,
    payload,
    write_id: writeId,
    link: null,
  }
}
