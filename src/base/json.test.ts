import { expect, it } from 'vitest'
import { jsonEqual } from './json.ts'

it('compares JSON values by what they hold, not by the order of keys', () => {
  expect(jsonEqual({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] })).toBe(true)
  expect(jsonEqual([1, 2], [1, 2])).toBe(true)
  const different: [unknown, unknown][] = [
    [{ a: 1 }, { a: 2 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [[1], [1, 2]],
    [[], {}],
    [{}, []],
    [null, {}],
    ['1', 1],
    [[1], [2]],
  ]
  for (const [a, b] of different) expect(jsonEqual(a, b)).toBe(false)
})

it('takes keys such as toString and __proto__ for ordinary names', () => {
  for (const key of ['toString', 'valueOf', 'constructor', '__proto__']) {
    expect(jsonEqual(JSON.parse(`{"${key}":1}`), JSON.parse(`{"${key}":1}`))).toBe(true)
    expect(jsonEqual(JSON.parse(`{"${key}":1}`), JSON.parse(`{"${key}":2}`))).toBe(false)
    expect(jsonEqual(JSON.parse(`{"${key}":1}`), { a: 1 })).toBe(false)
  }
})
