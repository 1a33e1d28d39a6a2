/** Toward the schema: allowed and unambiguous conversions, union branches, references; and what is never converted. */
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { parse } from '../parse.ts'
import type { ParseOptions } from '../types.ts'

const integer: JsonSchema = { type: 'integer' }
const text: JsonSchema = { type: 'string' }
const object = (properties: Record<string, JsonSchema>, more: object = {}) => ({
  type: 'object',
  properties,
  ...more,
})

function read(source: string, schema: JsonSchema, options?: ParseOptions): unknown {
  const result = parse(source, schema, options)
  return result.ok ? result.value : result.issues.map(({ code, at }) => [code, at])
}

describe('what is never converted', () => {
  it.each(['null', '""', '" "', 'true', '3.7', '"3.7"', '[1, 2]', '{}', '"seven"'])(
    '%s for an integer',
    (v) => {
      expect(read(`{"v": ${v}}`, object({ v: integer }, { required: ['v'] }))).toEqual([
        ['schema/type', { pointer: '/v' }],
      ])
    },
  )

  it('yes, no, 0 and 1 for a boolean, unless the caller lists it', () => {
    const schema = object({ v: { type: 'boolean' } })
    for (const v of ['0', '1', '"yes"', '"off"', '2'])
      expect(read(`{"v": ${v}}`, schema)).toEqual([['schema/type', { pointer: '/v' }]])
    const allow: ParseOptions = { allow: { boolean: ['num->bool', 'word->bool'] } }
    expect(read('{"v": 0}', schema, allow)).toEqual({ v: false })
    expect(read('{"v": "off"}', schema, allow)).toEqual({ v: false })
    expect(read('{"v": 2}', schema, allow)).toEqual([['schema/type', { pointer: '/v' }]])
  })

  it('missing properties into empty ones', () => {
    expect(read('{}', object({ a: { type: 'array' } }, { required: ['a'] }))).toEqual([
      ['schema/required', { pointer: '/a' }],
    ])
  })
})

describe('unions', () => {
  it('keep what is valid unchanged, in any order of the branches', () => {
    const union = object({ v: { anyOf: [integer, text] } })
    expect(parse('{v: "1"}', union)).toMatchObject({ ok: true, value: { v: '1' } })
  })

  it('take the first branch that fully validates, and say which', () => {
    const union = object({ v: { anyOf: [{ type: 'boolean' }, integer] } })
    expect(parse('{"v": "7"}', union)).toMatchObject({ ok: true, value: { v: 7 }, branches: { '/v': 1 } })
  })

  it('go by the discriminator', () => {
    const branch = (kind: string, v: JsonSchema) =>
      object({ kind: { const: kind }, v }, { required: ['kind', 'v'], additionalProperties: false })
    const union = { oneOf: [branch('a', text), branch('b', integer)] }
    expect(parse('{"kind": "B", "v": "2"}', union)).toMatchObject({
      ok: true,
      value: { kind: 'b', v: 2 },
      branches: { '': 1 },
    })
  })

  it('prefer the branch that throws nothing away', () => {
    const closed = (name: string) => object({ [name]: integer }, { additionalProperties: false })
    const both = object({ a: integer, b: integer }, { additionalProperties: false, required: ['a', 'b'] })
    expect(parse('{"a": "1", "b": "2"}', { anyOf: [closed('a'), both] })).toMatchObject({
      ok: true,
      value: { a: 1, b: 2 },
      branches: { '': 1 },
    })
  })

  it('inside unions are followed', () => {
    const union = { anyOf: [object({ v: { anyOf: [{ type: 'boolean' }, integer] } }, { required: ['v'] })] }
    expect(parse('{"v": "7"}', union)).toMatchObject({ ok: true, branches: { '': 0, '/v': 1 } })
  })

  it('continue converting beside a branch that is valid', () => {
    const schema = { ...object({ n: integer }), anyOf: [{ required: ['n'] }, { required: ['m'] }] }
    expect(read('{"n": "1"}', schema)).toEqual({ n: 1 })
  })
})

describe('the schema is followed', () => {
  it.each<[string, string, JsonSchema, unknown]>([
    [
      'through references',
      '{"x": {"y": "1"}}',
      { $ref: '#/$defs/r', $defs: { r: object({ x: { $ref: '#/$defs/s' } }), s: object({ y: integer }) } },
      { x: { y: 1 } },
    ],
    [
      'through allOf',
      '{"a": "1", "b": 1}',
      { allOf: [object({ a: integer }), object({ b: text })] },
      { a: 1, b: '1' },
    ],
    [
      'through patterns and additional properties',
      '{"x_1": "1", "z": "true"}',
      { type: 'object', patternProperties: { '^x_': integer }, additionalProperties: { type: 'boolean' } },
      { x_1: 1, z: true },
    ],
    [
      'through prefix items',
      '["1", 2, 3]',
      { type: 'array', prefixItems: [integer, text], items: text },
      [1, '2', '3'],
    ],
    [
      'into unfolded strings',
      '{"l": "[\\"1\\"]"}',
      object({ l: { type: 'array', items: integer } }),
      { l: [1] },
    ],
    [
      'behind round brackets',
      '{"n": ("7"), "s": ({"k": 1})}',
      object({ n: integer, s: text }),
      { n: 7, s: '{"k": 1}' },
    ],
    ['to listed numbers', '{"v": "1"}', object({ v: { enum: [1, 2] } }), { v: 1 }],
    ['to listed texts', '{"v": 1}', object({ v: { enum: ['1', '2'] } }), { v: '1' }],
  ])('%s', (_, source, schema, value) => {
    expect(read(source, schema)).toEqual(value)
    expect(read(source, schema, { untrusted: true })).toEqual(value)
  })
})

describe('unfolding', () => {
  const schema = object({ d: object({ e: { type: 'array', items: integer } }) })
  const source = '{"d": "{\\"e\\": \\"[1]\\"}"}'

  it('goes as deep as the caller allows', () => {
    expect(read(source, schema)).toEqual({ d: { e: [1] } })
    expect(read(source, schema, { unescapeDepth: 1 })).toEqual([['schema/type', { pointer: '/d/e' }]])
    expect(read(source, schema, { unescapeDepth: 0 })).toEqual([['schema/type', { pointer: '/d' }]])
  })
})

describe('absent and undeclared members', () => {
  const schema = object(
    { a: integer, b: text, c: { type: ['string', 'null'] } },
    { additionalProperties: false },
  )

  it('null for an optional property that does not allow it is absent', () => {
    expect(read('{"a": 1, "b": null, "c": null}', schema)).toEqual({ a: 1, c: null })
    expect(read('{"a": 1, "b": null}', schema, { aop: 'minimal' })).toEqual([
      ['schema/type', { pointer: '/b' }],
    ])
  })

  it('an undeclared key is dropped in full and an issue in minimal', () => {
    expect(read('{"a": 1, "note": "x"}', schema)).toEqual({ a: 1 })
    expect(read('{"a": 1, "note": "x"}', schema, { aop: 'minimal' })).toEqual([
      ['schema/additionalProperties', { pointer: '/note' }],
    ])
  })

  it('undeclared keys are an issue where nothing would be left', () => {
    const optional = object({ a: integer }, { additionalProperties: false })
    const error = [['schema/additionalProperties', { pointer: '/error' }]]
    expect(read('{"error": "not allowed"}', optional)).toEqual(error)
    expect(read('{"o": {"error": 1}}', object({ o: optional }))).toEqual([
      ['schema/additionalProperties', { pointer: '/o/error' }],
    ])
    expect(read('{"A": "1", "error": null}', optional)).toEqual({ a: 1 })
    expect(read('{"result": {"a": 1}}', optional)).toEqual({ a: 1 })
    expect(read('{"note": "x"}', object({}, { additionalProperties: false }))).toEqual({})
  })

  it('defaults are filled in only on request', () => {
    const withDefault = object({ a: integer, b: { type: 'string', default: 'x' } }, { required: ['b'] })
    expect(read('{"a": 1}', withDefault)).toEqual([['schema/required', { pointer: '/b' }]])
    expect(read('{"a": 1}', withDefault, { defaults: true })).toEqual({ a: 1, b: 'x' })
  })

  it('bad items are dropped only on request, and recorded', () => {
    const list = { type: 'array', items: integer }
    expect(read('["1", "x", 3]', list)).toEqual([['schema/type', { pointer: '/1' }]])
    const result = parse('["1", "x", 3]', list, { salvage: true })
    expect(result).toMatchObject({ ok: true, value: [1, 3] })
    expect(result.repairs.at(-1)).toMatchObject({ rule: 'drop-item', at: { pointer: '/1' }, before: 'x' })
  })
})
