/** (a) Clean JSON: what does the reader cost over JSON.parse and a compiled validator? */
import { parse } from '../../dist/output/index.js'
import { makeValue, schema } from '../lib/documents.mjs'
import { race } from '../lib/measure.mjs'
import { validator } from '../lib/peers.mjs'
import { ms, size, table, times } from '../lib/table.mjs'

export async function clean({ quick }) {
  const validate = validator(schema)
  const rows = []
  for (const bytes of quick ? [1024, 102_400] : [1024, 102_400, 5_242_880]) {
    const text = JSON.stringify(makeValue(bytes))
    const took = await race(
      { proviso: () => parse(text, schema), strict: () => validate(JSON.parse(text)) },
      { repeats: quick ? 7 : 21 },
    )
    rows.push({ bytes, ...took, ratio: took.proviso / took.strict })
  }
  return { name: 'clean', rows }
}

export function showClean({ rows }) {
  return table(
    ['clean JSON', 'JSON.parse + Ajv', 'proviso', 'ratio'],
    rows.map((row) => [size(row.bytes), ms(row.strict), ms(row.proviso), times(row.proviso, row.strict)]),
  )
}
