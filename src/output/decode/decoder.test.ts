/** Brackets, gaps and tokens without quotes: the nearest value that a careful person would see. */
import { describe, expect, it } from 'vitest'
import { parse } from '../parse.ts'
import { createReader } from '../reader.ts'

describe.each<[string, readonly (readonly [string, unknown])[]]>([
  [
    'closing brackets',
    [
      ['[1, 2}}', [1, 2]],
      ['{"a": 1]]', { a: 1 }],
      ['{"a": [1, 2}, "b": 3}', { a: [1, 2], b: 3 }],
      ['{"a": [1, 2]], "b": 3}', { a: [1, 2], b: 3 }],
      ['{"a": [{"b": 1}, "c": 2}', { a: [{ b: 1 }], c: 2 }],
      ['[1, 2}, 3]', [1, 2, 3]],
      ['{"a": 1}}', { a: 1 }],
      [
        '[[1, 2], [3, 4]',
        [
          [1, 2],
          [3, 4],
        ],
      ],
      ['{"a": {"b": 1, "c": 2}', { a: { b: 1, c: 2 } }],
      ['{"a": {"b": 1}}, "c": 2}', { a: { b: 1 }, c: 2 }],
      ['{"a": {"b": [1, 2}, "c": 3}', { a: { b: [1, 2] }, c: 3 }],
      ['[{"a": 1, "b": [2}, {"a": 3}]', [{ a: 1, b: [2] }, { a: 3 }]],
    ],
  ],
  [
    'brackets of other languages',
    [
      ['(1, 2)', [1, 2]],
      ['{"a": (1,)}', { a: [1] }],
      ['{"a": ()}', { a: [] }],
      ['{"a": ("x")}', { a: 'x' }],
      ['{"a": {1, 2}}', { a: [1, 2] }],
      ['{"a": f(1, 2)}', { a: [1, 2] }],
      ['{"a": new Date(1)}', { a: 1 }],
      ['{"a": foo(bar)}', { a: 'foo(bar)' }],
      ['f({"a": 1})', { a: 1 }],
      ['f(a="x" b=2)', { a: 'x', b: 2 }],
      ['[("x"), 1,]', ['x', 1]],
      ['{"a": 1, "a": ("x"),}', { a: 'x' }],
    ],
  ],
  [
    'text between values',
    [
      ['{,"a": 1}', { a: 1 }],
      ['{"a"::1}', { a: 1 }],
      ['[:1]', [1]],
      ['{\\n"a": 1}', { a: 1 }],
      ['{"a": 1, b c d}', { a: 1 }],
      ['[1, /* two */ 2, // three\n 3]', [1, 2, 3]],
      ['[1 2 3]', [1, 2, 3]],
      ['[1; 2]', [1, 2]],
      ['[1, // one\n# two\n2]', [1, 2]],
      ['[a # one\n, b // two\n]', ['a', 'b']],
      ['{"a": 1, (note) "b": 2}', { a: 1, b: 2 }],
      ['[1, 2, …]', [1, 2]],
      ['{"a": ```json\n{"b": 1}\n```}', { a: { b: 1 } }],
      ['{"a": 1\n```\n}', { a: 1 }],
    ],
  ],
  [
    'keys without quotes',
    [
      ['{a: 1, $b_2: 2}', { a: 1, $b_2: 2 }],
      ['{a b: 1}', { 'a b': 1 }],
      ['{a "x"}', { a: 'x' }],
      ['{größe: 1}', { größe: 1 }],
      ['{a = 1}', { a: 1 }],
    ],
  ],
  [
    'values without quotes',
    [
      ['{"a": http://x.y/z, "b": 1}', { a: 'http://x.y/z', b: 1 }],
      ['{"a": 2020-01-01}', { a: '2020-01-01' }],
      ['{"a": one, two, "b": 1}', { a: 'one, two', b: 1 }],
      ['{"a": x\n"b": 2}', { a: 'x', b: 2 }],
      ['{"a": x "b": 2}', { a: 'x', b: 2 }],
      ['{"a": x # remark\n}', { a: 'x' }],
      ['{"a": x /* remark */}', { a: 'x' }],
      ['{"a": 1 // remark\n}', { a: 1 }],
      ['[a b, c]', ['a b', 'c']],
      ['[https://x.y]', ['https://x.y']],
      ['{"a": 0x10, "b": 1e5, "c": 010}', { a: 16, b: 100_000, c: '010' }],
      ['[{"a": 1 {"a": 2}]', [{ a: 1 }, { a: 2 }]],
      ['```json\n{"a": some words,\n```\nHope this helps!', { a: 'some words' }],
      ['```json\n{"b": [1], "a": some words; // more\n```', { b: [1], a: 'some words' }],
    ],
  ],
  [
    'a text that ends early',
    [
      ['{', {}],
      ['[', []],
      ['{"a": 12', { a: 12 }],
      ['{"a": 1.', { a: 1 }],
      ['{"a": -', {}],
      ['{"a": tru', {}],
      ['{"a": word', {}],
      ['[wor', []],
      ['{"a":', {}],
      ['{"a"', {}],
      ['[1, {"b": [2, ', [1, { b: [2] }]],
    ],
  ],
])('%s', (_, cases) => {
  it.each(cases)('%s', (text, value) => {
    const result = parse(text)
    expect(result.ok ? result.value : result.issues).toEqual(value)
    const reader = createReader()
    for (const unit of text) reader.push(unit)
    expect(reader.end()).toEqual(result)
  })
})

it('reads an unquoted value of any length as one', () => {
  const words = `${'word '.repeat(5_000)}end`
  const result = parse(`[1, ${words}, 2]`)
  expect(result.ok && result.value).toEqual([1, words, 2])
})

it('says that the text ended early', () => {
  expect(parse('{"a": [1').truncated).toBe(true)
  expect(parse('{"a": [1]}').truncated).toBe(false)
  expect(parse('{"a": [1]} x').truncated).toBe(false)
})
