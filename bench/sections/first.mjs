/** (f) A schema that is used once: reading one text toward a fresh schema, against compiling that schema with Ajv. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { parse } from '../../dist/output/index.js'
import { median } from '../lib/measure.mjs'
import { ms, table, times } from '../lib/table.mjs'

/** Schemas of tools as they are written, each with a text that satisfies it; `n` makes every one different. */
const kinds = {
  'tool of 3 properties': (n) => tool(3, n),
  'tool of 12 properties': (n) => tool(12, n),
  'list of nested objects': (n) => ({
    type: 'object',
    properties: { [`list${n}`]: { type: 'array', items: tool(8, n) } },
    required: [`list${n}`],
  }),
  'union of 6 objects': (n) => ({ anyOf: Array.from({ length: 6 }, (_, i) => tool(5, `${n}_${i}`)) }),
}

export async function first({ quick }) {
  const count = quick ? 60 : 300
  const rows = Object.entries(kinds).map(([kind, make]) => {
    const ajv = new Ajv2020({ strict: false, validateSchema: false })
    ;(formats.default ?? formats)(ajv)
    const proviso = []
    const compile = []
    for (let n = 0; n < count; n++) {
      const schema = make(n)
      const text = JSON.stringify(sampleOf(schema))
      proviso.push(time(() => parse(text, schema)))
      const same = structuredClone(schema)
      compile.push(time(() => ajv.compile(same)))
    }
    // The first few also pay for the engine's own compiler.
    const took = { proviso: median(proviso.slice(10)), compile: median(compile.slice(10)) }
    return { kind, ...took, ratio: took.proviso / took.compile }
  })
  return { name: 'first', rows }
}

export function showFirst({ rows }) {
  return table(
    ['a schema used once', 'Ajv compile', 'proviso parse', 'ratio (goal ≤ 0.2)'],
    rows.map((row) => [row.kind, ms(row.compile), ms(row.proviso), times(row.proviso, row.compile)]),
  )
}

function tool(properties, n) {
  const members = [
    { type: 'string', minLength: 1, description: `the name ${n}` },
    { type: 'integer', minimum: 0 },
    { enum: ['low', 'high', `n${n}`] },
    { type: 'array', items: { type: 'string' }, maxItems: 20 },
    { type: ['number', 'null'] },
    { type: 'string', format: 'date-time' },
  ]
  const names = Array.from({ length: properties }, (_, i) => `p${i}_${n}`)
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name, i) => [name, members[i % members.length]])),
    required: names,
    additionalProperties: false,
  }
}

function sampleOf(schema) {
  if (schema.anyOf) return sampleOf(schema.anyOf.at(-1))
  if (schema.enum) return schema.enum.at(-1)
  const type = [schema.type].flat()[0]
  if (type === 'object')
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, member]) => [name, sampleOf(member)]),
    )
  if (type === 'array') return [sampleOf(schema.items), sampleOf(schema.items)]
  if (schema.format) return '2026-01-01T00:00:00Z'
  return type === 'string' ? 'x' : 1
}

function time(run) {
  const start = performance.now()
  run()
  return performance.now() - start
}
