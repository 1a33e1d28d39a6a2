/** Any expression, sensible or not: it is read or refused, and evaluated or out of fuel, in bounded time and never thrown. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { conditionVars, describeCondition, evaluate, operatorTable, parseCondition } from '../seams/schema.ts'

const long = process.env['PROVISO_LONG'] === '1'
const runs = long ? 100_000 : 6_000

const paths = ['a', 'a.b', 'a.0', 'a.length', 'item', 'item.b', '', 'constructor', '__proto__.x', 'b', 'a..b']
const operators = [...Object.keys(operatorTable), 'cat', 'merge', 'toString', '===', 'if', '']

const { expression } = fc.letrec((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(true, false, 0, 0.5, 1, 'x', null)),
    fc.record({ var: fc.constantFrom(...paths) }),
    fc
      .tuple(fc.constantFrom(...operators), fc.array(tie('expression'), { maxLength: 4 }))
      .map(([op, args]) => JSON.parse(JSON.stringify(Object.fromEntries([[op, args]])))),
    fc
      .tuple(fc.constantFrom('some', 'all', 'none'), fc.constantFrom('a', 'b', 'item'), tie('expression'))
      .map(([op, list, body]) => ({ [op]: [{ var: list }, body] })),
    fc
      .tuple(fc.constantFrom('<', '>=', '==', '!=', 'in'), fc.constantFrom(...paths), tie('expression'))
      .map(([op, path, right]) => ({ [op]: [{ var: path }, right] })),
  ),
}))

/** Milliseconds, measured again when they are many: a busy machine is not a slow evaluator. */
function fastest(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < 8 && best > 5; i++) {
    const started = performance.now()
    run()
    best = Math.min(best, performance.now() - started)
  }
  return best
}

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.record({ a: fc.array(fc.record({ b: fc.double({ noNaN: true }) })), b: fc.array(fc.integer()) }),
  fc.constant({ a: Array(3_000).fill({ b: Array(50).fill(1) }), b: Array(3_000).fill(0) }),
)

it(`reads and evaluates ${runs} expressions in bounded time`, () => {
  let slowest = 0
  let read = 0
  fc.assert(
    fc.property(expression, value, (json, data) => {
      const parsed = parseCondition(json)
      if (parsed.ok) {
        read += 1
        const first = evaluate(parsed.condition, data)
        slowest = Math.max(
          slowest,
          fastest(() => evaluate(parsed.condition, data)),
        )
        expect(['true', 'false', 'error']).toContain(first.kind)
        if (first.kind === 'error') expect(first.issue).toBeDefined()
        expect(evaluate(parsed.condition, data)).toEqual(first)
        expect(describeCondition(parsed.condition).length).toBeLessThanOrEqual(300)
        conditionVars(parsed.condition)
      } else {
        expect(parsed.issues.length).toBeGreaterThan(0)
      }
    }),
    { numRuns: runs, seed: 20_240_612 },
  )
  expect(read).toBeGreaterThan(runs / 10)
  // The goal is 20 ms; a busy machine gets ten times that.
  expect(slowest).toBeLessThan(200)
  console.log(`conditions: ${read} of ${runs} read, slowest evaluation ${slowest.toFixed(2)} ms`)
}, 600_000)
