/** The column of Valibot 1. */
import * as v from 'valibot'
import type { Tree } from './rows.ts'
import type { Matches, Mismatch } from './types.ts'

const tree: v.GenericSchema<Tree> = v.object({ name: v.string(), children: v.array(v.lazy(() => tree)) })

export const schemas = {
  object: v.object({ name: v.string(), age: v.pipe(v.number(), v.integer()) }),
  optional: v.object({ name: v.string(), nick: v.optional(v.string()) }),
  nullable: v.object({ age: v.nullable(v.number()) }),
  default: v.object({ count: v.number(), tone: v.optional(v.string(), 'calm') }),
  list: v.object({ tags: v.array(v.string()) }),
  union: v.object({ id: v.union([v.number(), v.boolean()]) }),
  'discriminated union': v.variant('kind', [
    v.object({ kind: v.literal('circle'), radius: v.number() }),
    v.object({ kind: v.literal('square'), side: v.number() }),
  ]),
  'nested union': v.object({ value: v.union([v.union([v.number(), v.boolean()]), v.null()]) }),
  recursive: tree,
  lazy: v.object({ items: v.lazy(() => v.array(v.number())) }),
  enum: v.object({ level: v.picklist(['low', 'high']) }),
  literal: v.object({ version: v.literal(2), kind: v.literal('report') }),
  record: v.object({ scores: v.record(v.string(), v.number()) }),
  tuple: v.object({ point: v.tuple([v.number(), v.number()]) }),
  intersection: v.intersect([v.object({ a: v.number() }), v.object({ b: v.number() })]),
  strict: v.strictObject({ name: v.string() }),
  catchall: v.objectWithRest({ name: v.string() }, v.number()),
  date: v.object({
    at: v.pipe(
      v.string(),
      v.transform((text) => new Date(text)),
      v.date(),
    ),
    count: v.number(),
  }),
  bigint: v.object({
    id: v.pipe(
      v.union([v.number(), v.string()]),
      v.transform((digits) => BigInt(digits)),
    ),
    count: v.number(),
  }),
  transform: v.object({
    length: v.pipe(
      v.string(),
      v.transform((text) => text.length),
    ),
  }),
  refine: v.pipe(
    v.object({ from: v.number(), to: v.number() }),
    v.check(({ from, to }) => from <= to),
  ),
  brand: v.object({ id: v.pipe(v.string(), v.brand('Id')) }),
  async: v.objectAsync({
    name: v.pipeAsync(
      v.string(),
      v.checkAsync(async () => true),
    ),
  }),
}

interface Special {
  brand: { id: string & v.Brand<'Id'> }
}

export type Checked = Matches<Mismatch<typeof schemas, Special>>
