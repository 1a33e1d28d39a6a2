/**
 * Generates pairs of a schema and a text for the search for slow and deep cases. Schemas are weighted to nested and
 * recursive unions as Zod, Valibot and ArkType write them; texts are a motif repeated, between an opening and an ending.
 */
import { motifs } from '../../src/testing/index.ts'

export type Random = () => number

/** mulberry32: a small generator with a fixed sequence for each seed. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)] as T
}

type Schema = Record<string, unknown>

const KEYS = ['a', 'b', 'next', 'k0', 'name'] as const
const DEFINITIONS = ['t', 'u', 'v'] as const

function scalar(random: Random): Schema {
  return pick<Schema>(random, [
    { type: 'string' },
    { type: 'integer' },
    { type: 'number' },
    { type: 'boolean' },
    { type: 'null' },
    { const: 'x' },
    { enum: ['x', 'y'] },
  ])
}

function object(random: Random, depth: number): Schema {
  const properties: Schema = {}
  for (const key of KEYS) if (random() < 0.4) properties[key] = part(random, depth - 1)
  const names = Object.keys(properties)
  return {
    type: 'object',
    properties,
    ...(random() < 0.6 && { required: names.filter(() => random() < 0.7) }),
    // Zod closes objects, Valibot and ArkType leave them open.
    ...(random() < 0.4 && { additionalProperties: false }),
  }
}

/** One place of a schema; unions and references more often than anything else. */
function part(random: Random, depth: number): Schema {
  const roll = random()
  if (depth <= 0) return roll < 0.5 ? scalar(random) : { $ref: `#/$defs/${pick(random, DEFINITIONS)}` }
  if (roll < 0.4) return union(random, depth)
  if (roll < 0.55) return { type: 'array', items: part(random, depth - 1) }
  if (roll < 0.75) return object(random, depth)
  if (roll < 0.85) return { $ref: `#/$defs/${pick(random, DEFINITIONS)}` }
  return roll < 0.9 ? { type: 'object', additionalProperties: part(random, depth - 1) } : scalar(random)
}

function union(random: Random, depth: number): Schema {
  const keyword = pick(random, ['anyOf', 'anyOf', 'oneOf'])
  const branches = Array.from({ length: 2 + Math.floor(random() * 2) }, () => part(random, depth - 1))
  const whole = { [keyword]: branches }
  // `.nullable()` and `.optional()` put a union around a union.
  return random() < 0.4 ? { anyOf: [whole, { type: 'null' }] } : whole
}

/** A definition always has a type of its own somewhere, or it would refer to nothing but itself. */
function definition(random: Random): Schema {
  const branches = [scalar(random), { type: 'array', items: part(random, 1) }, object(random, 2)]
  return { [pick(random, ['anyOf', 'oneOf'])]: branches.filter(() => random() < 0.8).concat(scalar(random)) }
}

/** One call or a list of them, with the names that schemas of tools have; arguments of any form, or one form for each name. */
function calls(random: Random): Schema {
  const [name, args] = pick(random, [
    ['name', 'arguments'],
    ['tool', 'args'],
    ['action', 'parameters'],
  ] as const)
  const make = (known: Schema): Schema => ({
    type: 'object',
    properties: { [name]: known, [args]: random() < 0.3 ? { type: 'object' } : object(random, 2) },
    required: [name, args],
  })
  const call =
    random() < 0.5
      ? make(pick<Schema>(random, [{ type: 'string' }, { enum: ['get_a', 'f'] }]))
      : { anyOf: ['get_a', 'f'].map((word) => make({ const: word })) }
  return random() < 0.5 ? { type: 'array', items: call } : call
}

export function schemaFrom(random: Random): Schema {
  const $defs = Object.fromEntries(DEFINITIONS.map((name) => [name, definition(random)]))
  const roll = random()
  const root =
    roll < 0.2 ? calls(random) : roll < 0.45 ? { type: 'array', items: part(random, 2) } : part(random, 3)
  return { ...root, $defs }
}

export interface Shape {
  readonly opening: string
  readonly motif: string
  readonly ending: string
}

export function shapeFrom(random: Random): Shape {
  const some = (most: number) =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => pick(random, motifs)).join('')
  return { opening: some(2), motif: some(5) || pick(random, motifs), ending: some(2) }
}

/** The motif repeated until the text has about `length` characters. */
export function buildText({ opening, motif, ending }: Shape, length: number): string {
  return opening + motif.repeat(Math.max(1, Math.round(length / motif.length))) + ending
}
