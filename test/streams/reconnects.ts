/** Readers that are cut off at random and come back: some continue where they were, some begin anywhere. */
import { Random } from '../random.ts'
import { openStream, type StreamReader } from './read.ts'

export interface Campaign {
  /** Where the stream can be had: each time anywhere. */
  readonly urls: readonly string[]
  readonly seed: number
  readonly readers: number
  readonly connects: number
}

export interface Seen {
  connects: number
  /** Events that came, repetitions by other readers included. */
  events: number
  /** The data of each event by its number. */
  readonly frames: Map<number, string>
  /** What must not be: gaps, repeats, events that differ between readers. */
  readonly wrong: string[]
}

export interface Reconnects {
  readonly seen: Seen
  /** Resolves when the readers have been cut so often. */
  readonly cut: Promise<void>
  /** Every reader reads on to the end of the run; resolves with how the last events were called. */
  finish(): Promise<(string | undefined)[]>
}

export function reconnect({ urls, seed, readers, connects }: Campaign): Reconnects {
  const seen: Seen = { connects: 0, events: 0, frames: new Map(), wrong: [] }
  const cursors = Array.from({ length: readers }, () => 0)

  async function readSome(reader: StreamReader, who: number, most: number): Promise<string | undefined> {
    let type: string | undefined
    for (let n = 0; n < most; n++) {
      const event = await reader.next()
      if (!event) return type
      const after = cursors[who] ?? 0
      if (event.id !== String(after + 1)) seen.wrong.push(`reader ${who} got ${event.id} after ${after}`)
      const known = seen.frames.get(after + 1)
      if (known !== undefined && known !== event.data) seen.wrong.push(`event ${event.id} has two forms`)
      seen.frames.set(after + 1, event.data)
      seen.events++
      cursors[who] = Number(event.id)
      type = event.event
    }
    return type
  }

  const positions = new Random(seed)
  async function connect(who: number): Promise<StreamReader> {
    seen.connects++
    return openStream(positions.pick(urls), cursors[who])
  }

  /** The first reader always continues where it was, so that it sees the whole; the others also jump. */
  async function beCut(who: number): Promise<void> {
    const random = new Random(seed * 1_000 + who)
    while (seen.connects < connects) {
      if (who > 0 && random.chance(0.5)) cursors[who] = random.int(0, seen.frames.size)
      const reader = await connect(who)
      await readSome(reader, who, random.int(0, 12))
      reader.close()
    }
  }

  return {
    seen,
    cut: Promise.all(cursors.map((_, who) => beCut(who))).then(() => {}),
    finish: () =>
      Promise.all(cursors.map(async (_, who) => readSome(await connect(who), who, Number.POSITIVE_INFINITY))),
  }
}
