/** Schemas on their way to providers: what is sent, what is weakened, what cannot be said. */
import { describe, expect, it } from 'vitest'
import { portability } from '../../src/adapters/models/index.ts'
import type { JsonSchema } from '../../src/index.ts'
import { makeValue, NOISE_SCHEMAS } from '../../src/testing/index.ts'
import { dialects, getJsonMode, lowerSchema } from '../seams/models.ts'
import { compileSchema } from '../seams/schema.ts'

const openai = (schema: JsonSchema) => lowerSchema(schema, dialects.openai)
const listNotes = (schema: JsonSchema) =>
  openai(schema).notes.map(({ kind, pointer, keyword }) => `${kind} ${pointer} ${keyword}`)

describe('lowering for OpenAI', () => {
  it('closes objects, requires everything and makes optionals nullable, and says so', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' }, b: { enum: ['x', 'y'] }, c: { type: ['integer', 'null'] } },
      required: ['a'],
    } as const
    expect(openai(schema).schema).toEqual({
      type: 'object',
      properties: {
        a: { type: 'string' },
        b: { anyOf: [{ type: 'string', enum: ['x', 'y'] }, { type: 'null' }] },
        c: { type: ['integer', 'null'] },
      },
      required: ['a', 'b', 'c'],
      additionalProperties: false,
    })
    expect(listNotes(schema)).toEqual([
      'changed /properties/b required',
      'changed /properties/c required',
      'changed  additionalProperties',
    ])
  })

  it('leaves out what is not enforced and lists it', () => {
    const schema = {
      type: 'object',
      properties: {
        s: { type: 'string', minLength: 2, pattern: '^a', format: 'iri' },
        l: { type: 'array', items: { type: 'integer', minimum: 1 }, uniqueItems: true, minItems: 1 },
      },
      required: ['s', 'l'],
      additionalProperties: false,
      minProperties: 1,
    } as const
    expect(openai(schema).schema).toMatchObject({
      properties: {
        s: { type: 'string', pattern: '^a' },
        l: { type: 'array', minItems: 1, items: { type: 'integer', minimum: 1 } },
      },
    })
    expect(listNotes(schema)).toEqual([
      'weakened  minProperties',
      'weakened /properties/s minLength',
      'weakened /properties/s format',
      'weakened /properties/l uniqueItems',
    ])
  })

  it('keeps references, recursive ones too, and merges allOf', () => {
    const schema = {
      definitions: {
        node: {
          type: 'object',
          properties: {
            next: { $ref: '#/definitions/node' },
            n: { allOf: [{ type: 'integer' }, { minimum: 1 }] },
          },
          required: ['next', 'n'],
        },
      },
      $ref: '#/definitions/node',
    } as const
    const { schema: lowered } = openai(schema)
    expect(lowered).toMatchObject({
      $defs: {
        node_1: { properties: { next: { $ref: '#/$defs/node_1' }, n: { type: 'integer', minimum: 1 } } },
      },
    })
  })

  it.each<[string, JsonSchema]>([
    ['free keys', { type: 'object', additionalProperties: { type: 'number' } }],
    ['anything', { type: 'object', properties: { x: true } }],
    ['a reference to another document', { $ref: 'https://example.com/s.json' }],
  ])('refuses %s', (_, schema) => {
    expect(openai(schema).schema).toBeUndefined()
    expect(openai(schema).notes.some(({ kind }) => kind === 'refused')).toBe(true)
  })
})

describe('every dialect', () => {
  it.each(Object.values(dialects))(
    '$name: what it is sent compiles, and takes what the author takes',
    (dialect) => {
      for (const { name, schema } of NOISE_SCHEMAS) {
        const lowered = lowerSchema(schema, dialect)
        if (lowered.schema === undefined) continue
        const { accepts } = compileSchema(lowered.schema)
        for (let seed = 0; seed < 5; seed++) {
          const value = makeValue(schema, { seed, words: ['tea', 'time'] })
          // Under OpenAI's rule every property is there; the values made here leave optional ones out.
          if (dialect.allRequired) continue
          expect(accepts(lowered.wrapped ? { value } : value), `${name}: ${JSON.stringify(value)}`).toBe(true)
        }
      }
    },
  )

  it('refuses a short schema that would be endless once its references are written out', () => {
    const $defs: Record<string, JsonSchema> = { d30: { type: 'string' } }
    for (let level = 0; level < 30; level++) {
      const next = { $ref: `#/$defs/d${level + 1}` }
      $defs[`d${level}`] = { type: 'object', properties: { a: next, b: { ...next, minLength: 1 } } }
    }
    const google = portability({ $ref: '#/$defs/d0', $defs }).find(({ provider }) => provider === 'google')
    expect(google?.verdict).toBe('refused')
    expect(google?.notes.map(({ message }) => message)).toContainEqual(expect.stringContaining('5000 parts'))
  })

  it('has a verdict side by side', () => {
    const verdicts = Object.fromEntries(
      portability({
        type: 'object',
        properties: { n: { type: 'number', multipleOf: 0.5 }, t: { $ref: '#' } },
        required: ['n'],
        additionalProperties: false,
      }).map(({ provider, verdict }) => [provider, verdict]),
    )
    expect(verdicts).toEqual({
      openai: 'enforced',
      anthropic: 'refused',
      google: 'refused',
      outlines: 'refused',
      xgrammar: 'weakened',
    })
  })
})

describe('profiles', () => {
  it.each([
    ['openai', 'gpt-5-mini', 'json_schema'],
    ['openai', 'gpt-4o', 'json_schema'],
    ['openai', 'gpt-4o-mini', 'json_schema'],
    ['openai', 'gpt-4-turbo', 'json_object'],
    ['openai', 'gpt-4', 'none'],
    ['openai', 'o1-mini', 'none'],
    ['openai', 'some-future-model', 'json_schema'],
    ['google', 'gemma-3-27b', 'none'],
  ])('%s/%s: %s', (provider, model, mode) => {
    expect(getJsonMode(provider, model)).toBe(mode)
  })
})
