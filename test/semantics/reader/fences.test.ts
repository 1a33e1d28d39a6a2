/** A fence that is closed on a line of its own ends what was opened inside it: prose behind it is part of no value. */
import { describe, expect, it } from 'vitest'
import { createReader, parse } from '../../../src/output/index.ts'

const PROSE = 'Hope this "helps", you!'
const marks = ['```', '~~~', '````']

/** The content of the fence, what is read of it, and what is read of it when a cut text is accepted. */
const cut = [
  { inside: '["a","b', strict: ['a'], accepted: ['a', 'b'] },
  { inside: '["a","b"', strict: ['a', 'b'], accepted: ['a', 'b'] },
  { inside: '["a","b",', strict: ['a', 'b'], accepted: ['a', 'b'] },
  { inside: '{"a":"x","b":["y","z', strict: { a: 'x', b: ['y'] }, accepted: { a: 'x', b: ['y', 'z'] } },
  { inside: '{"a":{"c":"d', strict: { a: {} }, accepted: { a: { c: 'd' } } },
  { inside: '{"a":"x","b":', strict: { a: 'x' }, accepted: { a: 'x' } },
  { inside: '{"a":"x","b', strict: { a: 'x' }, accepted: { a: 'x' } },
]

const cases = cut.flatMap((one) => marks.map((mark) => ({ ...one, mark })))

describe('an unfinished value in a closed fence', () => {
  it.each(cases)('$mark $inside: ends with the fence', ({ inside, mark, strict, accepted }) => {
    for (const line of [mark, `  ${mark}  `, `${mark}\r`]) {
      const text = `${mark}json\n${inside}\n${line}\n${PROSE}`
      expect(parse(text)).toMatchObject({ ok: true, value: strict })
      expect(parse(text, undefined, { acceptTruncated: true })).toMatchObject({ ok: true, value: accepted })
    }
  })

  it.each(cases)('$mark $inside: a stream shows nothing behind the fence', ({ inside, mark }) => {
    for (const size of [1, 3, 1_000]) {
      const text = `${mark}json\n${inside}\n${mark}\n${PROSE}`
      const reader = createReader(undefined, { acceptTruncated: true })
      for (let at = 0; at < text.length; at += size) {
        const { partial } = reader.push(text.slice(at, at + size))
        expect(JSON.stringify(partial) ?? '').not.toMatch(/Hope|`|~/)
      }
      expect(reader.end()).toEqual(parse(text, undefined, { acceptTruncated: true }))
    }
  })

  it('gives way to a finished one in the next fence', () => {
    const text = '```json\n["a","b\n```\nAgain:\n```json\n["c","d"]\n```\nBye'
    expect(parse(text)).toMatchObject({ ok: true, value: ['c', 'd'] })
  })
})

describe('a string that holds fences', () => {
  it.each([
    '{"a":"see:\n```js\nfoo("x")\n```\nthat is it"}',
    '{"a":"see:\n```\nfoo\n```\nthat is it"}',
    '{"a":"see:\\n```js\\nfoo\\n```\\nthat is it"}',
  ])('%j keeps them', (value) => {
    const read = parse(`\`\`\`json\n${value}\n\`\`\`\nBye`)
    expect(read.ok && JSON.stringify(read.value)).toMatch(/```.*foo.*```.*that is it/)
  })
})

describe('a name in an object', () => {
  it.each([
    { anyOf: [{ const: 'x' }, { type: 'object', required: ['a'] }] },
    { oneOf: [{ const: 'x' }, { const: 'y' }] },
    { enum: ['x', 'y'] },
  ])('is not the answer where %j is wanted', (schema) => {
    expect(parse('{"x":{}}', schema).ok).toBe(false)
  })
})
