/** Copies of what callers pass: the same JSON, nothing shared, and always an end. */
import { type } from 'arktype'
import fc from 'fast-check'
import { number, object } from 'valibot'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { plainCopy, plainLimits } from './plain-copy.ts'

function nested(depth: number): unknown {
  let value: unknown = 1
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

it('copies any JSON as it is, order of keys included', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 5 }), (given) => {
      const copy = plainCopy(given)
      expect(copy.ok && JSON.stringify(copy.value)).toBe(JSON.stringify(given))
    }),
  )
})

it('shares nothing with the original', () => {
  const given = { a: [{ b: 1 }] }
  const copy = plainCopy(given)
  given.a[0] = { b: 2 }
  expect(copy).toEqual({ ok: true, value: { a: [{ b: 1 }] } })
})

it('refuses undefined and holes in lists where they must not become null', () => {
  const refuse = { holes: 'refuse' } as const
  for (const list of [[1, undefined], Array.from({ length: 2 }).fill(1, 0, 1)]) {
    expect(plainCopy({ b: list }, refuse)).toMatchObject({ ok: false, issue: { at: { pointer: '/b/1' } } })
  }
  const sparse: number[] = [1]
  sparse.length = 2
  expect(plainCopy(sparse, refuse)).toMatchObject({ ok: false, issue: { at: { pointer: '/1' } } })
  expect(plainCopy({ a: undefined, b: [1, null] }, refuse)).toEqual({ ok: true, value: { b: [1, null] } })
})

it('leaves out members that are undefined; in lists they become null', () => {
  expect(plainCopy({ a: undefined, b: [1, undefined] })).toEqual({ ok: true, value: { b: [1, null] } })
})

it('keeps __proto__ as an ordinary key', () => {
  const copy = plainCopy(JSON.parse('{"__proto__": {"a": 1}}'))
  expect(copy.ok && JSON.stringify(copy.value)).toBe('{"__proto__":{"a":1}}')
})

it('refuses what is nested too deep, up to the last level', () => {
  expect(plainCopy(nested(plainLimits.depth)).ok).toBe(true)
  expect(plainCopy(nested(plainLimits.depth + 1))).toMatchObject({ issue: { code: 'json/unrepresentable' } })
  expect(plainCopy(nested(200_000)).ok).toBe(false)
})

it.each<[what: string, given: unknown, at: string]>([
  ['a function', { a: [() => 1] }, '/a/0'],
  ['a date', { 'a/b': new Date(0) }, '/a~1b'],
  ['a map', new Map(), ''],
  ['not a number', [Number.NaN], '/0'],
  ['a big integer', [1n], '/0'],
  ['a symbol', Symbol.iterator, ''],
  ['nothing', undefined, ''],
])('refuses %s at its place', (_, given, at) => {
  expect(plainCopy(given)).toMatchObject({ ok: false, issue: { at: { pointer: at } } })
})

it.each<[library: string, schema: unknown]>([
  ['Zod', z.object({ price: z.number() })],
  ['Valibot', object({ price: number() })],
  ['ArkType', type({ price: 'number' })],
])(
  'refuses a schema object of %s, whose members are not the JSON Schema that they look like',
  (_, schema) => {
    expect(plainCopy({ outputContract: { schema } })).toMatchObject({
      ok: false,
      issue: {
        at: { pointer: '/outputContract/schema' },
        message: expect.stringContaining('a schema object of another library'),
        hint: expect.stringContaining('z.toJSONSchema(schema)'),
      },
    })
  },
)

it('takes data that only has the name of such a schema', () => {
  expect(plainCopy({ '~standard': { validate: true } }).ok).toBe(true)
})

it('ends on a value that contains itself', () => {
  const loop: Record<string, unknown> = {}
  loop['self'] = loop
  expect(plainCopy(loop).ok).toBe(false)
})

it('ends before the memory does on what is wider than it may be', () => {
  const empty: unknown[] = []
  empty.length = 2 ** 32 - 1
  const list: unknown[] = []
  for (let index = 0; index < 100_000; index++) list.push(list)
  const refused = { ok: false, issue: { message: 'the value has more than 1000000 values' } }
  expect(plainCopy(list)).toMatchObject(refused)
  for (const holes of ['null', 'refuse'] as const)
    expect(plainCopy({ empty }, { holes })).toMatchObject(refused)
})
