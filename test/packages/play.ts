/** Reads every pair whole and in chunks, and writes down all that the reader says. Runs in Node, in Chromium and in workerd. */
import type { createReader, parse } from '../../src/output/index.ts'
import type { Pair } from './pairs.ts'

interface ReaderModule {
  readonly parse: typeof parse
  readonly createReader: typeof createReader
}

export interface Played {
  /** One line of JSON for each pair. */
  readonly lines: readonly string[]
  /** How often one schema was satisfied that was used often enough to be compiled where that is allowed. */
  readonly repeated: number
  /** Name of the error that generating code leads to; empty where it is allowed. */
  readonly refusal: string
}

const CHUNK = 7

export function play(reader: ReaderModule, pairs: readonly Pair[]): Played {
  const lines = pairs.map((pair) => JSON.stringify(playPair(reader, pair)))
  const schema = { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] }
  let repeated = 0
  for (let n = 1; n <= 500; n++) if (reader.parse(`{"n": ${n}}`, schema).ok) repeated++
  return { lines, repeated, refusal: refusal() }
}

function playPair({ parse, createReader }: ReaderModule, { text, schema, options }: Pair): unknown {
  try {
    const { raw: _, ...whole } = parse(text, schema as never, options)
    const stream = createReader(schema as never, options)
    const partials: unknown[] = []
    for (let at = 0; at < text.length; at += CHUNK) {
      const { partial, finished, replaced } = stream.push(text.slice(at, at + CHUNK))
      partials.push(JSON.stringify([partial ?? null, finished, replaced]))
    }
    const { raw: __, ...end } = stream.end()
    // `repairs` may be made when it is first read: name it, so that it is written down in every case.
    return { whole: { ...whole, repairs: whole.repairs }, partials, end: { ...end, repairs: end.repairs } }
  } catch (error) {
    return { threw: String(error) }
  }
}

function refusal(): string {
  try {
    new Function('')
    return ''
  } catch (error) {
    return (error as Error).name
  }
}
