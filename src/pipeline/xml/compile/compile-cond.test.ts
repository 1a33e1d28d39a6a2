/** Tests of cases become conditions, or report where they cannot be parsed. */
import { describe, expect, it } from 'vitest'
import { evaluate, parseCondition } from '../../../schema/condition/condition.ts'
import { readTest } from './compile-cond.ts'

const values = { size: 12, name: 'a', info: { size: 3, tags: ['x', 'y'] }, ok: true }

function verdict(text: string): string {
  const read = readTest(text)
  if (!read.ok) throw new Error(read.error.message)
  const parsed = parseCondition(read.condition)
  if (!parsed.ok) throw new Error('no condition')
  return evaluate(parsed.condition, values).kind
}

describe('the test of a case', () => {
  it.each([
    ['{{size}} > 10', 'true'],
    ['size gt 10', 'true'],
    ['size le 10', 'false'],
    ['{{ name }} == "a"', 'true'],
    ["name != 'a'", 'false'],
    ['info.size < 5 and not name == "b"', 'true'],
    ['name == "b" or size == 12', 'true'],
    ['name == "b" or size == 12 and ok == false', 'false'],
    ['(name == "b" or size == 12) and ok', 'true'],
    ['!ok || missing(info.nothing)', 'true'],
    ['name in ["a", "b"]', 'true'],
    ['"x" in info.tags', 'true'],
    ['info.tags.length == 2 && ok', 'true'],
    ['{{ok}}', 'true'],
    ['true', 'true'],
    ['size == "12"', 'false'],
    ['nothing == null', 'false'],
  ])('%s is %s', (text, kind) => {
    expect(verdict(text)).toBe(kind)
  })

  it('names what it reads, each once, and calls by a name of their own', () => {
    const read = readTest('{{a.b}} == {{fn(a, 1)}} and a.c > 2', 'case1')
    expect(read).toEqual({
      ok: true,
      condition: {
        and: [{ '==': [{ var: 'a.b' }, { var: 'case1_call2' }] }, { '>': [{ var: 'a.c' }, 2] }],
      },
      operands: [
        { name: 'a', expression: { kind: 'path', name: 'a', path: [] } },
        {
          name: 'case1_call2',
          expression: {
            kind: 'call',
            template: 'fn',
            args: [
              { kind: 'path', name: 'a', path: [] },
              { kind: 'literal', value: 1 },
            ],
          },
        },
      ],
    })
  })

  it.each([
    ['', 0],
    ['size >', 6],
    ['size = 3', 6],
    ['size > 3 size', 9],
    ['(size > 3', 9],
    ['size > "3"', 0],
    ['"a"', 0],
    ['{{size', 0],
    ['name in [size]', 9],
    [`${'('.repeat(50)}ok`, 16],
    [`${'not '.repeat(50)}ok`, 63],
    ['constructor.constructor("x")', 23],
  ])('%s cannot be read, and says where', (text, at) => {
    const read = readTest(text)
    expect(read.ok).toBe(false)
    if (!read.ok) expect(read.error).toMatchObject({ at, message: expect.any(String) })
  })
})
