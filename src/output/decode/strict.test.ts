/** The shortcuts before `JSON.parse` never refuse a text that it would read. */
import { describe, expect, it } from 'vitest'
import { parse } from '../parse.ts'
import { parseStrict } from './strict.ts'

describe('parseStrict', () => {
  it.each([
    '{"a": "see // below", "b": 1}',
    '{"a": " /* not a comment */"}',
    '["x \\" y", "a \\" b"]',
    '{"a": " leading space", "b": " x"}',
    '{\n"a": [1,\n2]}',
    '{\n"a": {"b": "}"\n, "c": "{["}}',
    '[\n"\\\\", "]"]',
    '["a,]", {"b,}": "c \\",]"}]',
    '{"a": "one, }", "b": [1, "2,\\n]"]}',
    ' \n\t-1.5e3 ',
    'true',
    'null',
    '""',
  ])('reads %j like JSON.parse', (text) => {
    expect(parseStrict(text)).toEqual({ value: JSON.parse(text) })
  })

  it.each([
    '{"a": 1 // one\n}',
    '{"a": "they said "yes" twice"}',
    '{\n"a": [1,\n{"b": 2}',
    '{"a": [1, "x,y", ]}',
    '{"a": {"b": ",}",}}',
    'Sure: {"a": 1}',
    '{"a": 12345678901234567890}',
  ])('leaves %j to the tolerant reading', (text) => {
    expect(parseStrict(text)).toBeUndefined()
  })
})

it('finds a value in a member that a repeated key replaced', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const
  expect(parse('{"x": {"n": 1}, "x": 2,}', schema)).toMatchObject({ ok: true, value: { n: 1 } })
  expect(parse('{"x": "{\\"n\\": 1}", "x": 2,}', schema)).toMatchObject({ ok: true, value: { n: 1 } })
})
