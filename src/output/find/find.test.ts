/** Which value of a text is the answer: surroundings, cues, wrappers, and texts that hold none. */
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { parse } from '../parse.ts'
import type { ParseOptions } from '../types.ts'

const wanted: JsonSchema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] }
const integers: JsonSchema = { type: 'array', items: { type: 'integer' } }

function read(text: string, schema?: JsonSchema, options?: ParseOptions): unknown {
  const result = parse(text, schema, options)
  return result.ok ? result.value : result.issues.map((issue) => issue.code)
}

describe.each<[string, readonly (readonly [string, unknown])[]]>([
  [
    'prose around the value',
    [
      ['See [1] and {"a": 1}', { a: 1 }],
      ['- [ ] to do\n{"a": 1}', { a: 1 }],
      ['[link](http://x) {"a": 1}', { a: 1 }],
      ['{{name}} then {"a": 1}', { a: 1 }],
      ['It is {x} in {"a": 1}', { a: 1 }],
      ['Here\'s the JSON: {"a": 1}', { a: 1 }],
      ['\ufeff{"a":1}', { a: 1 }],
      ['[[note]] {"a": 1}', { a: 1 }],
      ['{"a": "an open {"}; {"a": "b", "c": 1}', { a: 'an open {' }],
      [
        '{"a": {"b": "an open { and ["}}, {"a": "b", "c": 1}',
        [{ a: { b: 'an open { and [' } }, { a: 'b', c: 1 }],
      ],
    ],
  ],
  [
    'fences and tags',
    [
      ['```json\n{"a": 1}\n```', { a: 1 }],
      ['``` json\n{"a": 1}\n```', { a: 1 }],
      ['~~~\n{"a": 1}\n~~~', { a: 1 }],
      ['````\n```\n{"a": 1}\n```\n````', { a: 1 }],
      ['```json\n{"a": [1, 2\n```\nDone', { a: [1, 2] }],
      ['```json5\n{a:1}', { a: 1 }],
      ['<tool_call>{"a": 1}</tool_call>', { a: 1 }],
      ['<a href="x">{"a":1}</b>', { a: 1 }],
    ],
  ],
  [
    'reasoning is not the answer, unless there is nothing else',
    [
      ['<think>{"a": 1}</think>{"b": 2}', { b: 2 }],
      ['{"a": 1}</think>{"b": 2}', { b: 2 }],
      ['[THINK]{"a": 1}[/THINK]{"b": 2}', { b: 2 }],
      ['<|channel|>analysis {"a": 1}<|channel|>final {"b": 2}', { b: 2 }],
      ['<|start_thought|>{"a": 1}<|end_thought|>{"b": 2}', { b: 2 }],
      ['<|channel|>analysis {"a": 1}<|end|>{"b": 2}', { b: 2 }],
      ['◁think▷{"a": 1}◁/think▷{"b": 2}', { b: 2 }],
      ['<think>{"a": 1}', { a: 1 }],
    ],
  ],
  [
    'several values and nothing else are a list',
    [
      ['{"a":1}\n{"a":2}', [{ a: 1 }, { a: 2 }]],
      ['[1], [2]', [[1], [2]]],
      ['1, 2, 3', [1, 2, 3]],
    ],
  ],
  [
    'a text without JSON is the string itself',
    [
      ['hello', 'hello'],
      ['Just a sentence, with a comma.', 'Just a sentence, with a comma.'],
      ['  two words\n', 'two words'],
    ],
  ],
  [
    'JSON that was escaped once too often',
    [
      ['Answer: "{\\"a\\": 1}" ok', { a: 1 }],
      ['Answer: "[1, \\"x\\"]"', [1, 'x']],
    ],
  ],
  [
    'scalars are values too',
    [
      ['42', 42],
      [' true ', true],
      ['“a”', 'a'],
      ['"a" + "b"', 'ab'],
    ],
  ],
])('without a schema: %s', (_, cases) => {
  it.each(cases)('%j', (text, value) => {
    expect(read(text)).toEqual(value)
  })
})

describe.each<[string, readonly (readonly [string, unknown])[]]>([
  [
    'a correction beats what it corrects',
    [
      ['{"a": 1}\nWait, actually it is {"a": 2}', { a: 2 }],
      ['{"a": 1}\nFinal answer: {"a": 2}', { a: 2 }],
      ['{"a": 1}\nKorrigiert: {"a": 2}', { a: 2 }],
      ['{"a": \n\nLet me start again:\n\n{"a": 2}', { a: 2 }],
    ],
  ],
  [
    'an example or an echo is not the answer',
    [
      ['For example {"a": 1}. The answer is {"a": 2}', { a: 2 }],
      ['{"type":"object","properties":{"a":{"type":"integer"}}}\n{"a": 3}', { a: 3 }],
      ['{"$schema": "x", "a": 1}\n{"a": 3}', { a: 3 }],
      ['{"a": "integer"}\n{"a": 3}', { a: 3 }],
      ['The format: {"a": "<number>"}. Here: {"a": 3}', { a: 3 }],
    ],
  ],
  ['else the first', [['{"a": 1} and {"a": 2}', { a: 1 }]]],
  [
    'wrappers that the schema does not know are taken off',
    [
      ['{"result": {"a": 1}}', { a: 1 }],
      ['{"x": {"y": {"a": 1}}}', { a: 1 }],
      ['{"tool_calls": [{"name": "f", "arguments": "{\\"a\\": 1}"}]}', { a: 1 }],
      ['[{"a": 1}]', { a: 1 }],
      ['["f", {"a": 1}]', { a: 1 }],
      ['f({"a": 1})', { a: 1 }],
      ['f\n{"a": 1}', { a: 1 }],
      ['f(a=1)', { a: 1 }],
      ['"{\\"a\\": 1}"', { a: 1 }],
    ],
  ],
  [
    'several that fit in one list are no choice',
    [
      ['[{"a": 1}, {"a": 2}]', ['schema/type']],
      ['{"list": [{"a": 1}, {"a": 2}]}', ['schema/required']],
    ],
  ],
])('%s', (_, cases) => {
  it.each(cases)('%j', (text, value) => {
    expect(read(text, wanted)).toEqual(value)
  })
})

describe('prefer', () => {
  it.each<[ParseOptions['prefer'], number]>([
    ['first', 1],
    ['last', 3],
    ['largest', 22],
  ])('%s', (prefer, a) => {
    expect(read('{"a": 1} and {"a": 22} and {"a": 3}', wanted, { prefer: prefer ?? 'first' })).toEqual({ a })
  })
})

describe('where a list is wanted', () => {
  it.each<[string, unknown]>([
    ['{"items": [1, 2]}', [1, 2]],
    ['[[1, 2]]', [1, 2]],
    ['1, 2, 3', [1, 2, 3]],
    ['1', [1]],
    ['(1, 2)', [1, 2]],
    ['"[1, 2]"', [1, 2]],
    ['- 1\n- 2', [1, 2]],
    ['{"a": 1}', ['schema/type']],
  ])('%j', (text, value) => {
    expect(read(text, integers)).toEqual(value)
  })

  it('separate objects are collected in order', () => {
    const objects: JsonSchema = { type: 'array', items: wanted }
    const all = [{ a: 1 }, { a: 2 }]
    for (const text of [
      '{"a": 1}\n{"a": 2}',
      'First {"a": 1}, then {"a": "2"}.',
      '```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```',
      '<item>{"a": 1}</item><item>{a: 2}</item>',
      '{"item": {"a": 1}}\n{"item": {"a": 2}}',
    ])
      expect(read(text, objects)).toEqual(all)
  })
})

describe('where a wrapper is wanted', () => {
  const wrapper: JsonSchema = { type: 'object', properties: { items: integers }, required: ['items'] }

  it('it is added if the schema leaves no choice of the name', () => {
    expect(read('[1, "2"]', wrapper)).toEqual({ items: [1, 2] })
    expect(read('{"other": 1}', wrapper)).toEqual(['schema/required'])
    expect(read('"x"', wrapper)).toEqual(['schema/type'])
    const two = { ...wrapper, properties: { items: integers, more: integers }, required: [] }
    expect(read('[1, 2]', two)).toEqual(['schema/type'])
  })

  it('an empty list in prose is the answer only if there is no other', () => {
    const text = 'It was empty ([]) at first. Now: [{"result": {"content": {"items": [1, 2]}}}]'
    expect(read(text, wrapper)).toEqual({ items: [1, 2] })
    expect(read('Answer: []', wrapper)).toEqual({ items: [] })
  })
})

describe('members without their braces', () => {
  it.each(['"a": 1', '"a": 1}', "'a': 1, 'b': 2", '```json\n"a": 1\n```'])('%j', (text) => {
    expect(read(text, wanted)).toMatchObject({ a: 1 })
  })
})

describe('a value with placeholders', () => {
  const person: JsonSchema = {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name', 'age'],
  }
  const ada = { name: 'Ada', age: 36 }

  it.each(['<name>', '<string>', '<your full name>', '...', '…'])(
    'is an example beside another: %s',
    (name) => {
      const sample = { name, age: 0 }
      const [one, other] = [JSON.stringify(sample), JSON.stringify(ada)]
      for (const text of [
        `${one}\n${other}`,
        `${other}\n${one}`,
        `Fill ${one}.\n\n\`\`\`json\n{name: 'Ada', age: 36}\n\`\`\``,
      ])
        expect(read(text, person)).toEqual(ada)
      expect(read(`The answer is ${one}.`, person)).toEqual(sample)
      expect(read(`${one} and ${one}`, person)).toEqual(sample)
      expect(read(`${one}\n${other}`, { type: 'array', items: person })).toEqual([sample, ada])
    },
  )

  it('is not one because of a sign of less in its text', () => {
    expect(read('{"name": "a < b", "age": 1} {"name": "b", "age": 2}', person)).toEqual({
      name: 'a < b',
      age: 1,
    })
  })
})

describe('the value of a declared key', () => {
  const author: JsonSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }
  const schema = {
    type: 'object',
    properties: { user: { type: 'object', properties: { name: { type: 'boolean' } }, required: ['name'] } },
  } as const

  it('is not the answer where it has no declared key: what is wrong in it is reported', () => {
    const result = parse('{"user": {"name": 5}}', schema)
    expect(result.issues).toMatchObject([{ code: 'schema/type', at: { pointer: '/user/name' } }])
  })

  it.each<JsonSchema>([author, { anyOf: [author, { type: 'null' }] }])(
    'is not the answer where its keys are its own: %j',
    (member) => {
      const book = {
        type: 'object',
        properties: { name: { type: 'string' }, author: member },
        required: ['name'],
      }
      expect(parse('{"author": {"name": "Ada"}}', book).issues).toMatchObject([
        { code: 'schema/required', at: { pointer: '/name' } },
      ])
      const answer = { name: 'Notes', author: { name: 'Ada' } }
      expect(parse(JSON.stringify({ author: answer }), book)).toMatchObject({ ok: true, value: answer })
    },
  )

  it('is the answer where it is the object that was expected', () => {
    const value = { user: { name: true } }
    expect(parse(JSON.stringify({ user: value }), schema)).toMatchObject({ ok: true, value })
  })
})

describe('several objects where a list is wanted', () => {
  const list = { type: 'array', items: wanted }

  it.each([
    '{"a": 1}\n{"a": 2}\n{"b": 3}',
    '{"a": 1}\n{"b": 2}\n{"a": 3}',
    '{"a": 1}\n{"a": "two"}',
    '{"a": 1}\n{"a": 2}\n{"a":',
    'First {"a": 1}, then {"a": 2} and last {"b": 3}.',
    '```json\n{"a": 1}\n```\n```json\n{"b": 2}\n```',
  ])('are refused if one of them is no item, never shortened: %s', (text) => {
    const result = parse(text, list)
    expect(result.ok).toBe(false)
    expect(result.issues[0]?.at).toMatchObject({ pointer: expect.stringMatching(/^\/[12]\/a$/) })
  })

  it('are the others where bad items may be dropped', () => {
    expect(read('{"a": 1}\n{"a": 2}\n{"b": 3}', list, { salvage: true })).toEqual([{ a: 1 }, { a: 2 }])
  })

  it('may have an object of another kind before them, in a sentence', () => {
    expect(read('With {"limit": 1} I found {"a": 1}.', list)).toEqual([{ a: 1 }])
  })
})

describe('a citation without a schema', () => {
  it.each([
    'According to [1] the sky is blue.',
    'The sky is blue [3].',
    'According to [1] and [2], it is.',
    'See [Smith 2020].',
    'def f(x):\n    return x[0]',
  ])('is a part of the text: %s', (text) => {
    expect(read(text)).toBe(text)
  })

  it.each(['The answer: [3]', 'Sure! [3] is it', '[3]', 'Here:\n[3]'])(
    'is the value where it is introduced: %s',
    (text) => {
      expect(read(text)).toEqual([3])
    },
  )
})

describe('a correction', () => {
  it.each([
    'Draft: {"a": 1}\nFinal: {"a": 2}',
    '### Draft\n{"a": 1}\n### Final\n{"a": 2}',
    '<draft>{"a": 1}</draft><final>{"a": 2}</final>',
    '{"a": 1}\n<answer>{"a": 2}</answer>',
    '{"a": 1}\n<final_answer>{"a": 2}</final_answer>',
    'Input: {"a": 1}\nOutput: {"a": 2}',
  ])('follows %s', (text) => {
    expect(read(text, wanted)).toEqual({ a: 2 })
  })

  it('is not the input of an action', () => {
    expect(read('Action: f\nAction Input: {"a": 1}\nObservation: {"a": 2}', wanted)).toEqual({ a: 1 })
  })
})

describe('lines of key and value', () => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name'],
  }

  it('are not read where a value continues in the next line', () => {
    expect(read('age: 3\nname: Ada\nLovelace', schema)).toEqual(['output/not-found'])
    expect(read('name: Ada\n  Lovelace\nage: 3', schema)).toEqual(['output/not-found'])
  })

  it('may have words behind them', () => {
    expect(read('name: Ada\nage: 3\nLet me know!', schema)).toEqual({ name: 'Ada', age: 3 })
    expect(read('age: 3\nname: Ada\n\nLet me know!', schema)).toEqual({ name: 'Ada', age: 3 })
  })
})
