/** The rehearsal model keeps its word: any schema, the prompt's own words, the same every time, noise and faults on cue. */
import { describe, expect, it } from 'vitest'
import { generateValue } from '../../src/adapters/models/index.ts'
import type { JsonSchema, ModelRequest } from '../../src/index.ts'
import { makeValue, NOISE_SCHEMAS, rehearsal } from '../../src/testing/index.ts'
import { compileSchema } from '../seams/schema.ts'

const request = (schema: JsonSchema, more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: 'any',
  system: 'Answer with JSON',
  prompt: 'Objective: "Write about oolong in Taipei"',
  schema,
  idempotencyKey: 'k',
  signal: new AbortController().signal,
  ...more,
})

const hard: Record<string, JsonSchema> = {
  patterns: {
    type: 'object',
    properties: {
      sku: { type: 'string', pattern: '^[A-Z]{3}-\\d{4}(-[a-z]+)?$' },
      code: { type: 'string', pattern: '^(?:red|green)\\.\\w{2,5}$' },
      free: { type: 'string', pattern: '^[^@\\s]+@[^@\\s]+$' },
    },
    required: ['sku', 'code', 'free'],
  },
  numbers: {
    type: 'object',
    properties: {
      even: { type: 'integer', minimum: 3, maximum: 9, multipleOf: 2 },
      share: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 0.05 },
      below: { type: 'integer', maximum: -5 },
    },
    required: ['even', 'share', 'below'],
  },
  lists: {
    type: 'array',
    minItems: 3,
    maxItems: 4,
    uniqueItems: true,
    items: { enum: ['a', 'b', 'c', 'd', 'e'] },
  },
  tuple: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false, minItems: 2 },
  recursive: {
    $defs: {
      tree: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          children: { type: 'array', items: { $ref: '#/$defs/tree' } },
        },
        required: ['name', 'children'],
      },
    },
    $ref: '#/$defs/tree',
  },
  union: {
    oneOf: [
      {
        type: 'object',
        properties: { kind: { const: 'a' }, n: { type: 'integer' } },
        required: ['kind', 'n'],
      },
      {
        type: 'object',
        properties: { kind: { const: 'b' }, s: { type: 'string', minLength: 30 } },
        required: ['kind', 's'],
      },
    ],
  },
  conditional: {
    type: 'object',
    properties: { pay: { enum: ['card', 'cash'] }, card: { type: 'string', minLength: 4 } },
    required: ['pay'],
    if: { properties: { pay: { const: 'card' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { required: ['card'] },
    else: { not: { required: ['card'] } },
  },
  merged: {
    allOf: [
      { type: 'object', properties: { a: { type: 'integer', minimum: 5 } }, required: ['a'] },
      { properties: { a: { maximum: 6 }, b: { format: 'date', type: 'string' } }, required: ['b'] },
    ],
  },
  map: { type: 'object', additionalProperties: { type: 'number' }, minProperties: 1 },
  formats: {
    type: 'object',
    properties: Object.fromEntries(
      ['date', 'date-time', 'time', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uri', 'uuid'].map(
        (format) => [format, { type: 'string', format }],
      ),
    ),
    required: ['date', 'uuid', 'uri', 'time'],
  },
  anything: true,
}

describe('the rehearsal model', () => {
  const schemas = { ...hard, ...Object.fromEntries(NOISE_SCHEMAS.map(({ name, schema }) => [name, schema])) }

  it.each(Object.entries(schemas))(
    'answers %s with a value that satisfies it, whatever the seed',
    (_, schema) => {
      for (let seed = 0; seed < 20; seed++) {
        const value = makeValue(schema, { seed, words: ['oolong', 'Taipei', '烏龍茶'] })
        expect(compileSchema(schema).validate(value)).toEqual([])
      }
    },
  )

  it('speaks in the words of its prompt', async () => {
    const answer = await rehearsal().generate(request({ type: 'string' }))
    expect(answer).toMatchObject({ kind: 'text', text: expect.stringMatching(/oolong|Taipei|about|Write/) })
  })

  it('says the same to the same request and seed, and something else to another', async () => {
    const [one, two, other] = await Promise.all(
      [1, 1, 2].map((seed) => rehearsal({ seed }).generate(request(NOISE_SCHEMAS[0]?.schema ?? true))),
    )
    expect(one).toEqual(two)
    expect(one).not.toEqual(other)
  })

  it('fails on cue', async () => {
    const provider = rehearsal({ faults: { 2: { kind: 'throttled', message: 'slow', retryAfterMs: 5 } } })
    const kinds = []
    for (let n = 0; n < 3; n++) kinds.push((await provider.generate(request(true))).kind)
    expect(kinds).toEqual(['text', 'throttled', 'text'])
    expect(provider.calls).toBe(3)
  })

  it('writes carelessly when asked to, and streams', async () => {
    const schema = NOISE_SCHEMAS[0]?.schema ?? true
    const chunks: string[] = []
    const provider = rehearsal({ noise: 1, kinds: ['fence-json', 'comma-trailing'] })
    const answer = await provider.generate(request(schema, { onText: (chunk) => chunks.push(chunk) }))
    expect(answer.kind === 'text' && answer.text).toBe(chunks.join(''))
    expect(() => JSON.parse(chunks.join(''))).toThrow()
  })

  it('gives values under contract through the same ladder as real models, in one call', async () => {
    const events: string[] = []
    const done = await generateValue({
      providers: [rehearsal()],
      model: 'openai/gpt-5-mini',
      objective: 'Plan a tasting of oolong',
      schema: hard['patterns'] ?? true,
      onEvent: (event) => events.push(event),
    })
    expect(done).toMatchObject({ outcome: 'ok', usage: { calls: 1 } })
    expect(events).toEqual(['aros.soe.enabled', 'grammar.applied'])
  })
})
