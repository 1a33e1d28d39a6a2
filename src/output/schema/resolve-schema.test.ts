import { describe, expect, it } from 'vitest'
import { listBranches, listTypes, resolveSchema } from './resolve-schema.ts'

describe('resolveSchema', () => {
  it('follows local references, with escapes, and lets the outer word win', () => {
    const root = { $defs: { 'a/b': { type: 'string', description: 'inner' } } }
    const resolved = resolveSchema({ $ref: '#/$defs/a~1b', description: 'outer' }, root)
    expect(resolved).toEqual({
      schema: { type: 'string', description: 'outer' },
      refs: ['#/$defs/a~1b'],
      open: false,
    })
  })

  it.each(['#/$defs/nowhere', 'https://example.com/schema', '#anchor', '#/%zz'])(
    'says that it does not know what %j leads to',
    ($ref) => {
      expect(resolveSchema({ $ref }, {})).toMatchObject({ open: true })
    },
  )

  it('notices a reference that was followed above', () => {
    expect(resolveSchema({ $ref: '#' }, { type: 'object' }, ['#'])).toMatchObject({ open: true })
  })

  it('follows a reference that names itself only once', () => {
    expect(resolveSchema({ $ref: '#' }, { allOf: [{ $ref: '#' }, { type: 'object' }] })).toEqual({
      schema: { type: 'object' },
      refs: ['#'],
      open: false,
    })
  })

  it('adds up what allOf requires and narrows the types', () => {
    const schema = {
      type: ['string', 'number', 'null'],
      required: ['a'],
      allOf: [{ type: ['number', 'null'] }, { required: ['b', 'a'] }],
    }
    expect(resolveSchema(schema, schema)).toMatchObject({
      schema: { type: ['number', 'null'], required: ['a', 'b'] },
    })
    expect(resolveSchema({ type: 'number', allOf: [{ type: 'integer' }] }, true)).toMatchObject({
      schema: { type: 'integer' },
    })
  })

  it('allows no value under false', () => {
    expect(resolveSchema(false, true)).toBe(false)
    expect(resolveSchema({ allOf: [true, false] }, true)).toBe(false)
    expect(resolveSchema(true, true)).toEqual({ schema: {}, refs: [], open: false })
  })
})

describe('listTypes and listBranches', () => {
  it('read what is said and what is implied', () => {
    expect(listTypes({ type: 'string' })).toEqual(['string'])
    expect(listTypes({ properties: {} })).toEqual(['object'])
    expect(listTypes({ items: {} })).toEqual(['array'])
    expect(listTypes({})).toEqual([])
    expect(listBranches({ oneOf: [true] })).toEqual([true])
    expect(listBranches({})).toEqual([])
  })
})
