/** A fixed list of texts and schemas that every environment must read alike. Data only: it crosses to browsers and Workers. */
import { noiseCorpus } from '../../src/testing/index.ts'

export interface Pair {
  readonly text: string
  readonly schema: unknown
  readonly options?: { readonly [name: string]: unknown }
}

const person = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: 'integer', minimum: 0 },
    mail: { type: 'string', format: 'email' },
    tags: { type: 'array', items: { enum: ['red', 'green', 'blue'] }, uniqueItems: true },
    born: { type: 'string', format: 'date' },
  },
  required: ['name'],
  additionalProperties: false,
}

const tree = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: { label: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['label'],
    },
  },
}

const union = { anyOf: [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, { type: 'null' }] }

const texts = [
  '{"name": "Ada", "age": 36}',
  'Sure! {name: \'Ada\', "age": "36", tags: [RED, "Green",],}',
  '```json\n{"name": "Ada", "mail": "ada@example.org", "born": "1815-12-10"}\n```\nHope this helps!',
  '<think>{"name": "draft"}</think>{"name": "Ada", "age": -1}',
  '{"name": "Ada", "age": 36, "extra": [1, 2, {"deep": true}]',
  '{"name": "Ada", "mail": "not an address"}',
  '"{\\"name\\": \\"Ada\\", \\"age\\": \\"36\\"}"',
  '{"result": {"name": "Ada"}}',
  'No answer at all.',
  '',
  '{"name": "Ada \u{1f469}\u200d\u{1f4bb} \ud800 lone", "age": 9007199254740993}',
  '｛"name"： "Ada"， "age"： 36｝',
  '[3] cites {"name": "Ada"}',
  '{"label": "a", "children": [{"label": "b", "children": [{"label": 7}]}, {label: c}]}',
  '["a", "b"',
  'null',
  '42',
]

const schemas: readonly unknown[] = [
  person,
  tree,
  union,
  undefined,
  'string[]',
  { $schema: 'http://json-schema.org/draft-04/schema#', type: 'object', minProperties: 1 },
  { $schema: 'https://example.org/unknown', type: ['object', 'array', 'null'] },
  { type: 'object', properties: { age: { type: 'nonsense' } } },
]

/** Patterns that a backtracking engine takes exponential time for, and harmless ones. */
const untrusted: readonly Pair[] = [
  { pattern: '^(a+)+$', text: `"${'a'.repeat(40)}!"` },
  { pattern: '^(a|aa)+$', text: `"${'a'.repeat(60)}b"` },
  { pattern: '^[a-z]{2,5}$', text: '"abc"' },
  { pattern: '^\\p{Lu}\\d+$', text: '"Ä1"' },
  { pattern: '(?=x)y', text: '"xy"' },
  { pattern: '[', text: '"x"' },
].flatMap(({ pattern, text }) =>
  [
    { type: 'string', pattern },
    { type: 'object', patternProperties: { [pattern]: { type: 'integer' } } },
  ].map((schema) => ({ text, schema, options: { untrusted: true } })),
)

const options: readonly Pair[] = [
  { aop: 'off' },
  { aop: 'minimal' },
  { aop: 'full', acceptTruncated: true },
  { salvage: true, defaults: true },
  { limits: { steps: 1_000 } },
  { shadow: true },
].flatMap((option) => texts.slice(0, 6).map((text) => ({ text, schema: person, options: option })))

/** Generated once from a fixed seed: the same list everywhere. */
export const pairs: readonly Pair[] = [
  ...schemas.flatMap((schema) => texts.map((text) => ({ text, schema }))),
  ...untrusted,
  ...options,
  ...[false, true].flatMap((combine) =>
    [...noiseCorpus({ seed: 15, count: 100, combine })].map(({ text, schema }) => ({ text, schema })),
  ),
]
