import { describe, expect, it } from 'vitest'
import { detectJson } from './detect-json.ts'

describe('detectJson', () => {
  it.each([
    ['{"a": 1}', { a: 1 }],
    ['  [1, "two", null]\n', [1, 'two', null]],
    ['"quoted"', 'quoted'],
    ['-3.5', -3.5],
    ['42', 42],
    ['true', true],
    ['false', false],
    ['null', null],
  ])('parses %j, which looks like JSON and is', (text, value) => {
    expect(detectJson(text)).toEqual({ isParsed: true, value })
  })

  it.each([
    '{oops',
    '[1,]',
    'truely',
    'nullable',
    '42 is the answer',
    '- a list item',
    "{'a': 1}",
    '',
    '   ',
    'Hello',
  ])('returns %j as it came', (text) => {
    expect(detectJson(text)).toEqual({ isParsed: false, value: text })
  })

  it('keeps the white space of text that it does not parse', () => {
    expect(detectJson('  {oops ').value).toBe('  {oops ')
  })

  it.each([[42], [null], [undefined], [{ a: 1 }], [['x']]])(
    'does not touch %j, which is not text',
    (content) => {
      const detected = detectJson(content)
      expect(detected.isParsed).toBe(false)
      expect(detected.value).toBe(content)
    },
  )

  it.each(['12345678901234567890', '{"id": 12345678901234567891}', '[1e400]'])(
    'leaves %j as text, because parsing would lose digits',
    (text) => {
      expect(detectJson(text)).toEqual({ isParsed: false, value: text })
    },
  )

  it.each(['9007199254740992', '6.02e123', '{"id":"12345678901234567891 and \\"1e400\\""}'])(
    'parses %j, where no digit is lost',
    (text) => {
      expect(detectJson(text)).toEqual({ isParsed: true, value: JSON.parse(text) })
    },
  )

  it('looks through a long text once', () => {
    const text = JSON.stringify(['1234567890123456 \\" '.repeat(500_000), 1])
    const start = performance.now()
    expect(detectJson(text).isParsed).toBe(true)
    expect(performance.now() - start).toBeLessThan(3_000)
  })
})
