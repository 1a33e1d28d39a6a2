/** A schema that is used once costs a fraction of compiling it. */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { parse } from '../../src/output/index.ts'
import type { JsonSchema } from '../../src/schema/compile.ts'

/** A schema like no other, of the kind that tools have. */
function tool(n: number): JsonSchema {
  const names = Array.from({ length: 10 }, (_, i) => `p${i}_${n}`)
  const members = [
    { type: 'string', minLength: 1 },
    { type: 'integer', minimum: n },
    { type: 'array', items: { enum: ['a', `b${n}`] } },
  ]
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((name, i) => [name, members[i % members.length]])),
    additionalProperties: false,
  }
}

function median(times: readonly number[]): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length / 2)] as number
}

function time(work: () => void): number {
  const start = performance.now()
  work()
  return performance.now() - start
}

it('reading toward a fresh schema takes at most a fifth of compiling it with Ajv', () => {
  const ajv = new Ajv2020({ strict: false, validateSchema: false })
  const read: number[] = []
  const compiled: number[] = []
  for (let n = 0; n < 60; n++) {
    const schema = tool(n)
    read.push(time(() => expect(parse(`{"p0_${n}": "x", "p1_${n}": ${n}}`, schema).ok).toBe(true)))
    compiled.push(time(() => ajv.compile(schema as object)))
  }
  // The first turns also pay for the engine's own compiler.
  expect(median(read.slice(10)) / median(compiled.slice(10))).toBeLessThanOrEqual(0.2)
})
