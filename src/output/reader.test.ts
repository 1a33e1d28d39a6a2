/** Reading while the text arrives: what is shown early is certain, finished paths come once, and the end is `parse`. */
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../schema/compile/compile.ts'
import { parse } from './parse.ts'
import { createReader } from './reader.ts'

interface Step {
  readonly chunk: string
  readonly partial: unknown
  readonly finished?: readonly string[]
  readonly replaced?: boolean
}

function follow(steps: readonly Step[], schema?: JsonSchema): void {
  const reader = createReader(schema)
  for (const { chunk, partial, finished = [], replaced = false } of steps) {
    const pushed = reader.push(chunk)
    expect({ chunk, ...pushed }).toEqual({ chunk, partial, finished, replaced })
  }
  expect(reader.end()).toEqual(parse(steps.map(({ chunk }) => chunk).join(''), schema))
}

describe('a stream', () => {
  it('withholds unfinished numbers, literals and escapes, and shows strings as they grow', () => {
    follow([
      { chunk: '{"a": 1', partial: {} },
      { chunk: '2, "b": tr', partial: { a: 12 }, finished: ['/a'] },
      { chunk: 'ue, "c": "x\\u00', partial: { a: 12, b: true, c: 'x' }, finished: ['/b'] },
      { chunk: 'e9y", "d": nu', partial: { a: 12, b: true, c: 'xéy' }, finished: ['/c'] },
      { chunk: 'll, "e": [', partial: { a: 12, b: true, c: 'xéy', d: null, e: [] }, finished: ['/d'] },
    ])
  })

  it('announces containers when they are complete, with pointers that can be trusted', () => {
    follow([
      {
        chunk: '{"a/b": [{"c": 1}, {"c"',
        partial: { 'a/b': [{ c: 1 }, {}] },
        finished: ['/a~1b/0/c', '/a~1b/0'],
      },
      {
        chunk: ': 2}], ',
        partial: { 'a/b': [{ c: 1 }, { c: 2 }] },
        finished: ['/a~1b/1/c', '/a~1b/1', '/a~1b'],
      },
    ])
  })

  it('shows nothing before a value has begun, and nothing of prose', () => {
    follow([
      { chunk: 'Sure, here ', partial: undefined },
      { chunk: 'it is: `', partial: undefined },
      { chunk: '``json\n', partial: undefined },
      { chunk: '{"a": "', partial: {} },
      { chunk: 'words', partial: { a: 'words' } },
    ])
  })

  it('passes over values of a kind that the schema does not want', () => {
    follow(
      [
        { chunk: 'As in [1, 2]: ', partial: undefined },
        { chunk: '{"a": 3, ', partial: { a: 3 }, finished: ['/a'] },
      ],
      { type: 'object' },
    )
  })

  it('shows nothing of a reasoning block', () => {
    follow([
      { chunk: '<think>{"a": 1}</think>', partial: undefined },
      { chunk: ' {"a": 2, ', partial: { a: 2 }, finished: ['/a'] },
    ])
  })

  it('takes a draft back when the end of a reasoning block follows it', () => {
    follow([
      { chunk: 'Perhaps {"a": 1} or so.', partial: { a: 1 }, finished: ['/a', ''] },
      { chunk: '</thi', partial: { a: 1 } },
      { chunk: 'nk>', partial: undefined, replaced: true },
      { chunk: ' {"a": 2, ', partial: { a: 2 }, finished: ['/a'] },
    ])
  })

  it('holds back the text behind a doubtful quote', () => {
    const reader = createReader()
    reader.push('{"a": "it is "so')
    expect(reader.push('').partial).toEqual({ a: 'it is ' })
    reader.push('" good"}')
    expect(reader.end()).toMatchObject({ ok: true, value: { a: 'it is "so" good' } })
  })

  it('reads sets and tuples as lists from the start', () => {
    const reader = createReader()
    expect(reader.push('{"b": {1, 2}, ').partial).toEqual({ b: [1, 2] })
  })

  it('shows nothing more once the text is longer than allowed', () => {
    const reader = createReader(undefined, { limits: { bytes: 10 } })
    expect(reader.push('{"a": 1, ').partial).toEqual({ a: 1 })
    expect(reader.push('"b": 2}').partial).toEqual({ a: 1 })
    expect(reader.end().issues[0]).toMatchObject({ code: 'limit/bytes' })
  })

  it('ends with nothing when nothing came', () => {
    expect(createReader().end()).toEqual(parse(''))
  })

  it('refuses impossible options at once', () => {
    expect(() => createReader(undefined, { unescapeDepth: -1 })).toThrow('unescapeDepth')
  })
})
