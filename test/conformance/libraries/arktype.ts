/** The column of ArkType 2. It has no asynchronous checks and no rule for members that are not declared. */
import { type } from 'arktype'
import type { Tree } from './rows.ts'
import type { Matches, Mismatch } from './types.ts'

export const schemas = {
  object: type({ name: 'string', age: 'number.integer' }),
  optional: type({ name: 'string', 'nick?': 'string' }),
  nullable: type({ age: 'number | null' }),
  default: type({ count: 'number', tone: 'string = "calm"' }),
  list: type({ tags: 'string[]' }),
  union: type({ id: 'number | boolean' }),
  'discriminated union': type({ kind: '"circle"', radius: 'number' }).or({
    kind: '"square"',
    side: 'number',
  }),
  'nested union': type({ value: type(['number', '|', 'boolean']).or('null') }),
  recursive: type({ name: 'string', children: 'this[]' }),
  lazy: type.module({ root: { items: () => type('number[]') } }).root,
  enum: type({ level: "'low' | 'high'" }),
  literal: type({ version: '2', kind: '"report"' }),
  record: type({ scores: { '[string]': 'number' } }),
  tuple: type({ point: ['number', 'number'] }),
  intersection: type({ a: 'number' }).and({ b: 'number' }),
  strict: type({ name: 'string', '+': 'reject' }),
  date: type({ at: 'string.date.parse', count: 'number' }),
  bigint: type({ id: type('string | number').pipe((digits) => BigInt(digits)), count: 'number' }),
  transform: type({ length: type('string').pipe((text) => text.length) }),
  refine: type({ from: 'number', to: 'number' }).narrow(({ from, to }) => from <= to),
  brand: type({ id: 'string#Id' }),
}

interface Special {
  optional: { name: string; nick?: string }
  brand: { id: typeof schemas.brand.infer.id }
  recursive: Tree
}

export type Checked = Matches<Mismatch<typeof schemas, Special>>
