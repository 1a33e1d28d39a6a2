import { describe, expect, it } from 'vitest'
import type { Repair } from '../types.ts'
import { replay } from './replay.ts'

function edit(start: number, end: number, after: unknown): Repair {
  return { stage: 'syntactic', rule: 'edit', at: { span: [start, end] }, before: undefined, after }
}

function change(pointer: string, after: unknown, rule = 'convert'): Repair {
  return { stage: 'semantic', rule, at: { pointer }, before: undefined, after }
}

describe('replay', () => {
  it('parses the raw text when nothing was repaired', () => {
    expect(replay(' {"a": [1]} ', [])).toEqual({ a: [1] })
  })

  it('applies edits of the original text, however they are listed', () => {
    const raw = "Sure: {'a': 1,} bye"
    const repairs = [edit(13, 14, undefined), edit(0, 6, ''), edit(7, 10, '"a"'), edit(15, 19, '')]
    expect(replay(raw, repairs)).toEqual({ a: 1 })
  })

  it('keeps the order of insertions at one place', () => {
    expect(replay('{"a":[{"b":1', [edit(12, 12, '}'), edit(12, 12, ']'), edit(12, 12, '}')])).toEqual({
      a: [{ b: 1 }],
    })
  })

  it('inserts before a replacement that starts at the same place', () => {
    expect(replay('x', [edit(0, 1, '1'), edit(0, 0, '['), edit(1, 1, ']')])).toEqual([1])
  })

  it('takes the text itself for the value under text-is-value', () => {
    const repair: Repair = { ...edit(0, 5, 'hello'), rule: 'text-is-value', before: 'hello' }
    expect(replay('hello', [repair])).toBe('hello')
    expect(replay('hello', [repair, change('', ['hello'])])).toEqual(['hello'])
  })

  it('sets values, appends items and replaces the root, in order', () => {
    const repairs = [
      change('', { n: '7', list: ['a'] }),
      change('/n', 7),
      change('/list/1', 'b'),
      change('/list/0', 'A'),
    ]
    expect(replay('"x"', repairs)).toEqual({ n: 7, list: ['A', 'b'] })
  })

  it('adds a member that was not there', () => {
    expect(replay('{}', [change('/a~1b', 1)])).toEqual({ 'a/b': 1 })
  })

  it('removes members and items', () => {
    expect(replay('{"a":1,"b":[1,2,3]}', [change('/a', undefined), change('/b/1', undefined)])).toEqual({
      b: [1, 3],
    })
    expect(replay('{"a":1,"b":2}', [change('/a', null, 'drop-key')])).toEqual({ b: 2 })
  })

  it('renames a member in its position', () => {
    const value = replay('{"First Name":"Ada","age":36}', [change('/First Name', 'firstName', 'key')])
    expect(JSON.stringify(value)).toBe('{"firstName":"Ada","age":36}')
  })

  it('lets a renamed member take the place of one with that name', () => {
    expect(replay('{"A":1,"a":2}', [change('/A', 'a', 'key')])).toEqual({ a: 1 })
  })

  it('changes neither the repairs nor what they hold', () => {
    const after = { list: [1] }
    const repairs = [change('', after), change('/list/1', 2), change('/list/0', undefined)]
    expect(replay('0', repairs)).toEqual({ list: [2] })
    expect(after).toEqual({ list: [1] })
    expect(replay('0', repairs)).toEqual({ list: [2] })
  })

  it('treats __proto__ as an ordinary name', () => {
    const after = JSON.parse('{"__proto__":{"x":1}}') as unknown
    const value = replay('{"__proto__":{}}', [
      change('/__proto__/polluted', true),
      change('/k', after),
      change('/k/__proto__', '__proto__ too', 'key'),
      change('/constructor', 1),
    ])
    expect(JSON.stringify(value)).toBe(
      '{"__proto__":{"polluted":true},"k":{"__proto__ too":{"x":1}},"constructor":1}',
    )
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it.each([
    ['{"a":1}', change('/b/c', 1)],
    ['{"a":1}', change('/a/b', 1)],
    ['{"a":1}', change('/toString/x', 1)],
    ['{"a":1}', change('/b', undefined)],
    ['{"a":1}', change('/b', 'c', 'key')],
    ['[1]', change('/2', 1)],
    ['[1]', change('/1', undefined)],
    ['[1]', change('/-', 1)],
    ['[1]', change('/01', 1)],
    ['1', change('/a', 1)],
  ])('refuses a pointer that leads nowhere: %s %j', (raw, repair) => {
    expect(() => replay(raw, [repair])).toThrow(/leads nowhere/)
  })

  it('refuses edits that overlap or lie outside the text', () => {
    expect(() => replay('[1,2]', [edit(0, 3, ''), edit(2, 4, '')])).toThrow(/overlaps/)
    expect(() => replay('[1]', [edit(2, 9, '')])).toThrow(/not found/)
  })

  it('says so when the edited text is not JSON', () => {
    expect(() => replay('[1', [])).toThrow(/not strict JSON/)
  })

  it('is quick on many edits', () => {
    const raw = `[${'1,'.repeat(100_000)}]`
    const start = performance.now()
    const repairs = Array.from({ length: 99_999 }, (_, i) => edit(1 + 2 * i, 2 + 2 * i, '2'))
    expect(replay(raw, [...repairs, edit(200_000, 200_001, undefined)])).toHaveLength(100_000)
    expect(performance.now() - start).toBeLessThan(3_000)
  })
})
