/** Events as JSON, page by page, for callers who do not want a stream: `GET runs/:id/events` with `Accept: application/json`. */
import { type Frame, frameOf } from '../domain/frame.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Redactor } from '../domain/redact.ts'

export interface PageRequest {
  readonly runId: string
  readonly correlationId: string
  readonly redactor: Redactor
  /** Events after this sequence number. */
  readonly after: number
  /** At most so many; default 100, never more than 1,000. A page is also full at 4 MB, but has at least one event. */
  readonly limit?: number
}

export interface EventPage {
  readonly frames: readonly Frame[]
  /** Ask for the page after this one; where nothing has come yet, the same place again. `complete` is the last frame of all. */
  readonly next: number
}

export const pageLimits = { usual: 100, most: 1_000, characters: 4 * 1024 * 1024 } as const

/** Events are read a few at a time, so that a page of large ones is not read further than it reaches. */
const atOnce = 20

export async function readPage(store: Pick<Store, 'read'>, request: PageRequest): Promise<EventPage> {
  const { runId, correlationId, redactor, limit = pageLimits.usual } = request
  const most = Math.min(Math.max(limit, 1), pageLimits.most)
  const frames: Frame[] = []
  let next = Math.max(request.after, 0)
  let characters = 0
  while (frames.length < most) {
    const size = Math.min(atOnce, most - frames.length)
    const events = await store.read(runId, next, size)
    for (const event of events) {
      const frame = frameOf(event, correlationId, redactor)
      characters += JSON.stringify(frame).length
      if (characters > pageLimits.characters && frames.length > 0) return { frames, next }
      frames.push(frame)
      next = event.seq
    }
    if (events.length < size) break
  }
  return { frames, next }
}
