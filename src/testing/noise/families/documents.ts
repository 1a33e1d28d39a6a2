/** Documents for the families: objects without required members, keys that differ by a space, nested objects of the same schema. */
import type { Json } from '../../../base/json.ts'
import type { Random } from '../random.ts'
import { array, flag, number, object, text, whole } from '../schemas/build.ts'
import type { NoiseSchema } from '../types.ts'
import { email, identifier, list, money, name, plain, prose, word } from '../words.ts'

/** Picks some of the optional members, at least `least`. */
function pickSome(random: Random, members: Readonly<Record<string, Json>>, least = 1): Json {
  const keys = Object.keys(members)
  const kept = random.some(keys, random.int(least, keys.length))
  return Object.fromEntries(kept.map((key) => [key, members[key] as Json]))
}

const all = (...names: string[]) => ({ optional: names })

/** Every property is optional: `{}` validates, and any object if the schema is open. */
export const OPTIONAL: readonly NoiseSchema[] = [
  ...[true, false].map(
    (open): NoiseSchema => ({
      name: open ? 'profile-open' : 'profile-closed',
      schema: object(
        { fullName: text, age: whole, tags: array(text), active: flag },
        { ...all('fullName', 'age', 'tags', 'active'), open },
      ),
      make: (r) =>
        pickSome(r, {
          fullName: name(r),
          age: r.int(18, 99),
          tags: list(r, [1, 3], () => word(r)),
          active: r.chance(),
        }),
    }),
  ),
  {
    name: 'references',
    schema: object({ ids: array(whole), source: text }, all('ids', 'source')),
    make: (r) => pickSome(r, { ids: list(r, [1, 4], () => r.int(1, 900)), source: prose(r) }),
  },
  {
    name: 'one-optional-list',
    schema: object({ ids: array(whole) }, { ...all('ids'), open: true }),
    make: (r) => ({ ids: list(r, [2, 5], () => r.int(100, 900)) }),
  },
  {
    name: 'filter',
    schema: object(
      {
        query: text,
        range: object({ from: number, to: number }, all('from', 'to')),
        languages: array(text),
      },
      { ...all('query', 'range', 'languages'), open: true },
    ),
    make: (r) =>
      pickSome(r, {
        query: prose(r),
        range: { from: r.int(1, 9), to: r.int(10, 90) },
        languages: list(r, [1, 3], () => r.pick(['de', 'fr', 'ja'])),
      }),
  },
]

/** Keys of a schema that differ only by a space, their case or their punctuation. */
export const KEYED: readonly NoiseSchema[] = [
  {
    name: 'key-with-space',
    schema: object({ 'id ': whole, label: text, ' note': text }, { optional: [' note'] }),
    make: (r) => ({ 'id ': r.int(1, 99), label: prose(r), ...(r.chance() ? { ' note': prose(r) } : {}) }),
  },
  {
    name: 'key-twice',
    schema: object({ name: text, 'name ': text, age: whole }, { optional: ['name', 'name '], open: true }),
    make: (r) => ({ ...(pickSome(r, { name: name(r), 'name ': plain(r) }) as object), age: r.int(1, 90) }),
  },
  {
    name: 'key-in-branches',
    schema: {
      anyOf: [
        object({ id: whole, kind: text }),
        object({ 'id ': whole, kind: text }),
        object({ ID: whole, kind: text }),
      ],
    },
    make: (r) => ({ [r.pick(['id', 'id ', 'ID'])]: r.int(1, 99), kind: word(r) }),
  },
  {
    name: 'key-in-parts',
    schema: {
      type: 'object',
      allOf: [
        { properties: { 'total ': number }, required: ['total '] },
        { properties: { total: number, memo: text } },
      ],
    },
    make: (r) => ({ 'total ': money(r), memo: prose(r), ...(r.chance() ? { total: money(r) } : {}) }),
  },
  {
    name: 'key-by-pattern',
    schema: {
      type: 'object',
      properties: { total: number, memo: text },
      patternProperties: { '^total +$': number },
      required: ['memo'],
      additionalProperties: false,
    },
    make: (r) => ({ memo: prose(r), [r.pick(['total ', 'total  ', 'total'])]: money(r) }),
  },
  {
    name: 'key-in-items',
    schema: object({
      rows: array(
        object(
          { user_id: whole, 'user-id': text, 'userId ': flag },
          { optional: ['user_id', 'user-id', 'userId '] },
        ),
      ),
      owner: text,
    }),
    make: (r) => ({
      rows: list(r, [1, 3], () =>
        pickSome(r, { user_id: r.int(1, 99), 'user-id': identifier(r), 'userId ': r.chance() }),
      ),
      owner: name(r),
    }),
  },
]

function thread(random: Random, depth: number): Json {
  const replies = depth === 0 ? [] : list(random, [0, 2], () => thread(random, depth - 1))
  return { text: prose(random), author: name(random), ...(replies.length > 0 ? { replies } : {}) }
}

function chain(random: Random, depth: number): Json {
  const rest = depth === 0 ? {} : { next: chain(random, depth - 1) }
  return { ...(pickSome(random, { value: plain(random), weight: random.int(1, 9) }, 2) as object), ...rest }
}

/** Recursive objects: both the whole and a part of it validate. */
export const NESTED: readonly NoiseSchema[] = [
  {
    name: 'thread',
    schema: {
      $ref: '#/$defs/post',
      $defs: {
        post: object(
          { text, author: text, replies: array({ $ref: '#/$defs/post' }) },
          { optional: ['replies'] },
        ),
      },
    },
    make: (r) => thread(r, 2),
  },
  ...[true, false].map(
    (open): NoiseSchema => ({
      name: open ? 'chain-open' : 'chain-closed',
      schema: {
        $ref: '#/$defs/link',
        $defs: {
          link: object(
            { value: text, weight: whole, next: { $ref: '#/$defs/link' } },
            { optional: ['value', 'weight', 'next'], open },
          ),
        },
      },
      make: (r) => chain(r, r.int(1, 3)),
    }),
  ),
  {
    name: 'account',
    schema: object(
      { name: text, email: text, manager: object({ name: text, email: text }, all('name', 'email')) },
      { ...all('name', 'email', 'manager'), open: true },
    ),
    make: (r) => ({
      name: name(r),
      email: email(r),
      manager: { name: name(r), ...(r.chance() ? { email: email(r) } : {}) },
    }),
  },
]
