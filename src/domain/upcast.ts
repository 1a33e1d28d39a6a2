/**
 * Events of older versions, read as today's. An event in a journal is never edited; when the payload of a type gets a new
 * meaning, its version grows and a row here says how to read the version before. Stores call this on everything they read.
 */
import type { EventType, JournalEvent } from './event.ts'

/** An event as it was written: its payload may be of an older version. */
export type WrittenEvent = Omit<JournalEvent, 'payload'> & { readonly payload: unknown }

/** From the payload of one version to that of the next. */
export type Upcaster = (payload: unknown, event: WrittenEvent) => unknown

/** By type, then by the version that the upcaster reads. */
export type Upcasters = { readonly [T in EventType]?: { readonly [version: number]: Upcaster } }

/** Empty today: every type is at its first version. */
export const upcasters: Upcasters = {}

export function upcast(event: WrittenEvent, table: Upcasters = upcasters): JournalEvent {
  const steps = table[event.type]
  let { version, payload } = event
  for (let step = steps?.[version]; step !== undefined; step = steps?.[version]) {
    payload = step(payload, event)
    version += 1
  }
  // The chain of upcasters ends at the payload of today.
  return { ...event, version, payload } as JournalEvent
}
