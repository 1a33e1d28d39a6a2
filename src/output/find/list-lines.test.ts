/** Lists without brackets: the marks of items in every script, and sentences, which are no lists. */
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../schema/compile/compile.ts'

import { parse } from '../parse.ts'
import { createReader } from '../reader.ts'

const texts = { type: 'array', items: { type: 'string' } } as const

function read(text: string, schema: JsonSchema = texts): unknown {
  const result = parse(text, schema)
  const reader = createReader(schema)
  for (const character of text) reader.push(character)
  expect(reader.end()).toEqual(result)
  return result.ok ? result.value : result.issues.map(({ code }) => code)
}

describe('the mark of an item', () => {
  const marks: readonly (readonly [string, string])[] = [
    ['- ', '- '],
    ['– ', '– '],
    ['— ', '— '],
    ['• ', '• '],
    ['•', '•'],
    ['・', '・'],
    ['● ', '● '],
    ['✅ ', '✅ '],
    ['☑️ ', '☑️ '],
    ['1. ', '2. '],
    ['1) ', '2) '],
    ['1)', '2)'],
    ['(1) ', '(2) '],
    ['（1）', '（2）'],
    ['1）', '2）'],
    ['【1】', '【2】'],
    ['1、', '2、'],
    ['1．', '2．'],
    ['１．', '２．'],
    ['一、', '二、'],
    ['（一）', '（二）'],
    ['①', '②'],
    ['1️⃣ ', '2️⃣ '],
    ['١. ', '٢. '],
    ['१) ', '२) '],
    ['a) ', 'b) '],
    ['(a) ', '(b) '],
    ['A. ', 'B. '],
    ['i. ', 'ii. '],
    ['а) ', 'б) '],
    ['α) ', 'β) '],
    ['가. ', '나. '],
    ['ア）', 'イ）'],
    ['ก) ', 'ข) '],
  ]

  it.each(marks)('%s', (first, second) => {
    for (const [one, other] of [
      ['绿茶', '红茶'],
      ['green tea, hot', 'black tea'],
      ['зелёный чай', 'чёрный чай'],
    ] as const) {
      expect(read(`${first}${one}\n${second}${other}`)).toEqual([one, other])
      expect(read(`推荐茶：\n\n  ${first}${one}\n  ${second}${other}\n\n希望有帮助。`)).toEqual([one, other])
    }
  })

  it('is no item of a list of another kind, where that may be null or an object', () => {
    expect(read('- a\n- b', { anyOf: [texts, { type: 'null' }] })).toEqual(['a', 'b'])
    const schema = { type: 'object', properties: { items: texts }, required: ['items'] }
    expect(read('• items：\n  1、绿茶\n  2、红茶', schema)).toEqual({ items: ['绿茶', '红茶'] })
  })

  it('counts in step, also beyond nine, and may begin again', () => {
    const lines = Array.from({ length: 12 }, (_, i) => `${i + 1}. t${i}`)
    expect(read(lines.join('\n'))).toEqual(Array.from({ length: 12 }, (_, i) => `t${i}`))
    expect(read('A:\n1. a\n2. b\nB:\n1. c')).toEqual(['a', 'b', 'c'])
    expect(read('1. 5\n2. 6', { type: 'array', items: { type: 'integer' } })).toEqual([5, 6])
  })
})

describe('no list', () => {
  it.each([
    '抱歉，没有找到任何结果。',
    '抱歉，没有找到任何结果',
    '抱歉, 没有',
    '没有找到任何结果。',
    '抱歉！没有，真的。',
    'すみません、わかりません',
    '申し訳ありません、結果が見つかりませんでした。',
    'ขออภัย,ไม่พบผลลัพธ์',
    '죄송합니다, 결과가 없습니다.',
    'Извините, ничего.',
    'Sorry, I found no results.',
    'Sorry, nothing!',
    'Leider nichts gefunden, tut mir leid.',
    '12. März\n13. April',
    'A. Smith\nK. Jones',
    '3、4月',
    '🍵 green\n☕ black',
    '1. Tea\n   - green\n   - black\n2. Coffee',
    '- Tea\n    - green\n- Coffee',
  ])('%s', (text) => {
    for (const schema of [
      texts,
      { anyOf: [texts, { type: 'null' }] },
      { type: ['array', 'object'], items: texts.items },
    ])
      expect(read(text, schema)).toEqual(['output/not-found'])
    expect(read(text, { type: 'object', properties: { t: texts }, required: ['t'] })).toEqual([
      'output/not-found',
    ])
    expect(parse(text).value).toBe(text)
  })
})

describe('words', () => {
  it.each([
    ['red, green, blue', ['red', 'green', 'blue']],
    ['red\ngreen', ['red', 'green']],
    ['绿茶、红茶、乌龙茶', ['绿茶', '红茶', '乌龙茶']],
    ['コーヒー、ミルク', ['コーヒー', 'ミルク']],
    ['“绿茶”，“红茶”', ['绿茶', '红茶']],
  ])('%s', (text, value) => {
    expect(read(text)).toEqual(value)
  })

  it('that the schema lists', () => {
    const schema = { type: 'array', items: { enum: ['绿茶', '红茶'] } }
    expect(read('绿茶，红茶', schema)).toEqual(['绿茶', '红茶'])
    expect(read('抱歉，没有', schema)).toEqual(['output/not-found'])
  })
})
