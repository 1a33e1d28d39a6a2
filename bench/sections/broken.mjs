/** (b) Broken JSON: the same input for the reader and for jsonrepair + JSON.parse + Ajv, and the intact one for JSON.parse. */
import { jsonrepair } from 'jsonrepair'
import { parse } from '../../dist/output/index.js'
import { sameJson } from '../../dist/testing/index.js'
import { breakers, makeValue, schema } from '../lib/documents.mjs'
import { median, raceInTurns, ratioInTurns, wouldTakeTooLong } from '../lib/measure.mjs'
import { validator } from '../lib/peers.mjs'
import { ms, size, table, times } from '../lib/table.mjs'

/** At most so many times as long as JSON.parse takes for the intact document. */
const GOAL = 6
/** Up to this size, at most this part of what jsonrepair + JSON.parse + Ajv take. */
const SMALL = 1024
const GOAL_SMALL = 0.5
const WARM_UPS = 1000

export async function broken({ quick }) {
  const validate = validator(schema)
  const sizes = quick ? [1024, 51_200] : [1024, 102_400, 1_048_576]
  const rows = []
  warmUp()
  for (const [kind, breakIt] of Object.entries(breakers)) {
    const before = { proviso: [], jsonrepair: [] }
    for (const bytes of sizes) {
      const value = makeValue(bytes)
      const text = breakIt(value)
      const intact = JSON.stringify(value)
      const contenders = {
        'JSON.parse': () => JSON.parse(intact),
        proviso: () => parse(text, schema),
        jsonrepair: () => validate(JSON.parse(jsonrepair(text))),
      }
      const skipped = Object.keys(before).filter((name) => wouldTakeTooLong(before[name], sizes, bytes))
      for (const name of skipped) delete contenders[name]
      const turns = await raceInTurns(contenders, { repeats: quick ? 5 : 15 })
      const took = (name) => (Array.isArray(turns[name]) ? median(turns[name]) : (turns[name] ?? 'too slow'))
      for (const name of Object.keys(before)) before[name].push(took(name))
      const right = {
        proviso: 'proviso' in contenders && isRight(() => parse(text, schema), value),
        jsonrepair:
          Array.isArray(turns.jsonrepair) &&
          isRight(() => ({ ok: true, value: JSON.parse(jsonrepair(text)) }), value),
      }
      rows.push({
        kind,
        bytes,
        intact: took('JSON.parse'),
        proviso: took('proviso'),
        jsonrepair: took('jsonrepair'),
        timesIntact: ratioInTurns(turns.proviso, turns['JSON.parse']),
        timesJsonrepair: turns.jsonrepair && ratioInTurns(turns.proviso, turns.jsonrepair),
        right,
      })
    }
  }
  return { name: 'broken', rows }
}

/** Reads every kind of damage, so that the first rows are not measured on code that has seen only one kind. */
function warmUp() {
  const value = makeValue(SMALL)
  for (const breakIt of Object.values(breakers)) {
    const text = breakIt(value)
    for (let i = 0; i < WARM_UPS; i++) parse(text, schema)
  }
}

function isRight(run, value) {
  try {
    const result = run()
    return result.ok && sameJson(result.value, value)
  } catch {
    return false
  }
}

export function showBroken({ rows }) {
  const mark = (time, right) => `${ms(time)}${typeof time === 'number' && !right ? ' (wrong)' : ''}`
  return table(
    [
      'broken by',
      'size',
      'JSON.parse of the intact',
      'proviso',
      `× JSON.parse (goal ≤ ${GOAL})`,
      'jsonrepair + JSON.parse + Ajv',
      `proviso / jsonrepair (goal at ${size(SMALL)} ≤ ${GOAL_SMALL})`,
    ],
    rows.map((row) => [
      row.kind,
      size(row.bytes),
      ms(row.intact),
      mark(row.proviso, row.right.proviso),
      times(row.timesIntact, 1),
      mark(row.jsonrepair, row.right.jsonrepair),
      times(row.timesJsonrepair, 1),
    ]),
  )
}
