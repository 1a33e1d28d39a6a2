import { describe, expect, it } from 'vitest'
import { compileSchema, type JsonSchema } from './compile.ts'

/** Each violation as `code pointer message | hint`. */
function violations(schema: JsonSchema, value: unknown): string[] {
  return compileSchema(schema)
    .validate(value)
    .map(({ code, at, message, hint }) => {
      const pointer = 'pointer' in at ? at.pointer : '?'
      return `${code} ${pointer || '(root)'} ${message}${hint ? ` | ${hint}` : ''}`
    })
}

/** The branches of a discriminated union, as the schema libraries write them. */
function shape(kind: string, ...sides: readonly string[]): Exclude<JsonSchema, boolean> {
  const numbers = sides.map((side) => [side, { type: 'number' }])
  const properties = { kind: { const: kind }, ...Object.fromEntries(numbers) }
  return { type: 'object', properties, required: ['kind', ...sides], additionalProperties: false }
}
const circle = shape('circle', 'radius')
const rectangle = shape('rectangle', 'width', 'height')

describe('a violation', () => {
  it.each<[string, JsonSchema, unknown, string[]]>([
    ['type', { type: 'integer' }, 'abc', ['schema/type (root) must be integer, but is the string "abc"']],
    [
      'types',
      { type: ['integer', 'null'] },
      1.5,
      ['schema/type (root) must be integer or null, but is the number 1.5'],
    ],
    [
      'a quoted number',
      { type: 'number' },
      '3',
      ['schema/type (root) must be number, but is the string "3" | Write the number without quotes'],
    ],
    [
      'a quoted boolean',
      { type: 'boolean' },
      'True',
      ['schema/type (root) must be boolean, but is the string "True" | Write true or false without quotes'],
    ],
    [
      'an object',
      { type: 'string' },
      { a: 1 },
      ['schema/type (root) must be string, but is an object with 1 property'],
    ],
    [
      'an empty object',
      { type: 'string' },
      {},
      ['schema/type (root) must be string, but is an empty object'],
    ],
    [
      'an array',
      { type: 'string' },
      [1, 2],
      ['schema/type (root) must be string, but is an array of 2 items'],
    ],
    ['an empty array', { type: 'string' }, [], ['schema/type (root) must be string, but is an empty array']],
    ['null', { type: 'string' }, null, ['schema/type (root) must be string, but is null']],
    [
      'what is no JSON',
      { type: 'string' },
      Number.NaN,
      ['schema/type (root) must be string, but is a number'],
    ],
    ['absence', { type: 'string' }, undefined, ['schema/type (root) must be string, but is absent']],
    [
      'enum',
      { enum: ['Active', 'Closed'] },
      'active',
      [
        'schema/enum (root) must be one of "Active", "Closed", but is the string "active" | Did you mean "Active"?',
      ],
    ],
    ['a lone enum', { enum: [1] }, 2, ['schema/enum (root) must be 1, but is the integer 2']],
    ['const', { const: { a: 1 } }, 2, ['schema/const (root) must be {"a":1}, but is the integer 2']],
    [
      'required',
      { properties: { a: { required: ['user_name'] } } },
      { a: { userName: 1 } },
      ['schema/required /a/user_name the property "user_name" is missing | There is "userName"; rename it'],
    ],
    ['an escaped name', { required: ['a/b'] }, {}, ['schema/required /a~1b the property "a/b" is missing']],
    [
      'dependentRequired',
      { dependentRequired: { a: ['b'] } },
      { a: 1 },
      ['schema/dependentRequired /b the property "b" is missing when "a" is present'],
    ],
    [
      'additionalProperties',
      { properties: { 'user name': {} }, additionalProperties: false },
      { user_name: 1, z: 2 },
      [
        'schema/additionalProperties /user_name the property "user_name" is not allowed | Did you mean "user name"?',
        'schema/additionalProperties /z the property "z" is not allowed | Remove it, or declare it in "properties"',
      ],
    ],
    [
      'unevaluatedProperties',
      { unevaluatedProperties: false },
      { z: 2 },
      [
        'schema/unevaluatedProperties /z the property "z" is not allowed | Remove it, or declare it in "properties"',
      ],
    ],
    ['minimum', { minimum: 3 }, 2, ['schema/minimum (root) must be >= 3, but is the integer 2']],
    [
      'multipleOf',
      { multipleOf: 2 },
      3,
      ['schema/multipleOf (root) must be a multiple of 2, but is the integer 3'],
    ],
    [
      'minLength',
      { minLength: 3 },
      '😀a',
      ['schema/minLength (root) must have at least 3 characters, but has 2'],
    ],
    [
      'maxLength',
      { maxLength: 1 },
      'ab',
      ['schema/maxLength (root) must have at most 1 character, but has 2'],
    ],
    ['minItems', { minItems: 1 }, [], ['schema/minItems (root) must have at least 1 item, but has 0']],
    ['maxItems', { maxItems: 0 }, [1], ['schema/maxItems (root) must have at most 0 items, but has 1']],
    [
      'minProperties',
      { minProperties: 2 },
      {},
      ['schema/minProperties (root) must have at least 2 properties, but has 0'],
    ],
    [
      'maxProperties',
      { maxProperties: 0 },
      { a: 1 },
      ['schema/maxProperties (root) must have at most 0 properties, but has 1'],
    ],
    [
      'pattern',
      { pattern: '^x' },
      'y',
      ['schema/pattern (root) must match the pattern "^x", but is the string "y"'],
    ],
    ['format', { format: 'date' }, 'x', ['schema/format (root) must be a valid date, but is the string "x"']],
    [
      'uniqueItems',
      { uniqueItems: true },
      [1, 2, 1],
      ['schema/uniqueItems (root) must have no equal items, but items 0 and 2 are equal'],
    ],
    [
      'contains',
      { contains: { type: 'string' } },
      [1, 2],
      ['schema/contains (root) must contain at least 1 matching items, but is an array of 2 items'],
    ],
    [
      'contains with bounds',
      { contains: { type: 'string' }, minContains: 1, maxContains: 2 },
      [1],
      ['schema/contains (root) must contain 1 to 2 matching items, but is an array of 1 item'],
    ],
    [
      'not',
      { not: { type: 'string' } },
      'x',
      ['schema/not (root) must not be what "not" describes, but is the string "x"'],
    ],
    [
      'false',
      { properties: { a: false } },
      { a: 1 },
      ['schema/false /a must be absent, but is the integer 1'],
    ],
    [
      'propertyNames',
      { propertyNames: { pattern: '^x' } },
      { y: 1 },
      ['schema/pattern /y the property name must match the pattern "^x", but is the string "y"'],
    ],
    [
      'if',
      { if: false, else: { type: 'string' } },
      1,
      ['schema/type (root) must be string, but is the integer 1'],
    ],
    [
      'a union of types',
      {
        anyOf: [{ type: 'integer' }, { $ref: '#/$defs/n' }, { enum: ['a'] }, { const: 0.5 }],
        $defs: { n: { type: 'null' } },
      },
      'x',
      ['schema/anyOf (root) must be one of integer, null, "a", 0.5, but is the string "x"'],
    ],
    [
      'a union of objects',
      { anyOf: [{ type: 'string' }, { type: 'object', required: ['b'] }] },
      {},
      [
        'schema/anyOf (root) must match one of the 2 alternatives, but is an empty object; the closest is 1 (counted from 0): the property "b" is missing',
        'schema/required /b the property "b" is missing',
      ],
    ],
    [
      'a union beside other violations',
      {
        required: ['z'],
        properties: {
          a: { anyOf: [{ minimum: 3 }, { properties: { x: { type: 'null' } }, type: 'object' }] },
        },
      },
      { a: 2 },
      [
        'schema/required /z the property "z" is missing',
        'schema/anyOf /a must match one of the 2 alternatives, but is the integer 2; the closest is 0 (counted from 0): must be >= 3, but is the integer 2',
        'schema/minimum /a must be >= 3, but is the integer 2',
      ],
    ],
    [
      'oneOf with two matches',
      { oneOf: [{ type: 'integer' }, { minimum: 0 }, { type: 'null' }] },
      3,
      [
        'schema/oneOf (root) must match exactly one of the alternatives, but matches 0 and 1 (counted from 0)',
      ],
    ],
    [
      'an empty union',
      { anyOf: [false, false] },
      3,
      [
        'schema/anyOf (root) must match one of the 2 alternatives, but is the integer 3; the closest is 0 (counted from 0): must be absent, but is the integer 3',
        'schema/false (root) must be absent, but is the integer 3',
      ],
    ],
    [
      'a discriminated union whose constant fits a branch',
      { properties: { a: { oneOf: [circle, rectangle] } } },
      { a: { kind: 'rectangle', width: '1' } },
      [
        'schema/oneOf /a must match one of the 2 alternatives, but is an object with 2 properties; the closest is 1 (counted from 0): the property "height" is missing',
        'schema/required /a/height the property "height" is missing',
        'schema/type /a/width must be number, but is the string "1" | Write the number without quotes',
      ],
    ],
    [
      'a discriminated union whose constant fits no branch',
      { anyOf: [circle, rectangle, { type: 'null' }] },
      { kind: 'square', width: 1, height: 1 },
      ['schema/anyOf /kind must be one of "circle", "rectangle", but is the string "square"'],
    ],
    [
      'a union in a union',
      { anyOf: [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, { type: 'null' }] },
      [],
      ['schema/anyOf (root) must be one of string, integer, null, but is an empty array'],
    ],
    [
      'a union in a member of a branch',
      { anyOf: [{ type: 'null' }, { properties: { a: { anyOf: [circle, rectangle] } }, type: 'object' }] },
      { a: { kind: 'circle' } },
      [
        'schema/anyOf (root) must match one of the 2 alternatives, but is an object with 1 property; the closest is 1 (counted from 0): /a the property "radius" is missing',
        'schema/anyOf /a must match one of the 2 alternatives, but is an object with 1 property; the closest is 0 (counted from 0): the property "radius" is missing',
        'schema/required /a/radius the property "radius" is missing',
      ],
    ],
  ])('of %s is said in words, at its place', (_, schema, value, expected) => {
    const said = violations(schema, value)
    expect(said).toEqual(expected)
  })

  it('carries what was expected and what was found', () => {
    expect(compileSchema({ enum: [1, 2] }).validate(3)).toMatchObject([{ expected: [1, 2], actual: 3 }])
    expect(compileSchema({ additionalProperties: false }).validate({ a: 7 })).toMatchObject([{ actual: 7 }])
    expect(compileSchema({ type: 'integer' }).validate('x')).toMatchObject([
      { expected: 'integer', actual: 'x' },
    ])
  })

  it('shows long values cut short', () => {
    const [issue] = compileSchema({ type: 'integer' }).validate('x'.repeat(1_000_000))
    expect(issue?.message.length).toBeLessThan(130)
    const [long] = compileSchema({ enum: Array.from({ length: 5_000 }, (_, i) => `value ${i}`) }).validate(
      'x',
    )
    expect(long?.message).toContain('(5000 in all)')
    expect(long?.message.length).toBeLessThan(400)
    const big = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [i, i]))
    expect(compileSchema({ const: big }).validate(1)[0]?.message).toContain('an object with 30 properties')
    const words = Array.from({ length: 20 }, (_, i) => ({ const: i }))
    expect(compileSchema({ anyOf: words }).validate('x')[0]?.message).toContain('11, …, but')
  })

  it('is one of at most as many as asked for', () => {
    const compiled = compileSchema({ items: { type: 'string' } })
    const value = Array.from({ length: 500 }, (_, i) => i)
    expect(compiled.validate(value)).toHaveLength(100)
    expect(compiled.validate(value, 3)).toHaveLength(3)
    expect(compiled.validate(['a'])).toEqual([])
  })

  it('of a very large value is listed up to the limit, found in bounded time', () => {
    const compiled = compileSchema({
      items: { $ref: '#/$defs/i' },
      $defs: { i: { required: ['a', 'b'], type: 'object' } },
    })
    const value = Array.from({ length: 1_000_000 }, () => ({}))
    const start = performance.now()
    const issues = compiled.validate(value)
    expect(performance.now() - start).toBeLessThan(2_000)
    expect(issues).toHaveLength(100)
    expect(issues[0]).toMatchObject({ at: { pointer: '/0/a' } })
    const union = compileSchema({ items: { anyOf: [{ type: 'string' }, { type: 'null' }] } })
    expect(union.validate(value)[0]?.message).toBe('must be one of string, null, but is an empty object')
  })
})
