/** The column of Zod 4.0: `zod-4.ts` with another import. */
import { z } from 'zod-4.0'
import type { Matches, Mismatch } from './types.ts'

const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree)
  },
})

export const schemas = {
  object: z.object({ name: z.string(), age: z.number().int() }),
  optional: z.object({ name: z.string(), nick: z.string().optional() }),
  nullable: z.object({ age: z.number().nullable() }),
  default: z.object({ count: z.number(), tone: z.string().default('calm') }),
  list: z.object({ tags: z.array(z.string()) }),
  union: z.object({ id: z.union([z.number(), z.boolean()]) }),
  'discriminated union': z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('circle'), radius: z.number() }),
    z.object({ kind: z.literal('square'), side: z.number() }),
  ]),
  'nested union': z.object({ value: z.union([z.union([z.number(), z.boolean()]), z.null()]) }),
  recursive: tree,
  lazy: z.object({ items: z.lazy(() => z.array(z.number())) }),
  enum: z.object({ level: z.enum(['low', 'high']) }),
  literal: z.object({ version: z.literal(2), kind: z.literal('report') }),
  record: z.object({ scores: z.record(z.string(), z.number()) }),
  tuple: z.object({ point: z.tuple([z.number(), z.number()]) }),
  intersection: z.intersection(z.object({ a: z.number() }), z.object({ b: z.number() })),
  strict: z.strictObject({ name: z.string() }),
  catchall: z.object({ name: z.string() }).catchall(z.number()),
  date: z.object({ at: z.coerce.date(), count: z.number() }),
  bigint: z.object({ id: z.coerce.bigint(), count: z.number() }),
  transform: z.object({ length: z.string().transform((text) => text.length) }),
  refine: z.object({ from: z.number(), to: z.number() }).refine(({ from, to }) => from <= to),
  brand: z.object({ id: z.string().brand<'Id'>() }),
  async: z.object({ name: z.string().refine(async () => true) }),
}

interface Special {
  brand: { id: string & z.$brand<'Id'> }
}

export type Checked = Matches<Mismatch<typeof schemas, Special>>
