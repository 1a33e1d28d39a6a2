/** Answers that are no object or list: strings, numbers, booleans, one of a few words; and lines of key and value. */
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { normalizeJsonText } from '../normalize.ts'
import { parse } from '../parse.ts'
import { createReader } from '../reader.ts'
import { replay } from '../report/replay.ts'
import type { ParseOptions } from '../types.ts'

const FAILS = Symbol('fails')

function read(text: string, schema: JsonSchema): unknown {
  const result = parse(text, schema)
  return result.ok ? result.value : FAILS
}

describe.each<[string, JsonSchema, readonly (readonly [string, unknown])[]]>([
  [
    'a string is the text; quotes go only if the whole text is one string',
    { type: 'string' },
    [
      ['hello', 'hello'],
      ['"hello"', 'hello'],
      ['“q”', 'q'],
      ['"say "hi""', '"say "hi""'],
      ['  spaced  ', '  spaced  '],
      ['{"a": 1}', '{"a": 1}'],
      ['```\ncode\n```', '```\ncode\n```'],
      ['', ''],
    ],
  ],
  [
    'an integer is the one number of the text',
    { type: 'integer' },
    [
      ['42', 42],
      ['"42"', 42],
      ['12,000', 12_000],
      ['The answer is 42.', 42],
      ['**42**', 42],
      ['<answer>7</answer>', 7],
      ['Step 1\nResult\n9', 9],
      ['{"answer": 42}', 42],
      ['{"answer": 42, "steps": 1}', 42],
      ['{"a": 1, "b": 2}', FAILS],
      ['42 or 43', FAILS],
      ['none', FAILS],
    ],
  ],
  [
    'a boolean is one of two words',
    { type: 'boolean' },
    [
      ['true', true],
      ['True', true],
      ['"false"', false],
      ['It is true.', true],
      ['{"result": false}', false],
      ['yes', FAILS],
      ['true or false', FAILS],
    ],
  ],
  [
    'a listed word is the one that occurs',
    { enum: ['yes', 'no'] },
    [
      ['yes', 'yes'],
      ['Yes.', 'yes'],
      ['"No"', 'no'],
      ['The answer is yes', 'yes'],
      ['**yes**', 'yes'],
      ['<|im_start|>no<|im_end|>', 'no'],
      ['yes or no', FAILS],
      ['maybe', FAILS],
    ],
  ],
  [
    'null',
    { type: 'null' },
    [
      ['null', null],
      ['None', null],
      ['x', FAILS],
    ],
  ],
  [
    'a scalar or an object: what is there',
    {
      anyOf: [
        { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
        { type: 'integer' },
      ],
    },
    [
      ['It is {"a": 1}', { a: 1 }],
      ['7', 7],
      ['"7"', 7],
    ],
  ],
])('%s', (_, schema, cases) => {
  it.each(cases)('%j', (text, value) => {
    expect(read(text, schema)).toEqual(value)
  })
})

describe('lines of key and value', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      age: { type: 'integer' },
      tags: { type: 'array', items: { type: 'string' } },
    },
    required: ['name', 'age'],
  }

  it.each<[string, unknown]>([
    ['Name: Ada\nAge: 36', { name: 'Ada', age: 36 }],
    ['**Name**: Ada\n**Age**: 36', { name: 'Ada', age: 36 }],
    ['name = Ada\nage = 36', { name: 'Ada', age: 36 }],
    ['- name: "Ada"\n- age: 36\n- tags:\n  - x\n  - y\n\nBye', { name: 'Ada', age: 36, tags: ['x', 'y'] }],
    ['name: |\n  Ada\n  Lovelace\nage: 36', { name: 'Ada\nLovelace', age: 36 }],
    ['Name: Ada', FAILS],
    ['Nothing of the kind', FAILS],
  ])('%j', (text, value) => {
    expect(read(text, schema)).toEqual(value)
  })
})

describe('a text behind reasoning', () => {
  const string = { type: 'string' } as const
  const asText = (text: string, options?: ParseOptions) => {
    const result = parse(text, string, options)
    const reader = createReader(string, options)
    for (const character of text) expect(reader.push(character).partial).toBeUndefined()
    expect(reader.end()).toEqual(result)
    if (result.repairCount > 0) expect(replay(text, result.repairs)).toEqual(result.value)
    return result.ok ? result.value : result.issues
  }

  it.each([
    ['<think>Lyon? No.</think>\nParis', 'Paris'],
    ['\n<thinking>\nLyon?\n</thinking>\n\nParis\n', 'Paris\n'],
    ['<think></think>Paris', 'Paris'],
    ['<think>a</think>\n<reasoning>b</reasoning>\nParis', 'Paris'],
    ['<think>a <think>b</think> c</think>\nParis', 'Paris'],
    ['[THINK]Lyon?[/THINK]Paris', 'Paris'],
    ['◁think▷Lyon?◁/think▷Paris', 'Paris'],
    ['<think>{"draft": 1}</think>\nParis', 'Paris'],
    ['<think>x</think>\n"Paris"', 'Paris'],
    ['<think>x</think>Use <think> and </think>.', 'Use <think> and </think>.'],
  ])('begins behind it: %j', (text, value) => {
    expect(asText(text)).toBe(value)
    expect(parse(text).value).toBe(value.trim())
    expect(parse(text, { type: ['string', 'null'] }).value).toBe(value)
    expect(parse(text, string).repairs[0]).toMatchObject({
      stage: 'extract',
      at: { span: [0, expect.any(Number)] },
    })
  })

  it.each([
    '<think>Paris</think>',
    '<think>Paris</think>\n ',
    '<think>Paris',
    '<think>a <think> b</think> Paris',
    'Lyon? No.</think>\nParis',
    'Write <think>a</think> before the answer.',
    '</think>Paris',
    '<analysis>Lyon?</analysis>\n<summary>Paris</summary>',
    'Paris <think>or Lyon</think>',
  ])('stays as it is: %j', (text) => {
    expect(asText(text)).toBe(text)
  })

  it('stays as it is in minimal, without repair, and inside of JSON', () => {
    const text = '<think>Lyon?</think>\nParis'
    expect(asText(text, { aop: 'minimal' })).toBe(text)
    expect(parse(text, string, { aop: 'off' }).ok).toBe(false)
    expect(parse(JSON.stringify(text), string).value).toBe(text)
    const member = { type: 'object', properties: { t: string } } as const
    expect(parse(JSON.stringify({ t: text }), member).value).toEqual({ t: text })
  })

  it('is normalised without it', () => {
    expect(normalizeJsonText('<think>{"a": 1}</think>\nParis ')).toBe('Paris')
    expect(normalizeJsonText('<think>{"a": 1}</think>')).toBe('{"a":1}')
  })
})

describe('a text where one branch of the schema is a string', () => {
  const string = { type: 'string' }
  const list = { type: 'array', items: string }

  it.each<[string, JsonSchema]>([
    ['optional', { anyOf: [string, { type: 'null' }] }],
    ['or a list', { anyOf: [list, string] }],
    ['or an integer', { oneOf: [{ type: 'integer' }, string] }],
    ['or an object', { anyOf: [string, { type: 'object', properties: { a: string }, required: ['a'] }] }],
  ])('is the answer as it is: %s', (_, schema) => {
    for (const text of ['I am fine, thanks.', 'Sorry, nothing', 'Hello'])
      expect(read(text, schema)).toBe(text)
    expect(read('<think>Hm.</think>\nI am fine, thanks.', schema)).toBe('I am fine, thanks.')
  })

  it('is not converted to another branch', () => {
    expect(read('I am fine, thanks.', { anyOf: [list, { type: 'null' }] })).toBe(FAILS)
    expect(read('I am fine, thanks.', { anyOf: [{ enum: ['a'] }, { type: 'null' }] })).toBe(FAILS)
    expect(read('I am fine, thanks.', {})).toBe(FAILS)
  })
})
