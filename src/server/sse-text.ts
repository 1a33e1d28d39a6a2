/** Frames as lines of an event stream. Everything that others wrote is inside one line of JSON, where it cannot begin another. */
import type { Frame } from '../domain/frame.ts'

export function frameText(frame: Frame): string {
  return `id: ${frame.id}\nevent: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`
}

/** Readers take no notice of comments; proxies and sockets see that somebody is there. */
export function commentText(words: string): string {
  return `: ${words}\n\n`
}

/** How long a reader should wait before it connects again. */
export function retryText(ms: number): string {
  return `retry: ${ms}\n\n`
}
