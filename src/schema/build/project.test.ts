/** One property cut out of a schema means what it meant inside. */
import { describe, expect, it } from 'vitest'
import { compileSchema } from '../compile/compile.ts'
import type { JsonSchema } from '../json-schema.ts'
import { isVacant } from '../values/schema-values.ts'
import { both } from './combine.ts'
import { project } from './project.ts'

describe('project', () => {
  it('gives the schema of a member, an element, or the whole', () => {
    const schema: JsonSchema = {
      properties: { a: { items: { type: 'string' } } },
      allOf: [{ properties: { a: { minItems: 1 } } }],
    }
    expect(project(schema, '')).toEqual({ schema, exact: true })
    expect(project(schema, '/a/0')).toEqual({ schema: { type: 'string' }, exact: true })
    expect(project(schema, '/a').schema).toEqual({ allOf: [{ items: { type: 'string' } }, { minItems: 1 }] })
    expect(project(schema, '/b').schema).toBe(true)
    expect(project({ additionalProperties: false }, '/b').schema).toBe(false)
    expect(project(false, '/b').schema).toBe(false)
  })

  it('takes along what a member refers to', () => {
    const tree = {
      type: 'object',
      properties: { kids: { type: 'array', items: { $ref: '#/$defs/tree' } } },
      required: ['kids'],
    }
    const schema = {
      properties: { 'a/b': { properties: { t: { $ref: '#/$defs/tree' }, u: { items: { $ref: '#' } } } } },
      $defs: { tree },
    }
    const cut = compileSchema(project(schema, '/a~1b/t').schema)
    expect(cut.accepts({ kids: [{ kids: [] }] })).toBe(true)
    expect(cut.accepts({ kids: [{ kids: 3 }] })).toBe(false)
    const list = compileSchema(project(schema, '/a~1b/u').schema)
    expect(list.accepts([{ 'a/b': { t: { kids: [] } } }])).toBe(true)
    expect(list.accepts([{ 'a/b': { t: { kids: 1 } } }])).toBe(false)
  })

  it('is not exact where other parts of the value bear on the member', () => {
    const union: JsonSchema = {
      anyOf: [{ properties: { a: { const: 1 } } }, { properties: { a: { const: 2 } } }],
    }
    expect(project(union, '/a')).toEqual({ schema: { anyOf: [{ const: 1 }, { const: 2 }] }, exact: false })
    expect(project({ properties: { a: {} }, if: { required: ['b'] } }, '/a').exact).toBe(false)
    expect(project({ anyOf: [{ type: 'null' }, { properties: { a: { const: 1 } } }] }, '/a').schema).toBe(
      true,
    )
  })
})

describe('both', () => {
  it('keeps references of either side apart', () => {
    const one: JsonSchema = {
      $ref: '#/$defs/x',
      $defs: { x: { type: 'array', items: { $ref: '#/$defs/y' } }, y: { type: 'string' } },
    }
    const two: JsonSchema = {
      $id: 'https://example.org/two',
      properties: { n: { $ref: 'https://example.org/two' } },
      minItems: 1,
      items: { $ref: '#/$defs/y' },
      $defs: { y: { maxLength: 2 } },
    }
    const met = compileSchema(both(one, two))
    expect(['ab', 'abc', ''].map((text) => met.accepts([text]))).toEqual([true, false, true])
    expect(met.accepts([])).toBe(false)
    expect(met.accepts([1])).toBe(false)
  })
})

it('knows schemas that can have no value', () => {
  const object = (properties: Record<string, JsonSchema>): JsonSchema => ({
    type: 'object',
    properties,
    required: Object.keys(properties),
  })
  const none: JsonSchema[] = [
    false,
    { type: 'string', enum: [1] },
    { allOf: [{ minimum: 3, type: 'number' }, { maximum: 2 }] },
    object({ a: object({ b: false }) }),
    { ...(object({ a: true }) as object), additionalProperties: false, properties: {} },
    { type: 'array', minItems: 1, items: false },
    { type: 'array', minItems: 1, items: { allOf: [{ type: 'string' }, { type: 'number' }] } },
    both(
      { anyOf: [object({ a: { const: 1 } }), object({ b: true, a: { const: 2 } })] },
      { properties: { a: { const: 3 } } },
    ),
    { type: 'string', anyOf: [{ type: 'number' }, { oneOf: [{ type: 'null' }, false] }] },
    { $ref: '#/$defs/n', $defs: { n: object({ next: { $ref: '#/$defs/n' } }) }, allOf: [false] },
  ]
  for (const schema of none) expect(isVacant(schema), JSON.stringify(schema)).toBe(true)
  const some: JsonSchema[] = [
    true,
    {},
    object({ a: true }),
    { type: 'array', items: false },
    { properties: { a: false } },
    both({ anyOf: [object({ a: { const: 1 } }), object({ b: true })] }, { properties: { a: { const: 3 } } }),
    { anyOf: [false, { type: 'null' }], oneOf: [{ type: 'string' }, {}] },
  ]
  for (const schema of some) expect(isVacant(schema), JSON.stringify(schema)).toBe(false)
})
