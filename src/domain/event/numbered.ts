/** Assigns sequence numbers to new events. */
import type { JournalEvent, NewEvent } from '../event.ts'

/** The new events as the journal will hold them. */
export function numbered(runId: string, after: number, events: readonly NewEvent[]): JournalEvent[] {
  return events.map((event, index) => {
    // Member by member: this runs for every event, and spreading costs several times as much.
    const { type, version, at, planVersion, nodeId, message, payload } = event
    const numbered: Record<string, unknown> = {
      type,
      version,
      at,
      planVersion,
      payload,
      runId,
      seq: after + index + 1,
    }
    if (nodeId !== undefined) numbered['nodeId'] = nodeId
    if (message !== undefined) numbered['message'] = message
    return numbered as unknown as JournalEvent
  })
}
