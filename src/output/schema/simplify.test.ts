import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { simplifySchema, summariseSchema } from './simplify.ts'

const order = {
  type: 'object',
  required: ['customer', 'items', 'status'],
  properties: {
    customer: { $ref: '#/$defs/customer' },
    items: {
      type: 'array',
      items: {
        type: 'object',
        required: ['sku'],
        properties: { sku: { type: 'string' }, qty: { type: 'integer' } },
      },
    },
    status: { enum: ['open', 'paid'], description: 'Progress of the order.' },
    note: { type: 'object', required: ['text'], properties: { text: { type: 'string' } } },
    tags: { type: 'array', items: { type: 'string' } },
  },
  $defs: {
    customer: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', description: 'Full name.' },
        age: { type: 'integer', minimum: 0 },
      },
    },
  },
} satisfies JsonSchema

function fieldsOf(schema: JsonSchema): Record<string, { type: string; description: string }> {
  return (
    simplifySchema(schema).schema as { properties: Record<string, { type: string; description: string }> }
  ).properties
}

describe('simplifySchema', () => {
  it('gives one closed object of string fields with readable names', () => {
    const { schema } = simplifySchema(order)
    expect(schema).toMatchObject({ type: 'object', additionalProperties: false })
    expect(Object.keys(fieldsOf(order))).toEqual([
      'customer_name',
      'customer_age',
      'items_json',
      'status',
      'note_text',
      'tags_json',
    ])
    expect(new Set(Object.values(fieldsOf(order)).map((field) => field.type))).toEqual(new Set(['string']))
    expect(() => new Ajv2020({ strict: true }).compile(schema as object)).not.toThrow()
  })

  it('requires a field only if the whole chain above it is required', () => {
    expect(simplifySchema(order).schema).toMatchObject({
      required: ['customer_name', 'items_json', 'status'],
    })
  })

  it('names type, bounds, allowed values, meaning and path in the description', () => {
    const fields = fieldsOf(order)
    expect(fields['customer_name']?.description).toBe('string. Full name. (path: customer > name)')
    expect(fields['customer_age']?.description).toBe('integer, minimum 0. (path: customer > age)')
    expect(fields['status']?.description).toBe(
      'string, one of: open | paid. Progress of the order. (path: status)',
    )
    expect(fields['items_json']?.description).toBe(
      'JSON text of: { sku: string, qty?: integer }[]. (path: items)',
    )
    expect(fields['tags_json']?.description).toBe('JSON text of: string[]. (path: tags)')
  })

  it('merges allOf', () => {
    const fields = fieldsOf({
      allOf: [
        { type: 'object', properties: { a: { type: 'number' } } },
        { properties: { a: { description: 'Both.' }, b: { type: 'boolean' } } },
      ],
    })
    expect(fields['a']?.description).toBe('number. Both. (path: a)')
    expect(fields['b']?.description).toBe('boolean. (path: b)')
  })

  it('asks for a recursive part as one JSON text', () => {
    const fields = fieldsOf({
      $ref: '#/$defs/node',
      $defs: {
        node: {
          type: 'object',
          properties: {
            label: { type: 'string' },
            left: { $ref: '#/$defs/node' },
            kids: { items: { $ref: '#/$defs/node' } },
          },
        },
      },
    })
    expect(Object.keys(fields)).toEqual(['label', 'left_json', 'kids_json'])
  })

  it('asks for a union of objects as JSON text and for a union of scalars as plain text', () => {
    const fields = fieldsOf({
      type: 'object',
      properties: {
        shape: { oneOf: [{ type: 'object', properties: { r: { type: 'number' } } }, { type: 'null' }] },
        age: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
        either: { anyOf: [{ type: 'string' }, { type: 'object' }] },
      },
    })
    expect(fields['shape_json']?.description).toBe('JSON text of: { r?: number } | null. (path: shape)')
    expect(fields['age']?.description).toBe('integer or null. (path: age)')
    expect(fields['either']?.description).toBe('Text, or JSON text of: string | object. (path: either)')
  })

  it('asks for an object without declared properties as JSON text', () => {
    const fields = fieldsOf({
      type: 'object',
      properties: {
        scores: { type: 'object', additionalProperties: { type: 'number' } },
        free: { type: 'object' },
      },
    })
    expect(fields['scores_json']?.description).toBe('JSON text of: { [name]: number }. (path: scores)')
    expect(fields['free_json']?.description).toBe('JSON text of: object. (path: free)')
  })

  it('numbers names that collide, in the order of declaration', () => {
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'object', properties: { b: { type: 'string' } } },
        a_b: { type: 'string' },
        'a b': { type: 'string' },
        名前: { type: 'string' },
      },
    }
    expect(Object.keys(fieldsOf(schema))).toEqual(['a_b', 'a_b_2', 'a_b_3', 'field'])
    const flat = { a_b: '1', a_b_2: '2', a_b_3: '3', field: '4' }
    expect(simplifySchema(schema).restore(flat).value).toEqual({
      a: { b: '1' },
      a_b: '2',
      'a b': '3',
      名前: '4',
    })
  })

  it('leaves out a property that can never be there', () => {
    expect(Object.keys(fieldsOf({ type: 'object', properties: { a: true, b: false } }))).toEqual(['a'])
  })

  it.each([
    [{ type: 'array', items: { type: 'integer' } }],
    [{ type: 'number' }],
    [{ type: 'object' }],
    [true],
    [false],
  ])('asks for a root that is not an object of declared properties in the field "value": %j', (schema) => {
    expect(Object.keys(fieldsOf(schema))).toEqual(['value'])
    expect(simplifySchema(schema).restore({ value: '[1]' })).toEqual({ value: '[1]', missing: [] })
    expect(simplifySchema(schema).restore({})).toEqual({ value: undefined, missing: [''] })
  })

  it('stays small and quick on schemas that multiply', () => {
    const defs: Record<string, unknown> = {}
    for (let level = 0; level < 20; level++) {
      const ref = { $ref: `#/$defs/l${level + 1}` }
      const entries = Array.from({ length: 10 }, (_, i) => [
        `p${i}`,
        i % 2 ? ref : { anyOf: [ref, ref, ref] },
      ])
      defs[`l${level}`] = { type: 'object', properties: Object.fromEntries(entries) }
    }
    defs['l20'] = { type: 'string' }
    const start = performance.now()
    const schema = simplifySchema({ $ref: '#/$defs/l0', $defs: defs as JsonSchema }).schema
    expect(performance.now() - start).toBeLessThan(10_000)
    expect(JSON.stringify(schema).length).toBeLessThan(2_000_000)
  })
})

describe('restore', () => {
  it('puts strings back where scalars were, without converting them', () => {
    const flat = { customer_name: 'Ada', customer_age: '36', items_json: '[{"sku":"x"}]', status: 'open' }
    expect(simplifySchema(order).restore(flat)).toEqual({
      value: { customer: { name: 'Ada', age: '36' }, items: '[{"sku":"x"}]', status: 'open' },
      missing: [],
    })
  })

  it('leaves absent fields absent and names the required ones', () => {
    expect(simplifySchema(order).restore({ customer_age: '36', status: 'open' })).toEqual({
      value: { customer: { age: '36' }, status: 'open' },
      missing: ['/customer/name', '/items'],
    })
    expect(simplifySchema(order).restore('nonsense')).toEqual({
      value: undefined,
      missing: ['/customer/name', '/items', '/status'],
    })
  })

  it('names a required object of which nothing was given', () => {
    const schema = {
      type: 'object',
      required: ['a'],
      properties: { a: { type: 'object', properties: { b: { type: 'string' } } } },
    }
    expect(simplifySchema(schema).restore({})).toEqual({ value: {}, missing: ['/a'] })
  })

  it('takes null for absent unless the original allows null', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: ['string', 'null'] } } }
    expect(simplifySchema(schema).restore({ a: null, b: null }).value).toEqual({ b: null })
  })

  it('ignores fields that it did not ask for', () => {
    expect(simplifySchema(order).restore({ customer_name: 'Ada', extra: 'x', toString: 'y' }).value).toEqual({
      customer: { name: 'Ada' },
    })
  })

  it('treats __proto__ as an ordinary property name', () => {
    const schema = JSON.parse(
      '{"type":"object","properties":{"__proto__":{"type":"object","properties":{"polluted":{"type":"string"}}},"constructor":{"type":"string"}}}',
    ) as JsonSchema
    const flat = simplifySchema(schema)
    expect(Object.keys(fieldsOf(schema))).toEqual(['__proto___polluted', 'constructor'])
    const { value } = flat.restore({ __proto___polluted: 'yes', constructor: 'c' })
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":"yes"},"constructor":"c"}')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

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
