/** Formats frames as lines of an event stream. Untrusted text is inside one line of JSON, where it cannot start another line. */
import type { Frame, PartialFrame } from '../../domain/event/frame.ts'

export function frameText(frame: Frame): string {
  return `id: ${frame.id}\nevent: ${frame.type}\ndata: ${frame.type === 'plan_generated' ? planJson(frame) : JSON.stringify(frame)}\n\n`
}

/** Texts of the payloads of plans. Runs with the same draft share them, and they are the largest frames. */
const planTexts = new WeakMap<object, string>()

function planJson(frame: Frame): string {
  const { payload } = frame
  if (typeof payload !== 'object' || payload === null) return JSON.stringify(frame)
  const known = planTexts.get(payload) ?? JSON.stringify(payload)
  planTexts.set(payload, known)
  // Nothing before the payload has texts of others. A function, because `$` has a meaning in a text.
  return JSON.stringify({ ...frame, payload: null }).replace('"payload":null', () => `"payload":${known}`)
}

/** Without an id: it is no event, and clients do not continue after it. */
export function partialText(frame: PartialFrame): string {
  return `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`
}

/** Clients ignore comments; proxies and sockets see activity. */
export function commentText(words: string): string {
  return `: ${words}\n\n`
}

/** Formats the reconnect delay for clients. */
export function retryText(ms: number): string {
  return `retry: ${ms}\n\n`
}
