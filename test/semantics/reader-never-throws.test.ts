/** The reader returns a result for every text and every schema: nested and recursive unions included, whatever the depth. */
import { describe, expect, it } from 'vitest'
import { createReader, parse } from '../../src/output/index.ts'

const NULLABLE_UNION = { anyOf: [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, { type: 'null' }] }
const LIST_OF_ITSELF = {
  type: 'object',
  properties: { a: { $ref: '#/$defs/list' } },
  $defs: { list: { type: 'array', items: { $ref: '#/$defs/list' } } },
}
const RECURSIVE = {
  type: 'array',
  items: { oneOf: [{ $ref: '#/$defs/u' }, { type: 'string' }] },
  $defs: {
    t: {
      anyOf: [
        { type: 'string' },
        { type: 'array', items: { $ref: '#/$defs/t' } },
        { type: 'object', properties: { next: { $ref: '#/$defs/u' } } },
      ],
    },
    u: { oneOf: [{ $ref: '#/$defs/t' }, { type: 'null' }] },
  },
}

describe('unions', () => {
  it('inside a union are converted like one union', () => {
    const schema = { type: 'object', properties: { a: NULLABLE_UNION }, required: ['a'] }
    expect(parse("{'a': [7]}", schema)).toMatchObject({ ok: true, value: { a: '[7]' } })
    expect(parse('{"a": null,}', schema)).toMatchObject({ ok: true, value: { a: null } })
    expect(parse('{"a": 7,}', schema)).toMatchObject({ ok: true, value: { a: 7 } })
    const numbers = { anyOf: [{ anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, { type: 'null' }] }
    expect(parse('{"a": "7"}', { type: 'object', properties: { a: numbers } })).toMatchObject({
      ok: true,
      value: { a: 7 },
    })
  })

  it('a list of itself is not wrapped without end', () => {
    expect(parse("{'a': true}", LIST_OF_ITSELF).ok).toBe(false)
    expect(parse("{'a': [[1]]}", LIST_OF_ITSELF).ok).toBe(false)
    expect(parse("{'a': [[], []]}", LIST_OF_ITSELF)).toMatchObject({ ok: true, value: { a: [[], []] } })
  })

  it('that refer to themselves are tried within the allowance', () => {
    for (const text of [
      "[1,2,[3{a:'x',b:{c:'3'}}",
      "[1,2,[3,{next:'x',b:{c:'3'}}]]",
      `[${'{next:'.repeat(200)}4${'}'.repeat(200)}]`,
      `[${"{'next':[".repeat(100)}`,
    ]) {
      const result = parse(text, RECURSIVE)
      expect(result.ok || result.issues.length > 0).toBe(true)
    }
  })

  it('convert every item of a long list in time that grows with the list', () => {
    const schema = { type: 'array', items: { anyOf: [{ type: 'integer' }, { type: 'null' }] } }
    const result = parse(JSON.stringify(Array.from({ length: 20_000 }, (_, i) => String(i))), schema)
    expect(result.ok && (result.value as number[])[19_999]).toBe(19_999)
    expect(Object.keys(result.branches)).toHaveLength(20_000)
  })
})

describe('the allowance of steps', () => {
  it('ends in an issue that says where', () => {
    const result = parse('{"a": ["1", "2", "3"', { type: 'object' }, { limits: { steps: 10 } })
    expect(result.ok).toBe(false)
    expect(result.issues[0]).toMatchObject({ code: 'limit/steps', at: { span: [0, 0] } })
    const list = { type: 'array', items: { type: 'integer' } }
    const within = parse('["1","2","3","4","5"]', list, { limits: { steps: 45 } })
    expect(within.issues[0]).toMatchObject({ code: 'limit/steps', at: { pointer: '/3' } })
  })

  it('grows with the text: repeated shapes never reach it', () => {
    const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] }
    for (const motif of [
      '```json\n{"a":1\n```\n',
      '<think>{"a":</think>',
      '```json\n{"a":"x\n```\n',
      "k0:'v',",
    ]) {
      const text = motif.repeat(20_000 / motif.length)
      for (const wanted of [undefined, schema, { type: 'array', items: { type: 'string' } }]) {
        expect(parse(text, wanted).issues.map((issue) => issue.code)).not.toContain('limit/steps')
      }
    }
  })
})

describe('depth', () => {
  it('beyond the call stack of the validator is an issue, in whole texts and in streams', () => {
    const schema = {
      $ref: '#/$defs/t',
      $defs: { t: { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/$defs/t' } }] } },
    }
    const text = '['.repeat(50_000) + ']'.repeat(50_000)
    expect(parse(text, schema)).toMatchObject({ ok: false, issues: [{ code: 'limit/depth' }] })
    const reader = createReader(schema)
    for (let at = 0; at < text.length; at += 10_000) reader.push(text.slice(at, at + 10_000))
    expect(reader.end()).toMatchObject({ ok: false, issues: [{ code: 'limit/depth' }] })
  })
})
