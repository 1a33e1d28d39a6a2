/** A schema that is used once costs a fraction of compiling it. Measures the built package: that is what users run. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, expect, it } from 'vitest'
import type { JsonSchema } from '../../src/index.ts'
import type { parse as Parse } from '../../src/output/index.ts'
import { measureLowest } from '../remeasure.ts'
import { requireBuild } from '../support.ts'

let parse: typeof Parse

beforeAll(async () => {
  requireBuild()
  const built = new URL('../../dist/output/index.js', import.meta.url).href
  parse = (await import(/* @vite-ignore */ built)).parse
})

type Members = (n: number) => readonly JsonSchema[]

const plain: Members = (n) => [
  { type: 'string', minLength: 1 },
  { type: 'integer', minimum: n },
  { type: 'array', items: { enum: ['a', `b${n}`] } },
]

/** Every member takes a walk of its own: a reference, a pattern, a union. */
const linked: Members = (n) => [
  { type: 'string', pattern: `^x|${n}$` },
  { $ref: '#/$defs/count' },
  { anyOf: [{ type: 'null' }, { type: 'array', items: { $ref: '#/$defs/count' } }] },
]

/** A schema like no other, of the kind that tools have. */
function tool(n: number, members: Members): JsonSchema {
  const names = Array.from({ length: 10 }, (_, i) => `p${i}_${n}`)
  const each = members(n)
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name, i) => [name, each[i % each.length]])),
    additionalProperties: false,
    ...(members === linked && { $defs: { count: { type: 'integer', minimum: n } } }),
  }
}

/** Other work on the machine makes some turns longer and none shorter. */
function lowerQuartile(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 4)] as number
}

function time(work: () => unknown): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

const clean = (n: number) => `{"p0_${n}": "x", "p1_${n}": ${n}}`
const broken = (n: number) => `Sure: {"p0_${n}": 'x', p1_${n}: ${n},}`

/** Shares of the time that compiling takes. The goal is a fifth; broken texts reach about a quarter and may not get slower. */
const [FIFTH, BROKEN] = [0.2, 0.3]

it.each([
  ['of types and limits, clean text', plain, clean, FIFTH],
  ['of types and limits, broken text', plain, broken, BROKEN],
  ['with references, patterns and unions, clean text', linked, clean, FIFTH],
  ['with references, patterns and unions, broken text', linked, broken, BROKEN],
])(
  'reading toward a fresh schema takes a fraction of compiling it with Ajv: %s',
  async (_, members, write, limit) => {
    expect(await measureLowest(limit, () => shareOfCompiling(members, write))).toBeLessThanOrEqual(limit)
  },
)

let used = 0

/** Reads toward 200 schemas that were not used before and compiles them with Ajv; returns the ratio of the two times. */
function shareOfCompiling(members: Members, write: (n: number) => string): number {
  const ajv = new Ajv2020({ strict: false, validateSchema: false })
  const read: number[] = []
  const compiled: number[] = []
  for (let turn = 0; turn < 200; turn++) {
    const n = used++
    const schema = tool(n, members)
    const text = write(n)
    read.push(time(() => expect(parse(text, schema).ok).toBe(true)))
    compiled.push(time(() => ajv.compile(schema as object)))
  }
  // The first turns also pay for the engine's own compiler, which takes longer for the larger program.
  return lowerQuartile(read.slice(100)) / lowerQuartile(compiled.slice(100))
}
