/** Every rule by one small text that needs it: what is read, and under which name the change is recorded. */
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../schema/compile/compile.ts'
import { parse } from './parse.ts'
import { ruleSentence, ruleTable } from './report/rule-table.ts'
import { type RuleName, rules } from './rules.ts'
import type { ParseOptions } from './types.ts'

interface Case {
  readonly text: string
  readonly value: unknown
  readonly schema?: JsonSchema
  readonly options?: ParseOptions
}

const object = (properties: Record<string, JsonSchema>, more: object = {}): JsonSchema => ({
  type: 'object',
  properties,
  ...more,
})
const list = (items: JsonSchema): JsonSchema => ({ type: 'array', items })

const cases: Record<RuleName, readonly Case[]> = {
  surroundings: [{ text: 'Sure! {"a": 1} Done.', value: { a: 1 } }],
  'text-is-value': [{ text: 'Just words.', schema: { type: 'string' }, value: 'Just words.' }],
  reasoning: [{ text: '<think>a</think>\nParis', schema: { type: 'string' }, value: 'Paris' }],
  collect: [{ text: '{"a": 1}\n{"a": 2}', schema: list({ type: 'object' }), value: [{ a: 1 }, { a: 2 }] }],
  unescape: [{ text: '{"n": "\\"7\\""}', schema: object({ n: { type: 'integer' } }), value: { n: 7 } }],
  fence: [{ text: '{"a": ```json\n{"b": 1}```}', value: { a: { b: 1 } } }],
  comment: [
    { text: '{"a": 1, // one\n"b": 2}', value: { a: 1, b: 2 } },
    { text: '{"a": /* one */ 1}', value: { a: 1 } },
    { text: '{"a": 1, # one\n"b": 2}', value: { a: 1, b: 2 } },
  ],
  'trailing-comma': [
    { text: '[1, 2,]', value: [1, 2] },
    { text: '{"a": 1,}', value: { a: 1 } },
    { text: '[1,, 2]', value: [1, 2] },
    { text: '[,1]', value: [1] },
  ],
  'missing-closer': [
    { text: '{"a": [1, 2}', value: { a: [1, 2] } },
    { text: '[{"a": 1, {"a": 2}]', value: [{ a: 1 }, { a: 2 }] },
    { text: '{"a": [1, 2, "b": 3}', value: { a: [1, 2], b: 3 } },
  ],
  truncated: [
    { text: '{"a": [1, 2', value: { a: [1, 2] } },
    { text: '{"a": "x', value: { a: 'x' }, options: { acceptTruncated: true } },
  ],
  'extra-closer': [
    { text: '{"a": {"b": 1}}, "c": 2}', value: { a: { b: 1 }, c: 2 } },
    { text: '{{"a": 1}}', value: { a: 1 } },
  ],
  'wrong-closer': [{ text: '[1, 2)', value: [1, 2] }],
  'single-quotes': [
    { text: "{'a': 'b'}", value: { a: 'b' } },
    { text: '{“a”: “b”}', value: { a: 'b' } },
    { text: '{`a`: «b»}', value: { a: 'b' } },
  ],
  'bare-key': [{ text: '{a: 1}', value: { a: 1 } }],
  literal: [{ text: '[True, False, None, TRUE, NULL, nil]', value: [true, false, null, true, null, null] }],
  'odd-space': [{ text: '{\u00a0"a":\u200b1}', value: { a: 1 } }],
  'raw-control': [{ text: '{"a": "x\ny"}', value: { a: 'x\ny' } }],
  'duplicate-key': [{ text: '{"a": 1, "a": 2,}', value: { a: 2 } }],
  'big-number': [
    { text: '{"id": 12345678901234567890}', value: { id: '12345678901234567890' } },
    { text: '[1e999]', value: ['1e999'] },
  ],
  number: [
    { text: '[+1, .5, 5., 0x1F, 1_000]', value: [1, 0.5, 5, 31, 1000] },
    { text: '{"n": 12,000}', value: { n: 12000 } },
  ],
  escape: [
    { text: '["\\x41"]', value: ['A'] },
    { text: '["it\\\'s"]', value: ["it's"] },
    { text: '["a\\qb"]', value: ['a\\qb'] },
  ],
  'full-width': [{ text: '｛"a"：1，"b"：［2］｝', value: { a: 1, b: [2] } }],
  'not-a-number': [{ text: '[NaN, -Infinity, undefined]', value: [null, null, null] }],
  'missing-comma': [
    { text: '{"a": 1 "b": 2}', value: { a: 1, b: 2 } },
    { text: '["x" "y"]', value: ['x', 'y'] },
    { text: '[1 2]', value: [1, 2] },
  ],
  'missing-colon': [
    { text: '{"a" 1}', value: { a: 1 } },
    { text: '{"a" => 1}', value: { a: 1 } },
    { text: '{"a" = 1}', value: { a: 1 } },
  ],
  'missing-quote': [
    { text: '{a": 1}', value: { a: 1 } },
    { text: '{"a: 1}', value: { a: 1 } },
    { text: '{"a": "x, "b": 1}', value: { a: 'x', b: 1 } },
    { text: '{"a": x"}', value: { a: 'x' } },
    { text: '{"status": "active, role: admin}', value: { status: 'active', role: 'admin' } },
  ],
  'missing-opener': [
    { text: '"a": 1, "b": 2}', value: { a: 1, b: 2 } },
    { text: '["a": 1]', value: [{ a: 1 }] },
    {
      text: '{"rows": [["a", 1], "b", 2], ["c", 3]]}',
      value: {
        rows: [
          ['a', 1],
          ['b', 2],
          ['c', 3],
        ],
      },
    },
  ],
  'missing-value': [
    { text: '{"a":, "b": 2}', value: { b: 2 } },
    { text: '{"a":}', value: {} },
    { text: '{"a": 1, "b"}', value: { a: 1 } },
  ],
  'cut-string': [{ text: '{"a": 1, "b": "so', value: { a: 1 } }],
  'inner-quote': [
    { text: '{"a": "say "hi" now"}', value: { a: 'say "hi" now' } },
    { text: '["a "b" c", "d"]', value: ['a "b" c', 'd'] },
    { text: '{"a": "{\\\\"b\\\\\\":\\"c"}"}', value: { a: '{"b":"c"}' } },
  ],
  'doubled-quotes': [
    { text: '{"" a": 1}', value: { ' a': 1 } },
    { text: '{""a"": ""b""}', value: { a: 'b' } },
    { text: '{"a": """b"""}', value: { a: 'b' } },
  ],
  'escaped-quotes': [
    { text: '{\\"a\\": \\"b\\"}', value: { a: 'b' } },
    { text: '{\\"a\\": 1, "b": 2}', value: { a: 1, b: 2 } },
  ],
  'bare-value': [
    { text: '{"a": some words, "b": 1}', value: { a: 'some words', b: 1 } },
    { text: '[red, green]', value: ['red', 'green'] },
  ],
  concatenation: [{ text: '{"a": "x" + "y"}', value: { a: 'xy' } }],
  ellipsis: [
    { text: '[1, 2, ...]', value: [1, 2] },
    { text: '{"a": 1, …}', value: { a: 1 } },
  ],
  'stray-text': [
    { text: '{"a": 1, WORD "b": 2}', value: { a: 1, b: 2 } },
    { text: '[{"a": 1} and {"a": 2}]', value: [{ a: 1 }, { a: 2 }] },
    { text: '[{"a": 1} (the first), {"a": 2}]', value: [{ a: 1 }, { a: 2 }] },
  ],
  // Nothing is left out unseen: the text has no valid reading, and the issue says where.
  'stray-value': [{ text: '{"a": 1, {"b": 2}}', value: ['output/stray-value'] }],
  rewrite: [
    {
      text: '{&quot;a&quot;: 1}',
      schema: object({ a: { type: 'integer' } }, { required: ['a'] }),
      value: { a: 1 },
    },
  ],
  tuple: [
    { text: '{"a": (1, 2)}', value: { a: [1, 2] } },
    { text: '{"a": {1, 2}}', value: { a: [1, 2] } },
    { text: '{"x", "y"}', value: ['x', 'y'] },
  ],
  call: [
    { text: '{"d": Date("2020")}', value: { d: '2020' } },
    { text: '[Point(x=1, y=2)]', value: [{ x: 1, y: 2 }] },
  ],
  'named-call': [
    {
      text: 'get_weather({"city": "Paris"})',
      schema: object(
        { name: { type: 'string' }, arguments: { type: 'object' } },
        { required: ['name', 'arguments'] },
      ),
      value: { name: 'get_weather', arguments: { city: 'Paris' } },
    },
  ],
  'key-lines': [
    {
      text: 'Name: Ada\nAge: 36',
      schema: object({ name: { type: 'string' }, age: { type: 'integer' } }, { required: ['name', 'age'] }),
      value: { name: 'Ada', age: 36 },
    },
  ],
  'str->int': [{ text: '{"n": "7"}', schema: object({ n: { type: 'integer' } }), value: { n: 7 } }],
  'str->float': [{ text: '{"n": "1.5"}', schema: object({ n: { type: 'number' } }), value: { n: 1.5 } }],
  'str->bool': [{ text: '{"b": "True"}', schema: object({ b: { type: 'boolean' } }), value: { b: true } }],
  'str->null': [{ text: '{"x": "None"}', schema: object({ x: { type: 'null' } }), value: { x: null } }],
  'str->array': [
    { text: '{"l": "[1, \\"2\\"]"}', schema: object({ l: list({ type: 'integer' }) }), value: { l: [1, 2] } },
  ],
  'str->object': [
    {
      text: '{"o": "{\\"n\\": \\"1\\"}"}',
      schema: object({ o: object({ n: { type: 'integer' } }) }),
      value: { o: { n: 1 } },
    },
  ],
  'num->str': [{ text: '{"s": 1.50}', schema: object({ s: { type: 'string' } }), value: { s: '1.50' } }],
  'num->bool': [
    {
      text: '{"b": 1}',
      schema: object({ b: { type: 'boolean' } }),
      options: { allow: { boolean: ['num->bool'] } },
      value: { b: true },
    },
  ],
  'word->bool': [
    {
      text: '{"b": "Yes"}',
      schema: object({ b: { type: 'boolean' } }),
      options: { allow: { boolean: ['word->bool'] } },
      value: { b: true },
    },
  ],
  'json->str': [
    { text: '{"s": {"k": [1]}}', schema: object({ s: { type: 'string' } }), value: { s: '{"k": [1]}' } },
    { text: '{"s": true}', schema: object({ s: { type: 'string' } }), value: { s: 'true' } },
  ],
  wrap: [{ text: '{"l": 1}', schema: object({ l: list({ type: 'integer' }) }), value: { l: [1] } }],
  unwrap: [{ text: '{"n": ["7"]}', schema: object({ n: { type: 'integer' } }), value: { n: 7 } }],
  enum: [
    {
      text: '{"c": "Dark blue"}',
      schema: object({ c: { enum: ['dark_blue', 'red'] } }),
      value: { c: 'dark_blue' },
    },
    { text: '{"c": "CAFE"}', schema: object({ c: { const: 'café' } }), value: { c: 'café' } },
  ],
  key: [
    {
      text: '{"First-Name": "Ada"}',
      schema: object({ firstName: { type: 'string' } }, { required: ['firstName'] }),
      value: { firstName: 'Ada' },
    },
  ],
  'drop-key': [
    {
      text: '{"a": 1, "note": "!"}',
      schema: object({ a: {} }, { additionalProperties: false }),
      value: { a: 1 },
    },
  ],
  'null-absent': [
    { text: '{"a": 1, "b": null}', schema: object({ a: {}, b: { type: 'string' } }), value: { a: 1 } },
  ],
  lift: [
    {
      text: '{"result": {"a": 1}}',
      schema: object({ a: { type: 'integer' } }, { required: ['a'] }),
      value: { a: 1 },
    },
  ],
  enclose: [
    {
      text: '[1, 2]',
      schema: object({ items: list({ type: 'integer' }) }, { required: ['items'] }),
      value: { items: [1, 2] },
    },
  ],
  'drop-item': [
    {
      text: '[1, "x", 3]',
      schema: list({ type: 'integer' }),
      options: { salvage: true },
      value: [1, 3],
    },
  ],
  default: [
    {
      text: 'x {"a": 1}',
      schema: object({ a: {}, b: { default: 2 } }, { required: ['b'] }),
      options: { defaults: true },
      value: { a: 1, b: 2 },
    },
  ],
}

it('has a case for every row of the table', () => {
  const shown = Object.entries(cases).filter(([, examples]) => examples.length > 0)
  expect(shown.map(([rule]) => rule).sort()).toEqual(Object.keys(rules).sort())
})

describe.each(Object.entries(cases))('%s', (rule, examples) => {
  it.each(examples)('$text', ({ text, schema, options, value }) => {
    const result = parse(text, schema, options)
    expect(result.ok ? result.value : result.issues.map((issue) => issue.code)).toEqual(value)
    const recorded = result.repairs.filter((repair) => repair.rule === rule)
    expect(result.repairs.map((repair) => repair.rule)).toContain(rule)
    expect(recorded.every((repair) => repair.stage === rules[rule as RuleName].stage)).toBe(true)
    expect(ruleSentence(rule)).toBe(ruleTable[rule as RuleName].sentence)
  })
})

it('knows no sentence for a stage of the caller', () => {
  expect(ruleSentence('german-dates')).toBeUndefined()
  expect(ruleSentence('toString')).toBeUndefined()
})
