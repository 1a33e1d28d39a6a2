/** What is written, encoded before anything is locked. */
import type { Json } from '../../../base/json.ts'
import type { NewEvent } from '../../../domain/event.ts'
import type { Append, AppendResult, Lease, NewRun } from '../../../domain/ports/store.ts'
import { encode, encodeWithPlan } from '../shared/codec.ts'
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
  const texts = events.map((event) => {
    const { text, values: apart } =
      event.type === 'plan_generated' ? encodeWithPlan(event.payload) : encode(event.payload)
    for (const [hash, body] of apart ?? []) values.set(hash, body)
    return text
  })
  return { texts, values }
}

/** Type of the rows that hold several events; no event has it. */
export const packedType = 'events'
/** Limits of one row: readers decode all of it, and skip what they have. */
export const mostPacked = 64
const longestPack = 32_768

interface WriteOfEvents {
  readonly runId: string
  /** Sequence number of the event before. */
  readonly after: number
  readonly writeId: string
  /** Whether events may share rows. */
  readonly isCompact: boolean
}

/**
 * The rows of events that were appended together: few, because each row costs the database as much as all events in it. An
 * event that queries look for has a row of its own.
 */
export function eventRows(
  events: readonly NewEvent[],
  texts: readonly string[],
  { runId, after, writeId, isCompact }: WriteOfEvents,
): EventTable[] {
  const rows: EventTable[] = []
  for (let first = 0; first < events.length; ) {
    const event = events[first] as NewEvent
    const end = !isCompact || isSought(event) ? first + 1 : findEnd(events, texts, first)
    const isPacked = end > first + 1
    rows.push({
      run_id: runId,
      seq: after + end,
      events: end - first,
      type: isPacked ? packedType : event.type,
      version: event.version,
      at: event.at,
      plan_version: event.planVersion,
      node_id: isPacked ? null : (event.nodeId ?? null),
      message: isPacked ? null : (event.message ?? null),
      payload: isPacked ? pack(events, texts, { first, end }) : (texts[first] ?? 'null'),
      write_id: writeId,
      link: null,
    })
    first = end
  }
  return rows
}

/** The first event names the subject of the run, and a quota adds up what attempts used. */
function isSought(event: NewEvent): boolean {
  if (event.type !== 'attempt_end') return event.type === 'start'
  const { usage } = event.payload
  return usage?.inputTokens !== undefined || usage?.outputTokens !== undefined || usage?.costUsd !== undefined
}

/** Returns the index after the last event that goes into one row with the first. */
function findEnd(events: readonly NewEvent[], texts: readonly string[], first: number): number {
  const most = Math.min(first + mostPacked, events.length)
  let length = texts[first]?.length ?? 0
  let end = first + 1
  while (end < most && !isSought(events[end] as NewEvent)) {
    length += texts[end]?.length ?? 0
    if (length > longestPack) break
    end++
  }
  return end
}

/** An event in a packed row; what it does not say is as in the row. */
export type PackedEvent = readonly [
  type: string,
  payload: Json,
  nodeId?: string | null,
  other?: {
    readonly version?: number
    readonly at?: number
    readonly planVersion?: number
    readonly message?: string
  },
]

/** The texts of payloads are joined as they are: encoding them again would cost more than the row saves. */
function pack(
  events: readonly NewEvent[],
  texts: readonly string[],
  { first, end }: { readonly first: number; readonly end: number },
): string {
  const row = events[first] as NewEvent
  let text = ''
  for (let index = first; index < end; index++) {
    const { type, version, at, planVersion, nodeId, message } = events[index] as NewEvent
    text += `${index === first ? '[' : ','}["${type}",${texts[index] ?? 'null'}`
    const isLike = version === row.version && at === row.at && planVersion === row.planVersion
    if (nodeId !== undefined || message !== undefined || !isLike)
      text += nodeId === undefined ? ',null' : `,${JSON.stringify(nodeId)}`
    if (message !== undefined || !isLike) text += `,${JSON.stringify({ version, at, planVersion, message })}`
    text += ']'
  }
  return `${text}]`
}
