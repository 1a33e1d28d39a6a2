/** What a schema says at one place, with references and allOf followed: enough to guide a conversion. */
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from './json-schema.ts'
import { type Shape, Shapes } from './shape.ts'

function shapesOf(schema: JsonSchema): Shapes {
  return new Shapes(schema, (pattern) => new RegExp(pattern, 'u'))
}

function shape(schema: JsonSchema): Shape {
  return shapesOf(schema).at([''])
}

describe('types', () => {
  it.each<[JsonSchema, string[]]>([
    [{ type: 'string' }, ['string']],
    [{ type: ['integer', 'null'] }, ['integer', 'null']],
    [{ enum: ['a', 1, null] }, ['string', 'integer', 'null']],
    [{ const: true }, ['boolean']],
    [{ allOf: [{ type: ['string', 'integer'] }, { type: ['integer', 'null'] }] }, ['integer']],
    [{ allOf: [{ type: 'number' }, { type: 'integer' }] }, ['integer']],
    [{ allOf: [{ type: 'integer' }, { type: 'number' }] }, ['integer']],
    [{}, []],
    [true, []],
  ])('of %j are %j', (schema, types) => {
    expect(shape(schema).types).toEqual(types)
  })
})

describe('listed values', () => {
  it('meet across parts', () => {
    expect(shape({ enum: ['a', 'b'], allOf: [{ enum: ['b', 'c'] }] }).values).toEqual(['b'])
    expect(shape({ const: 1 }).values).toEqual([1])
    expect(shape({}).values).toBeUndefined()
  })
})

describe('bounds', () => {
  it('are the narrowest', () => {
    const bounded = shape({
      minimum: 1,
      maximum: 9,
      allOf: [{ exclusiveMinimum: 3 }, { exclusiveMaximum: 5 }],
    })
    expect([bounded.minimum, bounded.maximum]).toEqual([3, 5])
    expect(shape({}).maximum).toBeUndefined()
  })
})

describe('references', () => {
  it.each<[string, JsonSchema]>([
    ['by pointer', { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } }],
    ['by escaped pointer', { $ref: '#/$defs/a~1b%20c', $defs: { 'a/b c': { type: 'string' } } }],
    ['by anchor', { $ref: '#here', $defs: { a: { $anchor: 'here', type: 'string' } } }],
    ['by id', { $id: 'https://x.y/z', $ref: 'https://x.y/z#/$defs/a', $defs: { a: { type: 'string' } } }],
    ['by a chain', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { type: 'string' } } }],
  ])('%s are followed', (_, schema) => {
    expect(shape(schema).types).toEqual(['string'])
  })

  it.each<[string, string]>([
    ['to another document', 'https://other.example/x'],
    ['that are badly encoded', '#/%zz'],
    ['to nowhere', '#/nowhere'],
    ['through a scalar', '#/title/x'],
    ['to an unknown anchor', '#unknown'],
  ])('%s say nothing', (_, $ref) => {
    expect(shape({ title: 'x', $ref }).types).toEqual([])
  })

  it('in a circle end', () => {
    const schema = { type: 'object', properties: { next: { $ref: '#' } }, allOf: [{ $ref: '#' }] }
    expect(shape(schema).member('next')).toEqual(['/properties/next'])
    expect(shapesOf(schema).at(['/properties/next']).names).toEqual(['next'])
  })
})

describe('members', () => {
  const schema = {
    properties: { a: { type: 'integer', default: 7 }, 'b/c': {} },
    patternProperties: { '^x_': {} },
    additionalProperties: { type: 'string' },
    required: ['a'],
  }

  it('are found by name, by pattern, or as additional ones', () => {
    const at = shape(schema)
    expect(at.member('a')).toEqual(['/properties/a'])
    expect(at.member('a')).toBe(at.member('a'))
    expect(at.member('b/c')).toEqual(['/properties/b~1c'])
    expect(at.member('x_1')).toEqual(['/patternProperties/^x_'])
    expect(at.member('other')).toEqual(['/additionalProperties'])
    expect([...at.required]).toEqual(['a'])
    expect(at.names).toEqual(['a', 'b/c'])
    expect(shape({}).member('a')).toEqual([])
  })

  it('are declared by name or pattern', () => {
    const at = shape(schema)
    expect(['a', 'x_1', 'other', 'toString'].map((name) => at.declares(name))).toEqual([
      true,
      true,
      false,
      false,
    ])
  })

  it('are forbidden where additional or unevaluated ones are', () => {
    const closed = shape({ ...schema, additionalProperties: false })
    expect(['a', 'x_1', 'other'].map((name) => closed.forbids(name))).toEqual([false, false, true])
    const sealed = shape({ ...schema, additionalProperties: true, unevaluatedProperties: false })
    expect(['a', 'other'].map((name) => sealed.forbids(name))).toEqual([false, true])
    expect(shape(schema).forbids('other')).toBe(false)
  })

  it('have their defaults', () => {
    expect(shape(schema).findDefault('a')).toEqual({ value: 7 })
    expect(shape(schema).findDefault('b/c')).toBeUndefined()
    expect(shape(schema).findDefault('toString')).toBeUndefined()
  })
})

describe('items', () => {
  it.each<[string, JsonSchema, string[][]]>([
    ['alike', { items: {} }, [['/items'], ['/items'], ['/items']]],
    ['a prefix and the rest', { prefixItems: [{}], items: {} }, [['/prefixItems/0'], ['/items'], ['/items']]],
    ['a prefix alone', { prefixItems: [{}] }, [['/prefixItems/0'], [], []]],
  ])('%s', (_, schema, expected) => {
    const at = shape(schema)
    expect([0, 1, 2].map((index) => at.item(index))).toEqual(expected)
    expect(at.describesItems).toBe(true)
    expect(shape({}).describesItems).toBe(false)
  })
})

describe('unions', () => {
  it('are named until their branch is settled', () => {
    const shapes = shapesOf({ anyOf: [{ type: 'string' }, {}], allOf: [{ oneOf: [{}] }] })
    const open = shapes.at([''])
    expect(open.unions).toEqual([
      { pointer: '/anyOf', branches: ['/anyOf/0', '/anyOf/1'] },
      { pointer: '/allOf/0/oneOf', branches: ['/allOf/0/oneOf/0'] },
    ])
    const settled = shapes.at(['', '/anyOf/0'], ['/anyOf'])
    expect(settled.unions).toEqual([{ pointer: '/allOf/0/oneOf', branches: ['/allOf/0/oneOf/0'] }])
    expect(settled.types).toEqual(['string'])
    expect(shapes.at([''])).toBe(open)
  })
})
