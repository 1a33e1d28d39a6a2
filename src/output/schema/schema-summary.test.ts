import { describe, expect, it } from 'vitest'
import { summariseSchema } from './schema-summary.ts'

describe('summariseSchema', () => {
  it.each([
    [{ type: 'string' }, 'string'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ const: 'a' }, '"a"'],
    [{ enum: [1, 'b', null] }, '1 | "b" | null'],
    [{ type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } }, '(string | number)[]'],
    [{ type: 'array' }, 'array'],
    [{ properties: { a: { type: 'integer' }, 'b c': true }, required: ['a'] }, '{ a: integer, "b c"?: any }'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, '{ [name]: number }'],
    [{ type: 'object', properties: { a: false } }, '{ a?: nothing }'],
    [{}, 'any'],
  ])('draws %j', (schema, drawn) => {
    expect(summariseSchema(schema, schema)).toBe(drawn)
  })

  it('stops at a part that leads back to itself', () => {
    const root = { type: 'object', properties: { next: { $ref: '#' } } }
    expect(summariseSchema({ $ref: '#' }, root)).toBe('{ next?: JSON }')
  })

  it('ends in … when there is too much to draw', () => {
    const many = { enum: Array.from({ length: 1000 }, (_, i) => i) }
    expect(summariseSchema(many, many)).toMatch(/\| 99 \| …$/)
  })
})
