import { describe, expect, it } from 'vitest'
import { checkOutputFormat, shorthandSchema, validateType } from './shorthand.ts'

describe('shorthandSchema', () => {
  it.each([
    ['object', { type: 'object' }],
    ['array', { type: 'array' }],
    ['[]', { type: 'array' }],
    ['string', { type: 'string' }],
    ['number', { type: 'number' }],
    ['integer', { type: 'integer' }],
    ['boolean', { type: 'boolean' }],
    ['null', { type: 'null' }],
    ['string[]', { type: 'array', items: { type: 'string' } }],
    ['string[][]', { type: 'array', items: { type: 'array', items: { type: 'string' } } }],
    ['object[]', { type: 'array', items: { type: 'object' } }],
    ['[][]', { type: 'array', items: { type: 'array' } }],
    [' number [] ', { type: 'array', items: { type: 'number' } }],
  ])('%j stands for a JSON Schema', (name, schema) => {
    expect(shorthandSchema(name)).toEqual(schema)
  })

  it.each(['', 'str', 'String', 'string]', 'toString', '__proto__', `string${'[]'.repeat(1000)}`])(
    '%j is not a type name',
    (name) => {
      expect(shorthandSchema(name)).toBeUndefined()
    },
  )
})

describe('validateType', () => {
  it.each([
    [{}, 'object'],
    [[], 'array'],
    [[], '[]'],
    ['', 'string'],
    [1.5, 'number'],
    [1, 'number'],
    [1, 'integer'],
    [false, 'boolean'],
    [null, 'null'],
    [['a', 'b'], 'string[]'],
    [[], 'string[]'],
    [[['a'], []], 'string[][]'],
  ])('%j is of type %s', (value, name) => {
    expect(validateType(value, name)).toBe(true)
  })

  it.each([
    [[], 'object'],
    [null, 'object'],
    [{}, 'array'],
    ['1', 'number'],
    [1.5, 'integer'],
    [Number.NaN, 'number'],
    [0, 'boolean'],
    [['a', 1], 'string[]'],
    [['a'], 'string[][]'],
    ['a', 'string[]'],
    ['a', 'unknown'],
    [() => 1, 'constructor'],
  ])('%j is not of type %s', (value, name) => {
    expect(validateType(value, name)).toBe(false)
  })
})

describe('checkOutputFormat', () => {
  it('keeps the content and adds the parsed value when the type is right', () => {
    const content = ' ["a.txt", "b.txt"] '
    expect(checkOutputFormat(content, { type: 'json', schema: 'string[]' })).toEqual({
      content,
      parsedContent: ['a.txt', 'b.txt'],
    })
  })

  it('reports a wrong type in the shape of the error taxonomy', () => {
    expect(checkOutputFormat('[1]', { type: 'json', schema: 'object' }).issue).toEqual({
      type: 'TASK_FAILURE',
      reason: 'output_format_failure',
      message: 'Expected output of type "object" but got "array"',
      details: { expectedType: 'object', actualType: 'array' },
      path: '',
    })
  })

  it('says where the first item of the wrong type is', () => {
    expect(checkOutputFormat('[["a"], ["b", 2]]', { type: 'json', schema: 'string[][]' }).issue?.path).toBe(
      '/1/1',
    )
  })

  it.each([
    ['null', 'null'],
    ['3', 'integer'],
    ['3.5', 'number'],
    ['[]', 'array'],
    ['"x"', 'string'],
    ['not json', 'string'],
  ])('names the real JSON type of %j', (content, actualType) => {
    expect(checkOutputFormat(content, { type: 'json', schema: 'object' }).issue?.details.actualType).toBe(
      actualType,
    )
  })

  it('refuses text that is not JSON when any JSON is wanted', () => {
    const checked = checkOutputFormat('{oops', { type: 'json' })
    expect(checked.issue?.message).toBe('Expected output of type "json" but got "string"')
    expect(checked).not.toHaveProperty('parsedContent')
  })

  it('takes bare text for a string', () => {
    expect(checkOutputFormat('hello', { type: 'json', schema: 'string' })).toEqual({ content: 'hello' })
  })

  it('fails on an unknown type name', () => {
    expect(checkOutputFormat('{}', { type: 'json', schema: 'Person' }).issue?.details.expectedType).toBe(
      'Person',
    )
  })

  it('never fails undeclared output, and adds the value when it is JSON', () => {
    expect(checkOutputFormat('{"a":1}')).toEqual({ content: '{"a":1}', parsedContent: { a: 1 } })
    expect(checkOutputFormat('{"a":')).toEqual({ content: '{"a":' })
  })

  it('leaves output that is declared as text alone', () => {
    expect(checkOutputFormat('123', { type: 'text' })).toEqual({ content: '123' })
  })
})
