/** Lists without brackets: the marks of items in every script, and sentences, which are no lists. */
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../schema/compile/compile.ts'

import { parse } from '../parse.ts'
import { createReader } from '../reader.ts'

const texts = { type: 'array', items: { type: 'string' } } as const
const integers = { type: 'array', items: { type: 'integer' } } as const

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
  })

  it.each(['1. 5\n2. 6', '1)5\n2)6', '1、5\n2、6', '（1）5\n（2）6', '结果如下：\n1、5\n2、6'])(
    'is no item where digits follow it: %j',
    (text) => {
      expect(read(text, integers)).toEqual([5, 6])
    },
  )

  it.each([
    ['1、2', [1, 2]],
    ['1、2、3', [1, 2, 3]],
    ['1、2、3\n4、5、6', [1, 2, 3, 4, 5, 6]],
  ])('is a value in an enumeration on one line: %j', (text, value) => {
    expect(read(text, integers)).toEqual(value)
  })
})

describe('an item of several lines', () => {
  it.each([
    [
      '1. **Apple**\n   A red fruit.\n2. **Pear**\n   A green fruit.',
      ['**Apple**\nA red fruit.', '**Pear**\nA green fruit.'],
    ],
    ['Fruits:\n\n- apple, which is\r\n  red\r\n- pear\r\n\r\nDone!', ['apple, which is\nred', 'pear']],
    ['- apple\n- pear,\n  green', ['apple', 'pear,\ngreen']],
  ])('has all its indented lines: %j', (text, value) => {
    expect(read(text)).toEqual(value)
    const schema = { type: 'object', properties: { fruits: texts }, required: ['fruits'] }
    expect(read(text.replace(/^(?:Fruits:\n\n)?/, 'Fruits:\n'), schema)).toEqual({ fruits: value })
  })

  it.each(['1. Apple\nA red fruit.\n2. Pear\nA green fruit.', '- apple\n\nSome words.\n\n- pear'])(
    'is not read without its other lines: %j',
    (text) => {
      expect(read(text)).toEqual(['output/not-found'])
    },
  )

  it('is not the heading of the next list', () => {
    expect(read('Fruits:\n- apple\n\n**Vegetables:**\n- leek\n\n## Nuts\n- almond')).toEqual([
      'apple',
      'leek',
      'almond',
    ])
  })
})

describe('a fence', () => {
  it.each(['', 'text', 'markdown', 'yaml', 'json'])('of text (%s) holds a list', (label) => {
    const fenced = (text: string) => `\`\`\`${label}\n${text}\n\`\`\``
    for (const text of ['- apple\n- pear', '1. apple\n2. pear', 'apple\npear', 'apple, pear'])
      expect(read(fenced(text))).toEqual(['apple', 'pear'])
  })

  it.each(['', 'text', 'json'])('of text (%s) is no item of a list if it holds none', (label) => {
    for (const text of ['Sorry, I could not find anything.', 'There are no matching items.', 'nothing'])
      expect(read(`\`\`\`${label}\n${text}\n\`\`\``)).toEqual(['output/not-found'])
  })

  it('of code is an item', () => {
    expect(read('```sql\nSELECT 1\n```')).toEqual(['SELECT 1\n'])
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
    'Sorry, nothing',
    'Sorry\nnothing',
    'Désolé, rien',
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
    ['Red, Green', ['Red', 'Green']],
    ['Red, green, blue', ['Red', 'green', 'blue']],
    ['"Sorry", "nothing"', ['Sorry', 'nothing']],
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
