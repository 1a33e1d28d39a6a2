import { describe, expect, it } from 'vitest'
import { ProvisoError } from '../../base/errors/error.ts'
import { compileSchema, type JsonSchema } from './compile.ts'
import { schemaLimits } from './schema-limits.ts'

const nested = (levels: number): JsonSchema => (levels === 0 ? {} : { not: nested(levels - 1) })
const wide = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, true]))
const doubling = (levels: number) => ({
  $ref: `#/$defs/d${levels}`,
  $defs: Object.fromEntries([
    ['d0', { type: 'string' }],
    ...Array.from({ length: levels }, (_, i) => [
      `d${i + 1}`,
      { anyOf: [{ $ref: `#/$defs/d${i}` }, { $ref: `#/$defs/d${i}` }] },
    ]),
  ]),
})

describe('an untrusted schema', () => {
  it.each<[string, JsonSchema, string, string]>([
    ['bytes', { description: 'x'.repeat(schemaLimits.bytes) }, 'larger than 65536 bytes', '/description'],
    ['bytes', { description: 'é'.repeat(schemaLimits.bytes / 2) }, 'larger than 65536 bytes', ''],
    ['bytes', { properties: { ['x'.repeat(70_000)]: true } }, 'larger than 65536 bytes', '*'],
    ['depth', nested(schemaLimits.depth), 'nested deeper than 32', '*'],
    ['nodes', { enum: Array.from({ length: 2_000 }, (_, i) => i) }, 'more than 2000 nodes', '/enum'],
    ['nodes', { allOf: Array.from({ length: 1_500 }, () => ({ minimum: 1 })) }, 'more than 2000 nodes', '*'],
    ['properties', { properties: wide(501) }, 'more than 500 properties', '/properties'],
    ['pattern', { pattern: 'a'.repeat(257) }, 'longer than 256 characters', '/pattern'],
    ['$data', { properties: { a: { maximum: { $data: '1/b' } } } }, 'uses $data', '/properties/a/maximum'],
    ['$ref', { items: { $ref: 'https://example.com/x' } }, 'only references inside', '/items/$ref'],
    ['$ref', { items: { $dynamicRef: 'other#x' } }, 'only references inside', '/items/$dynamicRef'],
    [
      '$id',
      { properties: { a: { $id: 'https://example.com/x' } } },
      '$id below its root',
      '/properties/a/$id',
    ],
    ['format', { items: { format: 'url' } }, 'format "url"', '/items/format'],
    ['format', { items: { format: 'idn-email' } }, 'format "idn-email"', '/items/format'],
    ['uniqueItems', { uniqueItems: true }, 'maxItems of at most 1000', '/uniqueItems'],
    ['uniqueItems', { uniqueItems: true, maxItems: 1_001 }, 'maxItems of at most 1000', '/uniqueItems'],
    ['expanded', doubling(14), 'more than 10000', ''],
    ['format', { $ref: '#/hidden/x', hidden: { x: { format: 'url' } } }, 'format "url"', '/hidden/x/format'],
  ])('is refused by the limit "%s", by name and place', (limit, schema, words, pointer) => {
    const error = refusal(schema)
    expect(error.code).toBe('schema/limit')
    expect(error.message).toContain(`(limit: ${limit})`)
    expect(error.message).toContain(words)
    expect(error.message.length).toBeLessThan(500)
    if (pointer !== '*') expect(error.at).toEqual({ pointer })
  })

  it('is taken as long as it keeps within the limits', () => {
    const fine: JsonSchema[] = [
      nested(schemaLimits.depth - 1),
      { properties: wide(500) },
      { uniqueItems: true, maxItems: 1_000 },
      { uniqueItems: false },
      { pattern: 'a'.repeat(256) },
      { format: 'date-time' },
      {
        $id: 'https://example.com/s',
        properties: { a: { $ref: 'https://example.com/s#/$defs/b' } },
        $defs: { b: { type: 'null' } },
      },
      {
        properties: {
          child: { $ref: '#' },
          $id: { type: 'string' },
          $ref: { type: 'string' },
          pattern: { type: 'integer' },
        },
      },
      { enum: [{ $ref: 'https://example.com', $id: 'x', format: 'url' }], default: { $data: 'x' } },
      { properties: { $data: { type: 'string' }, format: { const: 'url' } } },
      doubling(10),
      true,
    ]
    for (const schema of fine) expect(() => compileSchema(schema, { untrusted: true })).not.toThrow()
  })

  it('is held to nothing of this when it is trusted', () => {
    expect(compileSchema({ uniqueItems: true, format: 'url', pattern: '^(?=a)' }).accepts('http://a')).toBe(
      false,
    )
    expect(() => compileSchema({ properties: wide(501) })).not.toThrow()
  })
})

function refusal(schema: JsonSchema): ProvisoError {
  try {
    compileSchema(schema, { untrusted: true })
  } catch (error) {
    if (error instanceof ProvisoError) return error
    throw error
  }
  throw new Error('the schema was accepted')
}
