/** One random schema in every library that cannot give its JSON Schema, and in one that can, with a text that slips from it. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import * as v from 'valibot'
import { z } from 'zod'
import { z as z3 } from 'zod-3'
import { z as z40 } from 'zod-4.0'
import { z as z41 } from 'zod-4.1'
import type { Json } from '../../../src/index.ts'
import type { Random } from '../../random.ts'

/** What the libraries build alike. The packages of Zod differ in their types, not in these calls. */
interface Builder<S> {
  string(): S
  number(): S
  integer(most: number): S
  boolean(): S
  literal(value: string): S
  enumeration(values: readonly [string, ...string[]]): S
  list(item: S): S
  tuple(items: readonly [S, S]): S
  record(value: S): S
  union(options: readonly [S, S]): S
  nullable(inner: S): S
  optional(inner: S): S
  transform(inner: S): S
  object(entries: Readonly<Record<string, S>>): S
  strict(entries: Readonly<Record<string, S>>): S
}

function zodBuilder(zod: typeof z): Builder<z.ZodType> {
  return {
    string: () => zod.string(),
    number: () => zod.number(),
    integer: (most) => zod.number().int().max(most),
    boolean: () => zod.boolean(),
    literal: (value) => zod.literal(value),
    enumeration: (values) => zod.enum(values),
    list: (item) => zod.array(item),
    tuple: (items) => zod.tuple([...items]),
    record: (value) => zod.record(zod.string(), value),
    union: (options) => zod.union(options),
    nullable: (inner) => zod.nullable(inner),
    optional: (inner) => zod.optional(inner),
    transform: (inner) => inner.transform((value) => value),
    object: (entries) => zod.object(entries),
    strict: (entries) => zod.object(entries).strict(),
  }
}

const valibotBuilder: Builder<v.GenericSchema> = {
  string: () => v.string(),
  number: () => v.number(),
  integer: (most) => v.pipe(v.number(), v.integer(), v.maxValue(most)),
  boolean: () => v.boolean(),
  literal: (value) => v.literal(value),
  enumeration: (values) => v.picklist(values),
  list: (item) => v.array(item),
  tuple: (items) => v.strictTuple(items),
  record: (value) => v.record(v.string(), value),
  union: (options) => v.union(options),
  nullable: (inner) => v.nullable(inner),
  optional: (inner) => v.optional(inner),
  transform: (inner) =>
    v.pipe(
      inner,
      v.transform((value) => value),
    ),
  object: (entries) => v.object(entries),
  strict: (entries) => v.strictObject(entries),
}

// The calls above are the same in every version.
const versions = { zod: z, 'zod-3': z3 as never, 'zod-4.0': z40 as never, 'zod-4.1': z41 as never }

type Build = <S>(builder: Builder<S>) => S

interface Made {
  readonly build: Build
  /** A value as a model may write it. */
  readonly write: () => Json
}

export interface Alike {
  readonly text: string
  /** The same schema by library; that of `zod` gives its own JSON Schema. */
  readonly schemas: Readonly<Record<string, StandardSchemaV1>>
}

export function randomAlike(random: Random): Alike {
  const { build, write } = randomObject(random, 0)
  const zods = Object.entries(versions).map(([name, zod]) => [name, build(zodBuilder(zod))])
  const json = JSON.stringify(write())
  const text = random.chance(0.3) ? `Here it is: {"draft": true}\n\`\`\`json\n${json}\n\`\`\`\n` : json
  return { text, schemas: { ...Object.fromEntries(zods), valibot: build(valibotBuilder) } }
}

function randomObject(random: Random, depth: number): Made {
  const names = ['name', 'itemCount', 'level', 'tags'].slice(0, random.int(1, 4))
  const members = names.map((name) => ({
    name,
    made: randomMember(random, depth + 1),
    optional: random.chance(0.3),
  }))
  const kind = random.chance(0.3) ? 'strict' : 'object'
  return {
    build: (builder) =>
      builder[kind](
        Object.fromEntries(
          members.map(({ name, made, optional }) => {
            const inner = made.build(builder)
            return [name, optional ? builder.optional(inner) : inner]
          }),
        ),
      ),
    write: () =>
      Object.fromEntries([
        ...members
          .filter(({ optional }) => !optional || random.chance(0.7))
          .map(({ name, made, optional }): [string, Json] => [
            random.chance(0.15) ? name.toUpperCase() : name,
            optional && random.chance(0.2) ? null : made.write(),
          ]),
        ...(random.chance(0.2) ? ([['note', 'more']] as const) : []),
      ]),
  }
}

function randomMember(random: Random, depth: number): Made {
  const leaves = [text, number, integer, truth, literal, enumeration]
  return random.pick(
    depth > 3 ? leaves : [...leaves, list, tuple, record, union, nullable, transform, randomObject],
  )(random, depth)
}

const quoted = (random: Random, value: Json): Json => (random.chance(0.3) ? JSON.stringify(value) : value)

const text = (random: Random): Made => ({
  build: (builder) => builder.string(),
  write: () => (random.chance(0.2) ? 42 : random.pick(['Ada', 'a, b', '7', 'true'])),
})
const number = (random: Random): Made => ({
  build: (builder) => builder.number(),
  write: () => (random.chance(0.2) ? '1,200.5' : quoted(random, random.int(-5, 5) / 2)),
})
const integer = (random: Random): Made => {
  const most = random.pick([1, 9])
  return {
    build: (builder) => builder.integer(most),
    write: () => quoted(random, random.int(-3, most)),
  }
}
const truth = (random: Random): Made => ({
  build: (builder) => builder.boolean(),
  write: () => (random.chance(0.2) ? 'True' : quoted(random, random.chance(0.5))),
})
const literal = (random: Random): Made => ({
  build: (builder) => builder.literal('report'),
  write: () => random.pick(['report', 'Report']),
})
const enumeration = (random: Random): Made => ({
  build: (builder) => builder.enumeration(['low', 'very high']),
  write: () => random.pick(['low', 'LOW', 'very high', 'very_high']),
})
const list = (random: Random, depth: number): Made => {
  const item = randomMember(random, depth + 1)
  return {
    build: (builder) => builder.list(item.build(builder)),
    write: () =>
      random.chance(0.2)
        ? item.write()
        : quoted(
            random,
            Array.from({ length: random.int(0, 2) }, () => item.write()),
          ),
  }
}
const tuple = (random: Random, depth: number): Made => {
  const [first, second] = [randomMember(random, depth + 1), randomMember(random, depth + 1)]
  return {
    build: (builder) => builder.tuple([first.build(builder), second.build(builder)]),
    write: () => [first.write(), second.write()],
  }
}
const record = (random: Random, depth: number): Made => {
  const value = randomMember(random, depth + 1)
  return {
    build: (builder) => builder.record(value.build(builder)),
    write: () => ({ a: value.write(), B: value.write() }),
  }
}
const union = (random: Random, depth: number): Made => {
  const options = [randomMember(random, depth + 1), randomMember(random, depth + 1)] as const
  return {
    build: (builder) => builder.union([options[0].build(builder), options[1].build(builder)]),
    write: () => random.pick(options).write(),
  }
}
const nullable = (random: Random, depth: number): Made => {
  const inner = randomMember(random, depth + 1)
  return {
    build: (builder) => builder.nullable(inner.build(builder)),
    write: () => (random.chance(0.3) ? null : inner.write()),
  }
}
const transform = (random: Random, depth: number): Made => {
  const inner = randomMember(random, depth + 1)
  return { build: (builder) => builder.transform(inner.build(builder)), write: inner.write }
}
