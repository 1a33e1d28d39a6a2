/** Schemas are read in the dialect they are written in, whichever it is, and no schema makes `parse` throw. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createReader, parse } from '../../../src/output/index.ts'
import type { JsonSchema } from '../../../src/schema/compile/compile.ts'

const draft04 = 'http://json-schema.org/draft-04/schema#'
const draft06 = 'http://json-schema.org/draft-06/schema#'
const draft07 = 'http://json-schema.org/draft-07/schema#'
const draft2019 = 'https://json-schema.org/draft/2019-09/schema'
const openapi30 = 'https://spec.openapis.org/oas/3.0/dialect'
const openapi31 = 'https://spec.openapis.org/oas/3.1/dialect/base'

describe('a schema of an older draft', () => {
  it.each<[string, JsonSchema, string, unknown, string]>([
    [
      'boolean exclusiveMinimum of draft-04',
      { $schema: draft04, type: 'number', minimum: 3, exclusiveMinimum: true },
      '"4"',
      4,
      '3',
    ],
    [
      'id and definitions of draft-04',
      {
        $schema: draft04,
        id: 'https://example.com/root',
        type: 'object',
        properties: { n: { $ref: 'part#/definitions/n' } },
        definitions: { part: { id: 'part', definitions: { n: { type: 'integer' } } } },
      },
      '{n: "7"}',
      { n: 7 },
      '{"n": "x"}',
    ],
    [
      'a $ref of draft-06 without regard to its neighbours',
      {
        $schema: draft06,
        type: 'object',
        properties: { n: { $ref: '#/definitions/n', maximum: 1 } },
        definitions: { n: { type: 'integer' } },
      },
      '{n: "7"}',
      { n: 7 },
      '{"n": "x"}',
    ],
    [
      'a name in $id of draft-07',
      {
        $schema: draft07,
        type: 'object',
        properties: { n: { $ref: '#number' } },
        definitions: { n: { $id: '#number', type: 'integer' } },
      },
      '{n: "7"}',
      { n: 7 },
      '{"n": "x"}',
    ],
    [
      'items and additionalItems of draft-07',
      {
        $schema: draft07,
        type: 'array',
        items: [{ type: 'integer' }],
        additionalItems: { type: 'boolean' },
      },
      "['7', 'true']",
      [7, true],
      '[7, "perhaps"]',
    ],
    [
      'dependencies of draft-07',
      { $schema: draft07, type: 'object', dependencies: { a: ['b'], c: { required: ['d'] } } },
      '{a: 1, b: 2}',
      { a: 1, b: 2 },
      '{"c": 1}',
    ],
    [
      '$recursiveRef of 2019-09',
      {
        $schema: draft2019,
        $recursiveAnchor: true,
        type: 'object',
        properties: { n: { type: 'integer' }, inner: { $recursiveRef: '#' } },
      },
      '{n: 1, inner: {n: "2", inner: {n: "3"}}}',
      { n: 1, inner: { n: 2, inner: { n: 3 } } },
      '{"inner": {"n": "x"}}',
    ],
    [
      'a reference into a tuple',
      {
        $schema: draft07,
        type: 'array',
        items: [{ type: 'integer' }, { $ref: '#/items/0' }],
        additionalItems: { $ref: '#/items/0' },
      },
      '["1", "2", "3"]',
      [1, 2, 3],
      '[1, 2, "x"]',
    ],
    [
      'nullable of OpenAPI 3.0',
      { $schema: openapi30, type: 'object', properties: { n: { type: 'integer', nullable: true } } },
      '{n: null}',
      { n: null },
      '{"n": "x"}',
    ],
    [
      'nullable beside a reference',
      {
        $schema: openapi30,
        type: 'object',
        properties: { n: { nullable: true, allOf: [{ $ref: '#/components/schemas/n' }] } },
        components: { schemas: { n: { type: 'number', minimum: 1, exclusiveMinimum: true } } },
      },
      '{n: null}',
      { n: null },
      '{"n": 1}',
    ],
    [
      'OpenAPI 3.1',
      { $schema: openapi31, type: ['integer', 'null'], exclusiveMinimum: 3, example: 4 },
      '"4"',
      4,
      '3',
    ],
    [
      'older forms where no draft is declared',
      {
        type: 'object',
        properties: {
          pair: { type: 'array', items: [{ type: 'integer' }, { type: 'string' }], additionalItems: false },
          n: { type: 'number', maximum: 9, exclusiveMaximum: true },
          s: { type: 'string', nullable: true },
        },
      },
      '{pair: ["1", "b"], n: "8", s: null}',
      { pair: [1, 'b'], n: 8, s: null },
      '{"n": 9}',
    ],
  ])('is understood: %s', (_, schema, text, value, wrong) => {
    expect(parse(text, schema)).toMatchObject({ ok: true, value, issues: [] })
    expect(parse(wrong, schema)).toMatchObject({ ok: false })
    // Guidance and validation read the same schema: what is right already stays untouched.
    expect(parse(JSON.stringify(value), schema)).toMatchObject({ ok: true, value, repairCount: 0 })
  })

  it('ignores keywords that came later', () => {
    const later = { $schema: draft04, const: 1, contains: false, if: false, else: false }
    expect(parse('[2]', later)).toMatchObject({ ok: true, value: [2] })
    expect(parse('{"a": 1}', { $schema: draft07, dependentRequired: { a: ['b'] } })).toMatchObject({
      ok: true,
    })
  })
})

describe('an unknown $schema', () => {
  it('is reported, and the schema is read as 2020-12', () => {
    const schema = {
      $schema: 'https://example.com/mine',
      prefixItems: [{ type: 'integer' }],
      type: 'array',
    }
    expect(parse("['7']", schema)).toMatchObject({
      ok: true,
      value: [7],
      issues: [{ code: 'schema/unknown-dialect', at: { pointer: '/$schema' } }],
    })
    const failed = parse('["x"]', schema)
    expect(failed.ok).toBe(false)
    expect(failed.issues.map(({ code }) => code)).toEqual(['schema/type', 'schema/unknown-dialect'])
  })
})

describe('a schema that cannot be used', () => {
  it.each<[unknown, string, string]>([
    [null, 'schema/invalid', ''],
    [1, 'schema/invalid', ''],
    [[], 'schema/invalid', ''],
    ['nonsense', 'schema/invalid', ''],
    [{ $schema: 7 }, 'schema/invalid', '/$schema'],
    [{ properties: { a: { type: 'strin' } } }, 'schema/invalid', '/properties/a/type'],
    [{ items: { minimum: '3' } }, 'schema/invalid', '/items/minimum'],
    [{ items: { $ref: '#/$defs/x' } }, 'schema/invalid', '/items/$ref'],
    [{ $ref: '#' }, 'schema/invalid', ''],
    [{ pattern: '(' }, 'schema/invalid', '/pattern'],
    [{ $schema: draft04, minimum: 1, exclusiveMinimum: 2 }, 'schema/invalid', '/exclusiveMinimum'],
    [
      { $schema: 'https://json-schema.org/draft/2020-12/schema', items: [{ type: 'string' }] },
      'schema/invalid',
      '/items',
    ],
  ])('is an issue in the schema, not an exception: %j', (schema, code, pointer) => {
    const result = parse('{"a": 1}', schema as JsonSchema)
    expect(result).toMatchObject({ ok: false, issues: [{ code, at: { pointer } }] })
    const reader = createReader(schema as JsonSchema)
    reader.push('{"a"')
    reader.push(': 1}')
    expect(reader.end()).toEqual(result)
  })

  it('is an issue too where the schema is untrusted', () => {
    const result = parse('1', { pattern: 'a'.repeat(300) }, { untrusted: true })
    expect(result).toMatchObject({
      ok: false,
      issues: [{ code: 'schema/limit', at: { pointer: '/pattern' } }],
    })
  })

  it('is never thrown, for any JSON', () => {
    const names = [
      ...'$schema $ref $id $anchor $dynamicRef $dynamicAnchor $recursiveRef type items'.split(' '),
    ]
    names.push(
      ...'prefixItems additionalItems properties required enum const anyOf oneOf allOf not if'.split(' '),
    )
    names.push(
      ...'dependencies dependentSchemas minimum exclusiveMinimum pattern format nullable id'.split(' '),
    )
    names.push(...'patternProperties unevaluatedItems contains minContains definitions $defs'.split(' '))
    const scalar = fc.oneof(
      fc.constantFrom('#', '#/items', '#/properties/items', 'string', 'object', '(', 'a', draft04, draft07),
      fc.constantFrom(draft2019, 'x', -1, 0, 1.5, 3, true, false, null),
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        scalar,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4 }),
      ),
    }))
    fc.assert(
      fc.property(value, (schema) => {
        const result = parse('{"items": ["1", {"a": null}]} and [2, "b"]', schema as JsonSchema)
        if (!result.ok) expect(result.issues.length).toBeGreaterThan(0)
      }),
      { numRuns: 1_000 },
    )
  })
})
