/** Spelling habits do not matter, meaning does: one match is a reading, two are a guess. */
import { describe, expect, it } from 'vitest'
import { parse } from '../parse.ts'
import { matchNames, normalForm } from './match-names.ts'

describe('names that are spelled differently', () => {
  it.each([
    ['firstName', 'First name'],
    ['first_name', 'first-name'],
    ['café', 'CAFE'],
    ['ｆｕｌｌ', 'full'],
  ])('%s and %s are one', (a, b) => {
    expect(normalForm(a)).toBe(normalForm(b))
  })

  it('match when exactly one can be meant', () => {
    expect(matchNames('Dark Blue', ['dark_blue', 'red'])).toEqual(['dark_blue'])
    expect(matchNames('AB', ['a_b', 'a-b'])).toEqual(['a_b', 'a-b'])
    expect(matchNames('AB', ['a_b', 'a-b'], (name) => name !== 'a_b')).toEqual(['a-b'])
    expect(matchNames('green', ['dark_blue', 'red'])).toEqual([])
    expect(matchNames('--', ['-'])).toEqual([])
  })

  it('match the one that differs only in case before others', () => {
    const languages = ['C', 'C++', 'C#']
    expect(matchNames('c++', languages)).toEqual(['C++'])
    expect(matchNames('c', languages)).toEqual(['C'])
    expect(matchNames('C.', languages)).toEqual(languages)
    expect(matchNames('ab', ['AB', 'Ab'])).toEqual(['AB', 'Ab'])
  })

  it('leave long texts alone', () => {
    expect(normalForm('A'.repeat(201))).toBe('A'.repeat(201))
  })
})

describe('a tie', () => {
  it('between listed values is an issue', () => {
    const schema = { type: 'object', properties: { c: { enum: ['a_b', 'a-b'] } } }
    expect(parse('{"c": "AB"}', schema).issues[0]).toMatchObject({
      code: 'value/ambiguous',
      at: { pointer: '/c' },
      expected: ['a_b', 'a-b'],
    })
  })

  it('between keys is an issue', () => {
    const schema = { type: 'object', properties: { userName: { type: 'string' } }, required: ['userName'] }
    const result = parse('{"user_name": "a", "user-name": "b"}', schema)
    expect(result.issues[0]).toMatchObject({ code: 'key/ambiguous', at: { pointer: '/userName' } })
  })

  it('does not apply when the exact key is there', () => {
    const schema = { type: 'object', properties: { userName: { type: 'integer' } } }
    const result = parse('{"userName": "1", "user_name": "b"}', schema)
    expect(result).toMatchObject({ ok: true, value: { userName: 1, user_name: 'b' } })
  })
})
