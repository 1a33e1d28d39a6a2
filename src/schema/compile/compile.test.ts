import { describe, expect, it } from 'vitest'
import { ProvisoError } from '../../base/errors/error.ts'
import { schemaHash } from '../hash.ts'
import { schemaGraph } from '../references/references.ts'
import { isCompilable } from './ajv.ts'
import { cacheSize, compileSchema, type JsonSchema } from './compile.ts'

function refusal(schema: unknown, untrusted = false): ProvisoError {
  try {
    compileSchema(schema as JsonSchema, { untrusted })
  } catch (error) {
    if (error instanceof ProvisoError) return error
    throw error
  }
  throw new Error('the schema was accepted')
}

describe('compileSchema', () => {
  it('speaks 2020-12 unless another draft is declared', () => {
    const tuple = { prefixItems: [{ type: 'string' }], items: false }
    expect(compileSchema(tuple).accepts(['a', 1])).toBe(false)
    const draft07 = {
      $schema: 'http://json-schema.org/draft-07/schema#',
      items: [{ type: 'string' }],
      additionalItems: false,
    }
    expect(compileSchema(draft07).accepts(['a'])).toBe(true)
    expect(compileSchema(draft07).accepts(['a', 1])).toBe(false)
  })

  it('takes boolean schemas', () => {
    expect(compileSchema(true).accepts(1)).toBe(true)
    expect(compileSchema(false).validate(1)).toMatchObject([{ code: 'schema/false', at: { pointer: '' } }])
    expect(compileSchema(false, { untrusted: true }).accepts(1)).toBe(false)
  })

  it('asks for own properties, not inherited ones', () => {
    expect(compileSchema({ required: ['toString'] }).accepts({})).toBe(false)
  })

  it('compares values with keys such as toString, which are ordinary names in JSON', () => {
    const odd = JSON.parse('{"toString":1,"valueOf":2,"constructor":3,"__proto__":4}')
    expect(compileSchema({ const: odd }).accepts(structuredClone(odd))).toBe(true)
    expect(compileSchema({ enum: [odd, { toString: 2 }] }).accepts({ toString: 1 })).toBe(false)
    expect(compileSchema({ uniqueItems: true }).accepts([{ toString: 1 }, { toString: 2 }])).toBe(true)
    expect(compileSchema({ uniqueItems: true }).validate([{ valueOf: 1 }, { valueOf: 1 }])).toHaveLength(1)
  })

  it('ignores formats it does not know, and keywords of older drafts', () => {
    expect(compileSchema({ format: 'unheard-of', id: 'x' }).accepts('anything')).toBe(true)
    expect(compileSchema({ format: 'date' }).accepts('2024-02-30')).toBe(false)
  })

  it('returns the same validator for the same object, and for an equal one', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const compiled = compileSchema(schema)
    expect(compileSchema(schema)).toBe(compiled)
    expect(compileSchema({ type: 'object', properties: { a: { type: 'string' } } })).toBe(compiled)
    expect(compileSchema(schema, { untrusted: true })).not.toBe(compiled)
  })

  it('keeps a bounded number of schemas, dropping the one not used for longest', () => {
    const kept = compileSchema({ title: 'kept' })
    const dropped = compileSchema({ title: 'dropped' })
    for (let i = 0; i < cacheSize - 1; i++) compileSchema({ title: `filler ${i}` })
    expect(compileSchema({ title: 'kept' })).not.toBe(kept)
    for (let i = 0; i < cacheSize - 2; i++) compileSchema({ title: `filler ${i}` })
    compileSchema({ title: 'one more' })
    expect(compileSchema({ title: 'dropped' })).not.toBe(dropped)
  })

  it('does not let a later change of one caller’s schema reach another', () => {
    const mine = { enum: ['a', 'b'], title: 'shared' }
    const compiled = compileSchema(mine)
    mine.enum[0] = 'c'
    expect(compiled.accepts('a')).toBe(true)
    expect(compileSchema({ enum: ['a', 'b'], title: 'shared' }).accepts('c')).toBe(false)
  })

  it('may refer to the meta-schema when it is trusted', () => {
    const compiled = compileSchema({
      properties: { schema: { $ref: 'https://json-schema.org/draft/2020-12/schema' } },
    })
    expect(compiled.accepts({ schema: { type: 'string' } })).toBe(true)
    expect(compiled.accepts({ schema: { type: 'nonsense' } })).toBe(false)
  })

  it('compiles wide schemas', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 4_000 }, (_, i) => [`p${i}`, { type: 'string' }]),
    )
    const compiled = compileSchema({ type: 'object', properties })
    expect(compiled.accepts({ p3999: 'x' })).toBe(true)
    expect(compiled.accepts({ p3999: 1 })).toBe(false)
  })

  it('follows references from a base inside of another', () => {
    const embedded = { $id: 'inner.json', $ref: '#/$defs/i', $defs: { i: { type: 'null' } } }
    const compiled = compileSchema({ $id: 'https://example.com/outer.json', properties: { a: embedded } })
    expect(compiled.accepts({ a: null })).toBe(true)
    expect(compiled.accepts({ a: 1 })).toBe(false)
  })

  it('takes patterns that only compile without the u flag', () => {
    expect(compileSchema({ pattern: '^[\\w-.]+$' }).accepts('a-b.c')).toBe(true)
  })
})

describe('isCompilable', () => {
  const compilable = (schema: JsonSchema) => isCompilable(schema, schemaGraph(schema))
  const scalar = { anyOf: [{ type: 'string' }, { type: 'number' }] }

  it('takes recursion that judges each value once', () => {
    expect(compilable({ properties: { left: { $ref: '#' }, right: { $ref: '#' }, value: scalar } })).toBe(
      true,
    )
  })

  it('leaves to the interpreter what doubles its work with every level of a value', () => {
    const list = { type: 'array', items: { $ref: '#' } }
    expect(compilable({ anyOf: [{ type: 'string' }, list] })).toBe(false)
    expect(compilable({ properties: { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } } })).toBe(false)
    expect(
      compilable({
        properties: { a: { $ref: '#' }, value: scalar },
        patternProperties: { a: { $ref: '#' } },
      }),
    ).toBe(false)
    expect(compilable({ allOf: [list], items: { $ref: '#' }, properties: { value: scalar } })).toBe(false)
  })
})

describe('a fault of Ajv', () => {
  it('does not make contains beside prefixItems accept an empty array', () => {
    const compiled = compileSchema({ prefixItems: [{ type: 'string' }], contains: { type: 'number' } })
    expect(compiled.accepts([])).toBe(false)
    expect(compiled.accepts(['a', 1, 2])).toBe(true)
    expect(compiled.validate([])[0]?.message).toContain('at least 1')
    expect(compiled.schema).toEqual({ prefixItems: [{ type: 'string' }], contains: { type: 'number' } })
  })

  it('does not throw on a union of patternProperties beside if', () => {
    const branch = `{"patternProperties":{".":{"const":1}},"if":{"properties":{"a":{"type":"string"}}},
      "then":{"patternProperties":{"b|c":{"const":1}}}}`
    const first = { allOf: [{ maxProperties: 1 }], dependentSchemas: { b: { minProperties: 3 } } }
    const compiled = compileSchema({ properties: { a: true }, anyOf: [first, JSON.parse(branch)] })
    expect(compiled.accepts({ a: null })).toBe(true)
    expect(compiled.accepts({ b: 1 })).toBe(true)
    expect(compiled.accepts({ b: 2 })).toBe(false)
  })

  it('with unevaluatedProperties is not ours', () => {
    const union = [{ type: 'object' }, { type: 'integer', unevaluatedProperties: false }]
    const named = { oneOf: union, patternProperties: { '^[ab]$': { type: 'string' } } }
    const compiled = compileSchema({ dependentSchemas: { b: named }, unevaluatedProperties: false })
    const value = { b: '' }
    expect(compiled.accepts({})).toBe(true)
    expect(compiled.accepts(value)).toBe(true)
    expect(compiled.acceptsAt('', value)).toBe(true)
    expect(compiled.validate(value)).toEqual([])
    expect(compiled.validate({ b: '', c: 1 })).toMatchObject([{ at: { pointer: '/c' } }])
  })
})

describe('an unusable schema', () => {
  it.each<[string, unknown, string, string | undefined]>([
    ['is no schema', 'string', 'object or a boolean', undefined],
    ['is a list', [], 'object or a boolean', undefined],
    ['is null', null, 'object or a boolean', undefined],
    ['has an unknown type', { properties: { a: { type: 'strin' } } }, '"type" must be', '/properties/a/type'],
    [
      'has a keyword of the wrong type',
      { items: { minimum: '3' } },
      '"minimum" must be number',
      '/items/minimum',
    ],
    [
      'has a broken pattern',
      { properties: { a: { pattern: '(' } } },
      'Unterminated group',
      '/properties/a/pattern',
    ],
    [
      'has a broken key pattern',
      { patternProperties: { '[': {} } },
      'regular expression',
      '/patternProperties/[',
    ],
    ['refers to nothing', { items: { $ref: '#/$defs/x' } }, '#/$defs/x', '/items/$ref'],
    [
      'refers to another document',
      { items: { $ref: 'https://example.com/s' } },
      'https://example.com/s',
      '/items/$ref',
    ],
    ['is a circle', { $ref: '#' }, 'circular $ref', ''],
    ['is a circle of allOf', { allOf: [{ $ref: '#' }] }, 'circular $ref', ''],
    [
      'is a circle of two',
      {
        $defs: { a: { $ref: '#/$defs/b' }, b: { not: { $ref: '#/$defs/a' } } },
        properties: { x: { $ref: '#/$defs/a' } },
      },
      'circular $ref',
      '/$defs/a',
    ],
    [
      'is a circle by anchor',
      { $defs: { a: { $anchor: 'me', anyOf: [{ $ref: '#me' }] } } },
      'circular $ref',
      '/$defs/a',
    ],
    [
      'is a circle by $id',
      { $id: 'https://example.com/r', $defs: { a: { $id: 'a', oneOf: [{ $ref: 'a' }] } } },
      'circular $ref',
      '/$defs/a',
    ],
    ['is asynchronous', { properties: { a: { $async: true } } }, '$async', '/properties/a/$async'],
    ['holds a function', { default: () => 1 }, 'function', '/default'],
    [
      'names a base twice',
      { $id: 'https://a/b', $defs: { x: { $id: 'https://a/b' } } },
      'already exists',
      '/$defs/x/$id',
    ],
  ])('that %s is refused at its place', (_, schema, words, pointer) => {
    const error = refusal(schema)
    expect(error.code).toBe('schema/invalid')
    expect(error.message).toContain(words)
    expect(error.at).toEqual(pointer === undefined ? undefined : { pointer })
    expect(error.message.length).toBeLessThan(400)
  })

  it('that contains itself is refused', () => {
    const schema: Record<string, unknown> = { type: 'object' }
    schema['not'] = schema
    expect(refusal(schema).message).toBe('The schema at /not contains itself')
  })

  it('that is nested too deeply is refused, not a stack overflow', () => {
    let schema: JsonSchema = {}
    for (let i = 0; i < 20_000; i++) schema = { not: schema }
    expect(refusal(schema).message).toMatch(/nested deeper than/)
  })
})

describe('acceptsAt', () => {
  const schema = {
    $id: 'https://example.com/root.json',
    type: 'object',
    properties: {
      count: { anyOf: [{ type: 'integer' }, { $ref: '#/$defs/word' }] },
      'a/b~c %25#ü "q"': { type: 'boolean' },
      self: { $ref: '#' },
      anchored: { $ref: '#here' },
      other: { $id: 'other.json', allOf: [{ $ref: '#/$defs/inner' }], $defs: { inner: { type: 'null' } } },
      never: false,
    },
    required: ['count'],
    $defs: { word: { type: 'string', minLength: 2 }, anchor: { $anchor: 'here', const: 1 } },
  }

  it.each([
    ['/properties/count/anyOf/0', 3, 'x'],
    ['/properties/count/anyOf/1', 'xy', 'x'],
    ['/properties/a~1b~0c %25#ü "q"', true, 1],
    ['/properties/self', { count: 1 }, {}],
    ['/properties/anchored', 1, 2],
    ['/properties/other', null, 0],
    ['/properties/other/$defs/inner', null, 0],
    ['', { count: 'xy' }, {}],
  ])('answers for the sub-schema at %s with the references of the whole', (pointer, good, bad) => {
    for (const untrusted of [false, true]) {
      const { properties, ...rest } = schema
      const { other, ...plain } = properties
      if (untrusted && pointer.includes('other')) continue
      const compiled = compileSchema(untrusted ? { ...rest, properties: plain } : schema, { untrusted })
      expect(compiled.acceptsAt(pointer, good)).toBe(true)
      expect(compiled.acceptsAt(pointer, bad)).toBe(false)
    }
  })

  it('answers for boolean sub-schemas and for schemas without an $id', () => {
    expect(compileSchema(schema).acceptsAt('/properties/never', 1)).toBe(false)
    const plain = compileSchema({ items: { $ref: '#/$defs/a' }, $defs: { a: { type: 'string' } } })
    expect(plain.acceptsAt('/items', 'x')).toBe(true)
    expect(plain.acceptsAt('/items', 1)).toBe(false)
  })

  it('refuses a pointer that leads to no schema', () => {
    const compiled = compileSchema(schema)
    for (const pointer of ['/nope', '/properties/count/anyOf', '/type', '/properties/__proto__']) {
      expect(() => compiled.acceptsAt(pointer, 1)).toThrow(`Sub-schema at ${pointer} not found`)
    }
  })
})

describe('schemaHash', () => {
  it('is equal for equal schemas and only for them', () => {
    expect(schemaHash({ a: 1, b: 2 })).toBe(schemaHash({ b: 2, a: 1 }))
    expect(schemaHash({ const: '\ud800' })).not.toBe(schemaHash({ const: '\ud801' }))
    expect(schemaHash(true)).toMatch(/^[0-9a-f]{64}$/)
  })
})
