/** Numbers as people write them: read when the meaning is beyond doubt, left alone otherwise. */
import { describe, expect, it } from 'vitest'
import { classify } from '../decode/unquoted.ts'
import { parse } from '../parse.ts'
import { readNumber } from './convert.ts'

const free = { maximum: undefined }

describe('a number in a string', () => {
  it.each<[string, number]>([
    ['7', 7],
    [' -3.5 ', -3.5],
    ['+1', 1],
    ['.5', 0.5],
    ['1e3', 1000],
    ['007', 7],
    ['007.50', 7.5],
    ['0x1F', 31],
    ['12,000', 12_000],
    ['1,234,567.89', 1_234_567.89],
    ['1.234,56', 1234.56],
    ['12,50', 12.5],
    ['-0,5', -0.5],
    ['1234,5', 1234.5],
    ['3,50 €', 3.5],
    ["1'000", 1000],
    ['1 000 000', 1_000_000],
    ['1_000', 1000],
    ['1.234.567', 1_234_567],
    ['1.234', 1.234],
    ['$1,249.50', 1249.5],
    ['12 €', 12],
    ['USD 5', 5],
    ['-$5', -5],
    ['15%', 15],
    ['３６', 36],
    ['٣٦', 36],
    ['۳۶', 36],
    ['३६', 36],
    ['2 + 3 * 4 - 1', 13],
  ])('%s is %d', (text, value) => {
    expect(readNumber(text, free)).toEqual({ kind: 'number', value })
  })

  it('is a part of one where percent is and the schema allowsType at most one', () => {
    expect(readNumber('12.5%', { maximum: 1 })).toEqual({ kind: 'number', value: 0.125 })
    expect(readNumber('12.5%', { maximum: 100 })).toEqual({ kind: 'number', value: 12.5 })
  })

  it.each([
    '',
    ' ',
    'seven',
    '1/2',
    '1-2',
    '2020-01-01',
    '12,0000',
    '1,2,34',
    '12,50.0',
    ',50',
    '12,',
    '1,2,3',
    '7 apples',
    '(5)',
    '--1',
    '1.2.3',
  ])('%j is not a number', (text) => {
    expect(readNumber(text, free)).toEqual({ kind: 'none' })
  })

  it('is not a number when it is endless', () => {
    expect(readNumber('1'.repeat(401), free)).toEqual({ kind: 'none' })
    expect(readNumber(`${'9'.repeat(300)} * ${'9'.repeat(20)} * 1`, free)).toEqual({ kind: 'none' })
  })

  it.each(['12345678901234567890', '00012345678901234567891', '1e999'])('%s would lose digits', (text) => {
    expect(readNumber(text, free)).toEqual({ kind: 'unsafe' })
  })
})

describe('a token without quotes', () => {
  it.each<[string, unknown]>([
    ['1', { kind: 'number', value: 1, rule: undefined }],
    ['-0.5e3', { kind: 'number', value: -500, rule: undefined }],
    ['+1', { kind: 'number', value: 1, rule: 'number' }],
    ['5.', { kind: 'number', value: 5, rule: 'number' }],
    ['2e', { kind: 'number', value: 2, rule: 'number' }],
    ['-0xF', { kind: 'number', value: -15, rule: 'number' }],
    ['0xFFFFFFFFFFFFFFFFFF', { kind: 'string' }],
    ['1,000', { kind: 'number', value: 1000, rule: 'number' }],
    ['0,123', { kind: 'string' }],
    ['-', { kind: 'nothing' }],
    ['.', { kind: 'nothing' }],
    ['true', { kind: 'boolean', value: true, rule: undefined }],
    ['True', { kind: 'boolean', value: true, rule: 'literal' }],
    ['None', { kind: 'null', rule: 'literal' }],
    ['NaN', { kind: 'constant' }],
    ['-Infinity', { kind: 'constant' }],
    ['toString', { kind: 'string' }],
    ['010', { kind: 'string' }],
    ['2020-01-01', { kind: 'string' }],
    ['9007199254740993', { kind: 'big', value: '9007199254740993' }],
    ['9007199254740992', { kind: 'number', value: 9007199254740992, rule: undefined }],
    ['1e400', { kind: 'big', value: '1e400' }],
  ])('%s', (text, meaning) => {
    expect(classify(text)).toEqual(meaning)
  })
})

it('a comma before one or two digits separates no items, and a list of numbers is not guessed from it', () => {
  const schema = (v: object) => ({ type: 'object', properties: { v }, required: ['v'] })
  const number = { type: 'number' }
  for (const text of ['{"v": "12,50"}', '{v: 12,50}', '{"v": "12,5"}'])
    expect(parse(text, schema(number)).value).toEqual({ v: 12.5 })
  expect(parse('{"v": "12,000"}', schema(number)).value).toEqual({ v: 12_000 })
  expect(parse('{"v": "1,2"}', schema({ type: 'array', items: number })).ok).toBe(false)
  expect(parse('{"v": "12,50"}', schema({ type: 'integer' })).ok).toBe(false)
  expect(parse('{"v": "12,50"}', schema({ type: ['number', 'string'] })).value).toEqual({ v: '12,50' })
  expect(parse('{"v": "12,50"}', schema(number), { aop: 'minimal' }).ok).toBe(false)
})
