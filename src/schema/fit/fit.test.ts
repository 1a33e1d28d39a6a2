/** Does every value of one schema satisfy another: yes, no with a value, or unknown with a place. */
import { describe, expect, it } from 'vitest'
import { compileSchema } from '../compile/compile.ts'
import type { JsonSchema } from '../json-schema.ts'
import { checkFit } from './fit.ts'

const object = (properties: Record<string, JsonSchema>, more: Record<string, unknown> = {}): JsonSchema => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  ...more,
})
const text: JsonSchema = { type: 'string' }
const number: JsonSchema = { type: 'number' }

it('decides by validation where the values are known, however deep they are', () => {
  const wanted = {
    type: 'object',
    properties: { persona: { type: 'string' }, tags: { type: 'array', items: { enum: ['a', 'b'] } } },
    required: ['persona'],
  }
  expect(checkFit({ const: { persona: 'x', tags: ['a'] } }, wanted)).toEqual({ kind: 'yes' })
  expect(checkFit({ const: { persona: 'x', tags: ['c'] } }, wanted)).toMatchObject({
    kind: 'no',
    pointer: '/tags/0',
    keyword: 'enum',
  })
  expect(checkFit({ enum: [{ persona: 'x' }, { persona: 'y', tags: [] }] }, wanted)).toEqual({ kind: 'yes' })
  expect(checkFit({ enum: [{ persona: 'x' }, {}] }, wanted)).toMatchObject({ kind: 'no', witness: {} })
})

describe('yes', () => {
  const cases: [JsonSchema, JsonSchema][] = [
    [text, true],
    [false, text],
    [text, {}],
    [text, { type: ['string', 'null'] }],
    [
      { type: 'integer', minimum: 1, maximum: 5 },
      { type: 'number', exclusiveMinimum: 0, maximum: 5 },
    ],
    [{ enum: ['a', 'b'] }, { enum: ['a', 'b', 'c'] }],
    [{ const: 3 }, { type: 'integer', multipleOf: 3 }],
    [{ enum: ['ab', 'cd'] }, { type: 'string', pattern: '^[a-z]+$', maxLength: 2 }],
    [
      { type: 'string', minLength: 3, maxLength: 5 },
      { type: 'string', minLength: 1, maxLength: 9 },
    ],
    [object({ a: text, b: number }), object({ a: text })],
    [
      object({ a: text }, { additionalProperties: false }),
      object({ a: text }, { additionalProperties: false }),
    ],
    [
      object({ a: text, b: text }, { additionalProperties: false }),
      object({ a: text }, { additionalProperties: text }),
    ],
    [
      object({ a: text }, { additionalProperties: { type: 'integer' } }),
      { additionalProperties: { type: ['number', 'string'] } },
    ],
    [object({ a: text }), { type: 'object', minProperties: 1 }],
    [
      { type: 'array', items: { type: 'integer' }, minItems: 2 },
      { type: 'array', items: number, minItems: 1 },
    ],
    [
      { type: 'array', prefixItems: [text, number], items: false },
      { type: 'array', maxItems: 2, items: { type: ['string', 'number'] } },
    ],
    [{ type: 'array', maxItems: 1 }, { uniqueItems: true }],
    [{ anyOf: [{ type: 'integer' }, text] }, { type: ['string', 'number'] }],
    [{ type: ['string', 'integer'] }, { anyOf: [text, number] }],
    [text, { oneOf: [text, number] }],
    [{ anyOf: [{ const: 'a' }, { const: 'b' }] }, { oneOf: [{ const: 'a' }, { enum: ['b', 'c'] }] }],
    [{ allOf: [number, { minimum: 2 }] }, { type: 'number', minimum: 1 }],
    [
      { $ref: '#/$defs/n', $defs: { n: { type: 'integer' } } },
      { $ref: '#/$defs/m', $defs: { m: number } },
    ],
    [{ type: 'string', format: 'date', pattern: '^x' }, { format: 'date' }],
    [
      { not: { const: 1 }, title: 'a' },
      { not: { const: 1 }, title: 'b' },
    ],
    [number, { pattern: 'x', required: ['a'], contains: text, 'x-own': 1 }],
    [object({ a: false }), object({ a: text })],
    [{ type: 'string', nullable: true }, { type: ['string', 'null'] }],
    [{ type: 'integer', minimum: 0, maximum: 90, multipleOf: 4 }, { multipleOf: 2 }],
    [
      {
        $schema: 'http://json-schema.org/draft-07/schema#',
        type: 'array',
        items: [text],
        additionalItems: false,
      },
      { type: 'array', items: text },
    ],
  ]
  it.each(cases)('%j fits %j', (from, to) => {
    expect(checkFit(from, to)).toEqual({ kind: 'yes' })
  })

  it('every schema fits itself, also one that refers to itself', () => {
    const tree: JsonSchema = { type: 'object', properties: { kids: { type: 'array', items: { $ref: '#' } } } }
    expect(checkFit(tree, structuredClone(tree))).toEqual({ kind: 'yes' })
  })
})

describe('no, with a value that shows it', () => {
  const cases: [JsonSchema, JsonSchema, string, string][] = [
    [text, number, '', 'type'],
    [true, false, '', 'false'],
    [number, { type: 'integer' }, '', 'type'],
    [{ type: 'number', minimum: 0 }, { type: 'number', exclusiveMinimum: 0 }, '', 'exclusiveMinimum'],
    [{ enum: ['a', 'z'] }, { enum: ['a'] }, '', 'enum'],
    [text, { maxLength: 100 }, '', 'maxLength'],
    [object({ a: text }), object({ a: text, b: text }), '/b', 'required'],
    [object({ a: number }), object({ a: text }), '/a', 'type'],
    [object({ a: object({ b: number }) }), object({ a: object({ b: text }) }), '/a/b', 'type'],
    [
      object({ a: text }),
      object({ a: text }, { additionalProperties: false }),
      '/additional',
      'additionalProperties',
    ],
    [{ type: 'object' }, object({ a: text }, { required: [] }), '/a', 'type'],
    [{ type: 'array', items: text }, { type: 'array', items: text, minItems: 1 }, '', 'minItems'],
    [{ type: 'array', items: number }, { type: 'array', items: text }, '/0', 'type'],
    [
      { type: 'array', items: text, maxItems: 5 },
      { type: 'array', items: text, maxItems: 2 },
      '',
      'maxItems',
    ],
    [{ type: ['string', 'number'] }, { anyOf: [text, { type: 'integer' }] }, '', 'anyOf'],
    [{ type: 'integer' }, { oneOf: [number, { type: 'integer' }] }, '', 'oneOf'],
    [text, { type: 'string', pattern: '^y' }, '', 'pattern'],
    [number, { not: { const: 1 } }, '', 'not'],
  ]
  it.each(cases)('%j does not fit %j: %s %s', (from, to, pointer, keyword) => {
    const result = checkFit(from, to)
    expect(result).toMatchObject({ kind: 'no', pointer, keyword })
    if (result.kind !== 'no') return
    expect(compileSchema(from).accepts(result.witness)).toBe(true)
    expect(compileSchema(to).accepts(result.witness)).toBe(false)
  })
})

it('is unknown where neither can be shown, and says where', () => {
  expect(checkFit({ type: 'string', pattern: '^ab$' }, { type: 'string', pattern: '^a' })).toEqual({
    kind: 'unknown',
    pointer: '',
    keyword: 'pattern',
  })
  const secret = object({ a: { type: 'string', format: 'uuid' } })
  expect(checkFit(secret, object({ a: { type: 'string', minLength: 36 } }))).toEqual({
    kind: 'unknown',
    pointer: '/a',
    keyword: 'minLength',
  })
})

it('answers within bounds for schemas that unfold without end', () => {
  const left = {
    $defs: {
      n: {
        anyOf: [
          { type: 'object', properties: { a: { $ref: '#/$defs/n' }, b: { $ref: '#/$defs/n' } } },
          { type: 'null' },
        ],
      },
    },
    $ref: '#/$defs/n',
  }
  const right = {
    $defs: {
      m: {
        anyOf: [
          { type: 'null' },
          { type: 'object', properties: { a: { $ref: '#/$defs/m' }, b: { $ref: '#/$defs/m' } } },
        ],
      },
    },
    $ref: '#/$defs/m',
  }
  const started = performance.now()
  expect(['yes', 'unknown']).toContain(checkFit(left, right).kind)
  expect(performance.now() - started).toBeLessThan(5_000)
})
