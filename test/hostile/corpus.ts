/** Contracts of an untrusted caller that do harm: every kind that was seen to hang, overflow or leak, in many variations. */
import { everywhere, type HostileContract, nest, record, type Shape, times } from './shapes.ts'
import { formats, patterns } from './texts.ts'

function references(): HostileContract[] {
  const joins: Record<string, (a: unknown) => unknown> = {
    anyOf: (a) => ({ anyOf: [a, a] }),
    allOf: (a) => ({ allOf: [a, a] }),
    oneOf: (a) => ({ oneOf: [a, a, a] }),
    properties: (a) => ({ properties: { a, b: a } }),
    items: (a) => ({ items: a, contains: a }),
  }
  const bombs = Object.entries(joins).flatMap(([name, join]) =>
    [4, 8, 16, 20, 24, 40, 60].map((levels) => ({
      name: `${name} doubled ${levels} times`,
      schema: {
        $ref: `#/$defs/p${levels}`,
        $defs: {
          ...record(levels + 1, (i) => (i === 0 ? { type: 'string' } : join({ $ref: `#/$defs/p${i - 1}` }))),
        },
      },
      value: 1,
      ...(levels >= 16 && { refused: true as const }),
    })),
  )
  const loops: unknown[] = [
    { $ref: '#' },
    { $ref: '#/' },
    { $ref: '' },
    { allOf: [{ $ref: '#' }] },
    { anyOf: [{ type: 'null' }, { $ref: '#' }] },
    { not: { $ref: '#' } },
    { if: { $ref: '#' } },
    { dependentSchemas: { a: { $ref: '#' } } },
    { $dynamicRef: '#' },
    { $defs: { a: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
    { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, items: { $ref: '#/$defs/b' } },
    { $defs: { a: { $anchor: 'x', oneOf: [{ $ref: '#x' }] } }, items: { $ref: '#x' } },
    { $id: 'https://example.com/x', oneOf: [{ $ref: 'https://example.com/x#' }] },
  ]
  const remote = [
    'http://169.254.169.254/latest/meta-data',
    'https://example.com/s.json',
    'file:///etc/passwd',
    '//host/x',
    'other.json',
    'urn:uuid:1',
    'data:application/json,{}',
    '../x',
    '?x',
    'https://json-schema.org/draft/2020-12/schema',
    'http://json-schema.org/draft-07/schema#',
    'javascript:alert(1)',
  ]
  return [
    ...bombs,
    ...loops.map((schema, i) => ({ name: `loop ${i}`, schema, refused: true as const, value: {} })),
    ...remote.flatMap((ref) => everywhere(`reference to ${ref}`, { $ref: ref }, { refused: true })),
    ...remote.map((ref) => ({
      name: `dynamic reference to ${ref}`,
      schema: { items: { $dynamicRef: ref } },
      refused: true as const,
    })),
    ...remote.flatMap((id) =>
      everywhere(`embedded id ${id}`, { $id: id, type: 'null' })
        .slice(1)
        .map((c) => ({ ...c, refused: true as const })),
    ),
    {
      name: 'recursion through properties',
      schema: { type: 'object', properties: { a: { $ref: '#' } } },
      value: nest(400, (a) => ({ a })),
    },
    {
      name: '10,000 references',
      schema: { properties: record(10_000, () => ({ $ref: '#/$defs/p0' })), $defs: record(1, () => ({})) },
      refused: true,
    },
  ]
}

function sizes(): HostileContract[] {
  const wide: Record<string, (n: number) => unknown> = {
    properties: (n) => ({ properties: record(n, () => ({ type: 'string' })) }),
    required: (n) => ({ required: times(n, (i) => `p${i}`) }),
    patternProperties: (n) => ({ patternProperties: record(n, () => ({ type: 'string' })) }),
    dependentRequired: (n) => ({ dependentRequired: record(n, (i) => [`p${i}`]) }),
    definitions: (n) => ({ $defs: record(n, () => ({ pattern: '^a' })) }),
    alternatives: (n) => ({ anyOf: times(n, (i) => ({ const: i })) }),
    values: (n) => ({ enum: times(n, (i) => ({ i })) }),
  }
  const deep: Record<string, Shape> = {
    not: (inner) => ({ not: inner }),
    properties: (inner) => ({ properties: { a: inner } }),
    items: (inner) => ({ items: inner }),
    'a constant': (inner) => ({ const: [inner] }),
    'an unknown keyword': (inner) => ({ 'x-y': inner }),
  }
  return [
    ...Object.entries(wide).flatMap(([name, make]) =>
      [100, 499, 1_000, 2_001, 10_000, 50_000].map((n) => ({
        name: `${n} ${name}`,
        schema: make(n),
        value: record(1_000, (i) => i),
        ...(n > 2_000 && { refused: true as const }),
      })),
    ),
    ...Object.entries(deep).flatMap(([name, wrap]) =>
      [8, 16, 33, 100, 1_000, 10_000].map((depth) => ({
        name: `${name} nested ${depth} deep`,
        schema: nest(depth, wrap),
        ...(depth > 32 && { refused: true as const }),
      })),
    ),
    ...[66_000, 1_000_000, 10_000_000].map((size) => ({
      name: `${size} bytes`,
      schema: { title: 'x'.repeat(size) },
      refused: true as const,
    })),
    { name: 'a million enum values', schema: { enum: times(1_000_000, (i) => i) }, refused: true },
    ...[undefined, 1_001, 1e9].flatMap((maxItems) =>
      everywhere(
        `uniqueItems up to ${maxItems}`,
        { uniqueItems: true, ...(maxItems && { maxItems }) },
        { refused: true },
      ),
    ),
    {
      name: 'uniqueItems up to 1000',
      schema: { uniqueItems: true, maxItems: 1_000 },
      value: times(20_000, (i) => ({ i })),
    },
    {
      name: 'a million errors',
      schema: { items: { required: times(10, (i) => `p${i}`), type: 'object' } },
      value: times(100_000, () => ({})),
    },
  ]
}

function oddities(): HostileContract[] {
  const data =
    'maximum minimum exclusiveMaximum multipleOf maxLength minLength pattern maxItems minItems uniqueItems required enum const format'
  const names = [
    '"]; throw 1; //',
    "'+process.exit(1)+'",
    '\x60\x24{process}\x60',
    '\u2028',
    '*/ throw 1 /*',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    '\\',
    '\n',
    '\0',
  ]
  const circle: Record<string, unknown> = { type: 'object' }
  circle['properties'] = { a: circle }
  const notSchemas = [
    null,
    1,
    'string',
    [],
    [{}],
    () => true,
    Symbol('x'),
    undefined,
    circle,
    { default: 1n },
    { const: Number.NaN },
    { $async: true },
    { $schema: 1 },
  ]
  return [
    ...data
      .split(' ')
      .filter((keyword) => keyword !== 'const')
      .map((keyword) => ({
        name: `$data in ${keyword}`,
        schema: { properties: { a: { [keyword]: { $data: '1/b' } } } },
        refused: true as const,
      })),
    ...names.map((name) => ({
      name: `property called ${JSON.stringify(name)}`,
      schema: {
        properties: { [name]: { type: 'string' } },
        required: [name],
        additionalProperties: false,
        dependentRequired: { [name]: [name] },
      },
      value: { [name]: 1 },
    })),
    ...names.map((name) => ({
      name: `constant ${JSON.stringify(name)}`,
      schema: { enum: [name, { [name]: name }] },
      value: name,
    })),
    ...notSchemas.map((schema, i) => ({ name: `no schema ${i}`, schema, refused: true as const })),
  ]
}

export function hostileContracts(): HostileContract[] {
  return [...patterns(), ...formats(), ...references(), ...sizes(), ...oddities()]
}
