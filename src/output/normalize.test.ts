import { describe, expect, it } from 'vitest'
import { ProvisoError } from '../base/errors/error.ts'
import { normalizeJsonText, parseAndValidate } from './normalize.ts'

const person = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
}

describe('normalizeJsonText', () => {
  it.each([
    ['{"a": 1}', '{"a":1}'],
    ['```json\n{"a": 1}\n```', '{"a":1}'],
    ["{'a': 'b'}", '{"a":"b"}'],
    ['{“a”: “b”}', '{"a":"b"}'],
    ['{"a": [1, 2,],}', '{"a":[1,2]}'],
    ['First {"a": 1}, then {"a": 2}.', '{"a":2}'],
  ])('turns %j into strict JSON', (text, json) => {
    expect(normalizeJsonText(text)).toBe(json)
  })

  it('takes the first value when asked to', () => {
    expect(normalizeJsonText('First {"a": 1}, then {"a": 2}.', { prefer: 'first' })).toBe('{"a":1}')
  })

  it('returns a text that holds no value trimmed', () => {
    expect(normalizeJsonText('  no value here \n')).toBe('no value here')
  })
})

describe('parseAndValidate', () => {
  it('returns the value', () => {
    expect(parseAndValidate('{"name":"Ada","age":36}', person)).toEqual({ name: 'Ada', age: 36 })
    expect(parseAndValidate('[1]')).toEqual([1])
  })

  it('throws the one error with the issues when the value is not valid', () => {
    let thrown: unknown
    try {
      parseAndValidate('{"name":"Ada","age":-1}', person)
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(ProvisoError)
    expect(thrown).toMatchObject({ code: 'output/invalid', at: { pointer: '/age' } })
    expect((thrown as ProvisoError).issues).not.toHaveLength(0)
    expect((thrown as ProvisoError).message).toMatch(/holds no valid value/)
  })

  it('throws when there is no value at all', () => {
    expect(() => parseAndValidate('no value here', person)).toThrow(ProvisoError)
  })
})
