/** The features that schema libraries have in common: a clean text, a slipped one that only a guided reader reads, and the type of the value. */

export interface Tree {
  name: string
  children: Tree[]
}

/** The type that `parse` promises for each feature, in every library that has it, unless its file names another. */
export interface Values {
  object: { name: string; age: number }
  optional: { name: string; nick?: string | undefined }
  nullable: { age: number | null }
  default: { count: number; tone: string }
  list: { tags: string[] }
  union: { id: number | boolean }
  'discriminated union': { kind: 'circle'; radius: number } | { kind: 'square'; side: number }
  'nested union': { value: number | boolean | null }
  recursive: Tree
  lazy: { items: number[] }
  enum: { level: 'low' | 'high' }
  literal: { version: 2; kind: 'report' }
  record: { scores: Record<string, number> }
  tuple: { point: [number, number] }
  intersection: { a: number } & { b: number }
  strict: { name: string }
  catchall: { name: string } & { [key: string]: number }
  date: { at: Date; count: number }
  bigint: { id: bigint; count: number }
  transform: { length: number }
  refine: { from: number; to: number }
  brand: { id: string }
  async: { name: string }
}

export type Feature = keyof Values

export interface Row {
  readonly feature: Feature
  /** Strict JSON that the library accepts; absent where nothing is accepted. */
  readonly clean?: Expected
  /** What a model slips into: wrong types, wrong case, no quotes, a single value for a list, fences and prose. */
  readonly slipped?: Expected
  /** A text that is read and that the library's own check then refuses. */
  readonly refused?: { readonly text: string; readonly code: string }
}

export interface Expected {
  readonly text: string
  readonly value: unknown
}

export const rows: readonly Row[] = [
  {
    feature: 'object',
    clean: { text: '{"name": "Ada", "age": 36}', value: { name: 'Ada', age: 36 } },
    slipped: {
      text: "Sure! Earlier I had {'draft': 1}.\n```json\n{Name: 'Ada', age: \"36\",}\n```\nHope this helps!",
      value: { name: 'Ada', age: 36 },
    },
  },
  {
    feature: 'optional',
    clean: { text: '{"name": "Ada"}', value: { name: 'Ada' } },
    slipped: { text: '{"Name": "Ada", "nick": null}', value: { name: 'Ada' } },
  },
  {
    feature: 'nullable',
    clean: { text: '{"age": null}', value: { age: null } },
    slipped: { text: '{"age": "36"}', value: { age: 36 } },
  },
  {
    feature: 'default',
    clean: { text: '{"count": 3}', value: { count: 3, tone: 'calm' } },
    slipped: { text: '{count: "3"}', value: { count: 3, tone: 'calm' } },
  },
  {
    feature: 'list',
    clean: { text: '{"tags": ["a"]}', value: { tags: ['a'] } },
    slipped: { text: '{tags: a}', value: { tags: ['a'] } },
  },
  {
    feature: 'union',
    clean: { text: '{"id": true}', value: { id: true } },
    slipped: { text: '{"id": "42"}', value: { id: 42 } },
  },
  {
    feature: 'discriminated union',
    clean: { text: '{"kind": "circle", "radius": 1}', value: { kind: 'circle', radius: 1 } },
    slipped: { text: '{"kind": "Square", "side": "2"}', value: { kind: 'square', side: 2 } },
  },
  {
    feature: 'nested union',
    clean: { text: '{"value": null}', value: { value: null } },
    slipped: { text: '{"value": "7"}', value: { value: 7 } },
  },
  {
    feature: 'recursive',
    clean: {
      text: '{"name": "a", "children": [{"name": "b", "children": []}]}',
      value: { name: 'a', children: [{ name: 'b', children: [] }] },
    },
    slipped: {
      text: '{"name": "a", "children": {"name": 7, "children": "[]"}}',
      value: { name: 'a', children: [{ name: '7', children: [] }] },
    },
  },
  {
    feature: 'lazy',
    clean: { text: '{"items": [4]}', value: { items: [4] } },
    slipped: { text: '{"items": "4"}', value: { items: [4] } },
  },
  {
    feature: 'enum',
    clean: { text: '{"level": "high"}', value: { level: 'high' } },
    slipped: { text: '{level: HIGH}', value: { level: 'high' } },
  },
  {
    feature: 'literal',
    clean: { text: '{"version": 2, "kind": "report"}', value: { version: 2, kind: 'report' } },
    slipped: { text: '{"version": "2", "kind": "Report"}', value: { version: 2, kind: 'report' } },
  },
  {
    feature: 'record',
    clean: { text: '{"scores": {"a": 1}}', value: { scores: { a: 1 } } },
    slipped: { text: '{"scores": {"a": "1"}}', value: { scores: { a: 1 } } },
  },
  {
    feature: 'tuple',
    clean: { text: '{"point": [1, 2]}', value: { point: [1, 2] } },
    slipped: { text: '{"point": ["1", "2"]}', value: { point: [1, 2] } },
  },
  {
    feature: 'intersection',
    clean: { text: '{"a": 1, "b": 2}', value: { a: 1, b: 2 } },
    slipped: { text: '{"a": "1", "b": "2"}', value: { a: 1, b: 2 } },
  },
  {
    feature: 'strict',
    clean: { text: '{"name": "Ada"}', value: { name: 'Ada' } },
    slipped: { text: '{"name": "Ada", "note": "a woman"}', value: { name: 'Ada' } },
  },
  {
    feature: 'catchall',
    clean: { text: '{"name": "Ada", "age": 36}', value: { name: 'Ada', age: 36 } },
    slipped: { text: '{"name": "Ada", "age": "36"}', value: { name: 'Ada', age: 36 } },
  },
  {
    feature: 'date',
    clean: {
      text: '{"at": "2026-01-02T03:04:05.000Z", "count": 1}',
      value: { at: new Date('2026-01-02T03:04:05.000Z'), count: 1 },
    },
    slipped: {
      text: '{at: 2026-01-02, count: "1"}',
      value: { at: new Date('2026-01-02'), count: 1 },
    },
  },
  {
    feature: 'bigint',
    clean: {
      text: '{"id": "12345678901234567890", "count": 1}',
      value: { id: 12345678901234567890n, count: 1 },
    },
    slipped: {
      text: '{"id": 12345678901234567890, "count": "1"}',
      value: { id: 12345678901234567890n, count: 1 },
    },
  },
  {
    feature: 'transform',
    clean: { text: '{"length": "four"}', value: { length: 4 } },
    slipped: { text: '{"length": 12345}', value: { length: 5 } },
  },
  {
    feature: 'refine',
    clean: { text: '{"from": 1, "to": 2}', value: { from: 1, to: 2 } },
    slipped: { text: '{"from": "1", "to": "2"}', value: { from: 1, to: 2 } },
    refused: { text: '{"from": "3", "to": "2"}', code: 'schema/standard' },
  },
  {
    feature: 'brand',
    clean: { text: '{"id": "42"}', value: { id: '42' } },
    slipped: { text: '{"id": 42}', value: { id: '42' } },
  },
  { feature: 'async', refused: { text: '{"name": "Ada"}', code: 'schema/async' } },
]
