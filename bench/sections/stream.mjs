/** (d) Streams: a partial value after every chunk of 50 characters. */
import { parsePartialJson } from 'ai'
import { parse as river } from 'jsonriver'
import { createReader } from '../../dist/output/index.js'
import { makeValue, schema } from '../lib/documents.mjs'
import { race, wouldTakeTooLong } from '../lib/measure.mjs'
import { ms, size, table, times } from '../lib/table.mjs'

export async function stream({ quick }) {
  const sizes = quick ? [25_600, 51_200] : [102_400, 204_800, 409_600]
  const rows = []
  const slow = []
  for (const bytes of sizes) {
    const text = JSON.stringify(makeValue(bytes))
    const chunks = text.match(/[\s\S]{1,50}/g)
    const contenders = {
      proviso: () => {
        const reader = createReader(schema)
        let seen = 0
        for (const chunk of chunks) if (reader.push(chunk).partial !== undefined) seen += 1
        return reader.end().ok && seen
      },
      jsonriver: async () => {
        let seen = 0
        for await (const value of river(each(chunks))) if (value !== undefined) seen += 1
        return seen
      },
      'ai parsePartialJson': async () => {
        let whole = ''
        for (const chunk of chunks) {
          whole += chunk
          await parsePartialJson(whole)
        }
      },
    }
    if (slow.length > 0 && wouldTakeTooLong(slow, sizes, bytes)) delete contenders['ai parsePartialJson']
    const took = await race(contenders, { repeats: quick ? 5 : 11, budget: 3000 })
    slow.push(took['ai parsePartialJson'] ?? 'too slow')
    rows.push({ bytes, chunks: chunks.length, ...took, ratio: took.proviso / took.jsonriver })
  }
  return { name: 'stream', rows, doubling: rows.slice(1).map((row, i) => row.proviso / rows[i].proviso) }
}

async function* each(chunks) {
  yield* chunks
}

export function showStream({ rows }) {
  return table(
    ['stream of 50-character chunks', 'jsonriver', 'proviso', 'ratio', 'ai parsePartialJson'],
    rows.map((row) => [
      size(row.bytes),
      ms(row.jsonriver),
      ms(row.proviso),
      times(row.proviso, row.jsonriver),
      ms(row['ai parsePartialJson'] ?? 'too slow'),
    ]),
  )
}
