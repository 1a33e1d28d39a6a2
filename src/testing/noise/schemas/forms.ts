/** Schemas that differ in form: root lists and scalars, unions, references, maps, recursion, tool arguments. */
import type { Json } from '../../../base/json.ts'
import type { Random } from '../random.ts'
import type { NoiseSchema } from '../types.ts'
import { email, list, money, name, plain, prose, word } from '../words.ts'
import { array, flag, number, object, oneOfWords, text, whole } from './build.ts'

const CATEGORIES = ['billing', 'technical support', 'sales', 'other']

function tree(random: Random, depth: number): Json {
  return {
    label: prose(random),
    children: depth === 0 ? [] : list(random, [0, 2], () => tree(random, depth - 1)),
  }
}

export const FORMS: readonly NoiseSchema[] = [
  {
    name: 'todo-list',
    schema: array(object({ task: text, done: flag, effort: whole })),
    make: (r) => list(r, [1, 4], () => ({ task: prose(r), done: r.chance(), effort: r.int(1, 13) })),
  },
  {
    name: 'contacts',
    schema: {
      $defs: {
        contact: object({ name: text, emails: array({ type: 'string', format: 'email' }), vip: flag }),
      },
      ...object({ contacts: array({ $ref: '#/$defs/contact' }), owner: { $ref: '#/$defs/contact' } }),
    },
    make: (r) => {
      const contact = (): Json => ({
        name: name(r),
        emails: list(r, [0, 2], () => email(r)),
        vip: r.chance(),
      })
      return { contacts: list(r, [1, 3], contact), owner: contact() }
    },
  },
  {
    name: 'catalogue',
    schema: array(object({ sku: text, title: text, price: number, stock: { type: 'integer', minimum: 0 } }), {
      minItems: 1,
    }),
    make: (r) =>
      list(r, [1, 4], () => ({
        sku: `A-${r.int(100, 999)}`,
        title: prose(r),
        price: money(r),
        stock: r.int(0, 12000),
      })),
  },
  {
    name: 'tags',
    schema: array(text),
    make: (r) => list(r, [1, 5], () => (r.chance(0.3) ? prose(r) : word(r))),
  },
  { name: 'scores', schema: array(whole), make: (r) => list(r, [2, 6], () => r.int(1000, 99000)) },
  {
    name: 'matrix',
    schema: array(array(number)),
    make: (r) => list(r, [2, 3], () => [r.int(0, 9), r.int(10, 99) / 4]),
  },
  { name: 'category', schema: oneOfWords(...CATEGORIES), make: (r) => r.pick(CATEGORIES) },
  { name: 'count', schema: { type: 'integer', minimum: 0 }, make: (r) => r.int(10, 90000) },
  { name: 'verdict', schema: flag, make: (r) => r.chance() },
  { name: 'answer-text', schema: text, make: (r) => prose(r) },
  {
    name: 'weather-arguments',
    schema: object({
      city: text,
      unit: oneOfWords('celsius', 'fahrenheit'),
      days: { type: 'integer', minimum: 1 },
    }),
    make: (r) => ({ city: name(r), unit: r.pick(['celsius', 'fahrenheit']), days: r.int(1, 14) }),
  },
  {
    name: 'search-arguments',
    schema: object(
      {
        query: text,
        limit: { type: 'integer', minimum: 1, maximum: 100 },
        filters: object({ languages: array(text), fresh: flag }),
        cursor: { type: ['string', 'null'] },
      },
      { open: true },
    ),
    make: (r) => ({
      query: prose(r),
      limit: r.int(1, 100),
      filters: { languages: list(r, [1, 3], () => r.pick(['de', 'fr', 'ja'])), fresh: r.chance() },
      cursor: r.chance() ? null : plain(r),
    }),
  },
  {
    name: 'event',
    schema: {
      oneOf: [
        object({ type: { const: 'created' }, title: text, size: whole }),
        object({ type: { const: 'removed' }, reason: text }),
        object({ type: { const: 'renamed' }, from: text, to: text }),
      ],
    },
    make: (r): Json =>
      r.pick<Json>([
        { type: 'created', title: prose(r), size: r.int(1, 9000) },
        { type: 'removed', reason: prose(r) },
        { type: 'renamed', from: word(r), to: prose(r) },
      ]),
  },
  {
    name: 'tree',
    schema: {
      $ref: '#/$defs/node',
      $defs: { node: object({ label: text, children: array({ $ref: '#/$defs/node' }) }) },
    },
    make: (r) => tree(r, 2),
  },
  {
    name: 'word-counts',
    schema: { type: 'object', additionalProperties: { type: 'integer' } },
    make: (r) => Object.fromEntries(list(r, [2, 5], () => [`${word(r)} ${r.int(1, 99)}`, r.int(1, 9000)])),
  },
  {
    name: 'locales',
    schema: object({
      messages: { type: 'object', additionalProperties: object({ brief: text, detail: text }) },
      version: whole,
    }),
    make: (r) => ({
      messages: Object.fromEntries(
        r
          .some(['de-AT', 'fr-FR', 'ja-JP', 'ar-EG', 'hi-IN'], r.int(1, 3))
          .map((key) => [key, { brief: word(r), detail: prose(r) }]),
      ),
      version: r.int(1, 99),
    }),
  },
  {
    name: 'single-list',
    schema: object({
      entities: array(object({ name: text, kind: oneOfWords('person', 'place', 'work of art') })),
    }),
    make: (r) => ({
      entities: list(r, [1, 4], () => ({ name: name(r), kind: r.pick(['person', 'place', 'work of art']) })),
    }),
  },
  {
    name: 'place',
    schema: object({
      label: text,
      latitude: { type: 'number', minimum: -90, maximum: 90 },
      longitude: { type: 'number', minimum: -180, maximum: 180 },
      elevation: { anyOf: [number, { type: 'null' }] },
    }),
    make: (r) => ({
      label: prose(r),
      latitude: r.int(-8000, 8000) / 100,
      longitude: r.int(-17000, 17000) / 100,
      elevation: r.chance() ? null : r.int(1, 4000),
    }),
  },
  {
    name: 'draft-07',
    schema: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { score: { type: 'integer', minimum: 0, maximum: 10 } },
      ...object({ reviewer: text, scores: array({ $ref: '#/definitions/score' }), comment: text }),
    },
    make: (r) => ({ reviewer: name(r), scores: list(r, [1, 4], () => r.int(0, 10)), comment: prose(r) }),
  },
]
