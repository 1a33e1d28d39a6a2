/** The chain as a whole: levels, limits, shadow, stages of the caller, closed paths, big integers, and what a failure says. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonSchema } from '../schema/compile/compile.ts'
import { parse } from './parse.ts'
import type { ParseOptions, ParseResult } from './types.ts'

const person: JsonSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer' } },
  required: ['name', 'age'],
}

function outcome(result: ParseResult): unknown {
  return result.ok ? result.value : result.issues.map((issue) => issue.code)
}

describe('the levels', () => {
  it.each<[ParseOptions['aop'], string, unknown]>([
    ['off', '{"name": "Ada", "age": 36}', { name: 'Ada', age: 36 }],
    ['off', 'x {"name": "Ada", "age": 36}', ['output/not-json']],
    ['off', '{"name": "Ada", "age": "36"}', ['schema/type']],
    ['minimal', 'x {"name": "Ada", "age": 36,}', { name: 'Ada', age: 36 }],
    ['minimal', '{"name": "Ada", "age": "36"}', ['schema/type']],
    ['minimal', '{"name": "Ada", "Age": 36}', ['schema/required']],
    ['minimal', '{"name": "Ada" "age": 36}', ['output/tolerance']],
    ['full', '{"name": "Ada" "Age": "36"}', { name: 'Ada', age: 36 }],
  ])('%s: %s', (aop, text, expected) => {
    expect(outcome(parse(text, person, { aop: aop ?? 'full' }))).toEqual(expected)
  })

  it('convert in minimal what the caller lists, and nothing else', () => {
    const options: ParseOptions = { aop: 'minimal', allow: { integer: ['str->int'] } }
    expect(outcome(parse('{"name": "Ada", "age": "36"}', person, options))).toEqual({ name: 'Ada', age: 36 })
    expect(outcome(parse('{"name": 7, "age": "36"}', person, options))).toEqual(['schema/type'])
  })

  it('say which tolerance a text needs', () => {
    const result = parse('[.5]', undefined, { tolerance: 0 })
    expect(result.issues[0]).toMatchObject({
      code: 'output/tolerance',
      hint: 'Set tolerance (in a pipeline, coercion.tolerant_level) to 1',
    })
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } as const
    const codes = (text: string) => parse(text, schema, { tolerance: 0 }).issues.map(({ code }) => code)
    expect(codes('{"a": "x" "n": 1}')).toEqual(['output/tolerance'])
    // What no tolerance would read is not said to need one.
    for (const text of ['No JSON here, sorry.', 'Sorry, nothing', '抱歉，没有。', '{"b": "x" "n": 1}'])
      expect(codes(text)).not.toContain('output/tolerance')
    expect(parse('[.5]', undefined, { tolerance: 1 })).toMatchObject({ ok: true, value: [0.5] })
  })
})

describe('limits', () => {
  it.each<[string, string, ParseOptions, string]>([
    ['longest text', '{"a": 1}', { limits: { bytes: 7 } }, 'limit/bytes'],
    ['deepest nesting', 'x [[[[1]]]]', { limits: { depth: 3 } }, 'limit/depth'],
    [
      'deepest nesting of valid text that needs work',
      '{"name": [[[1]]]}',
      { limits: { depth: 2 } },
      'limit/depth',
    ],
  ])('%s', (_, text, options, code) => {
    expect(parse(text, person, options).issues[0]).toMatchObject({ code, hint: expect.any(String) })
  })

  it('count every repair and list as many as allowed', () => {
    const stages = [{ name: 'own', run: () => [0] }]
    const text = `x [${'1,,'.repeat(5)}"2"]`
    const schema = { type: 'array', items: { type: 'integer' } }
    const all = parse(text, schema, { stages })
    expect(all.repairs).toHaveLength(all.repairCount)
    for (let limit = 0; limit <= all.repairCount; limit++) {
      const some = parse(text, schema, { stages, limits: { repairs: limit } })
      expect(some.repairCount).toBe(all.repairCount)
      expect(some.repairs).toEqual(all.repairs.slice(0, limit))
    }
  })

  it('stop converting when the fuel is used up', () => {
    const schema = { type: 'array', items: { type: 'integer' } }
    expect(parse('["1", "2", "3"]', schema, { limits: { steps: 2 } }).ok).toBe(false)
  })
})

describe('shadow mode', () => {
  it('changes nothing and says what would have been done', () => {
    const result = parse('{name: "Ada", age: 36}', person, { shadow: true })
    expect(result).toMatchObject({ ok: false, repairs: [] })
    expect(result.shadow).toMatchObject({ ok: true, value: { name: 'Ada', age: 36 }, repairCount: 2 })
  })

  it('has nothing to say of clean text', () => {
    expect(parse('{"name": "Ada", "age": 36}', person, { shadow: true }).shadow).toBeUndefined()
  })
})

describe('stages of the caller', () => {
  it('see the converted value, the text and the schema, and are followed by validation', () => {
    const seen: unknown[] = []
    const stage = {
      name: 'older',
      run(value: unknown, context: object) {
        seen.push(value, context)
        return { ...(value as object), age: 37 }
      },
    }
    const text = '{"name": "Ada", "age": "36"}'
    const result = parse(text, person, { stages: [stage] })
    expect(result).toMatchObject({ ok: true, value: { name: 'Ada', age: 37 } })
    expect(seen).toEqual([
      { name: 'Ada', age: 36 },
      { text, schema: person },
    ])
    expect(result.repairs.at(-1)).toMatchObject({ stage: 'custom', rule: 'older', at: { pointer: '' } })
  })

  it('run on clean text too, and leave it as it is by returning nothing', () => {
    const result = parse('{"name": "Ada", "age": 36}', person, {
      stages: [{ name: 'look', run: () => undefined }],
    })
    expect(result).toMatchObject({ ok: true, repairs: [], repairCount: 0 })
  })

  it('cannot smuggle in an invalid value', () => {
    const stages = [{ name: 'bad', run: () => ({ name: 'Ada' }) }]
    expect(outcome(parse('{"name": "Ada", "age": 36}', person, { stages }))).toEqual(['schema/required'])
  })

  it('are an issue when they throw', () => {
    const boom = {
      name: 'boom',
      run() {
        throw new Error('no')
      },
    }
    const result = parse('{"name": "Ada", "age": 36}', person, { stages: [boom] })
    expect(result.issues[0]).toMatchObject({ code: 'output/stage', message: 'stage "boom" threw: no' })
  })
})

describe('closed paths', () => {
  const envelope: JsonSchema = {
    type: 'object',
    properties: { confidence: { type: 'number' }, escalate: { type: 'boolean' } },
    required: ['confidence'],
    additionalProperties: false,
  }

  it('are never converted, while the syntax may be repaired', () => {
    const closed = ['/confidence', '/escalate']
    expect(outcome(parse('{confidence: 0.9,}', envelope, { closed }))).toEqual({ confidence: 0.9 })
    expect(outcome(parse('{"confidence": "0.9"}', envelope, { closed }))).toEqual(['schema/type'])
    expect(outcome(parse('{"confidence": "0.9"}', envelope))).toEqual({ confidence: 0.9 })
  })

  it('keep an undeclared key as an issue', () => {
    const text = '{"confidence": 0.9, "note": 1}'
    expect(outcome(parse(text, envelope))).toEqual({ confidence: 0.9 })
    expect(outcome(parse(text, envelope, { closed: ['/note'] }))).toEqual(['schema/additionalProperties'])
  })
})

describe('big integers', () => {
  const id = (type: unknown): JsonSchema => ({ type: 'object', properties: { id: { type } } }) as JsonSchema
  const text = '{"id": 12345678901234567890}'

  it('keep every digit as a string where one is allowed', () => {
    expect(outcome(parse(text, id('string')))).toEqual({ id: '12345678901234567890' })
    expect(outcome(parse(text, id(['integer', 'string'])))).toEqual({ id: '12345678901234567890' })
    expect(outcome(parse(text))).toEqual({ id: '12345678901234567890' })
  })

  it('are an issue where a number is wanted', () => {
    expect(parse(text, id('integer')).issues[0]).toMatchObject({
      code: 'number/unsafe',
      at: { pointer: '/id' },
    })
    expect(parse('{"id": "12345678901234567890"}', id('integer')).ok).toBe(false)
  })

  it('are not rounded when the text is read strictly', () => {
    expect(parse(text, undefined, { aop: 'off' }).issues[0]?.message).toContain('lose digits')
  })

  it('do not disturb digits inside strings, nor integers that a double holds', () => {
    expect(parse('{"id": "12345678901234567890"}')).toMatchObject({ ok: true, repairs: [] })
    expect(parse('[9007199254740992, 1e20]')).toMatchObject({ ok: true, repairs: [] })
  })
})

describe('duplicate keys', () => {
  it('follow JSON.parse in strict JSON, unrecorded, and are recorded where the text needs repair', () => {
    expect(parse('{"a": 1, "a": 2}')).toMatchObject({ ok: true, value: { a: 2 }, repairs: [] })
    const repaired = parse('{"a": 1, "a": 2,}')
    expect(repaired).toMatchObject({ ok: true, value: { a: 2 } })
    expect(repaired.repairs.map((repair) => repair.rule)).toContain('duplicate-key')
  })

  it.each(['{"__proto__": {"x": 1}, a: 1}', '{a: 1, "__proto__": 1, "__proto__": {"x": 1}}'])(
    'and __proto__ is a key like any other: %s',
    (text) => {
      const result = parse(text)
      expect(result.ok && Object.getOwnPropertyDescriptor(result.value, '__proto__')?.value).toEqual({ x: 1 })
      expect(({} as { x?: number }).x).toBeUndefined()
    },
  )
})

describe('NaN and its like', () => {
  const of = (schema: JsonSchema): JsonSchema => ({ type: 'object', properties: { a: schema } })

  it.each<[string, JsonSchema, unknown]>([
    ['{"a": NaN}', of({ type: ['number', 'null'] }), { a: null }],
    ['{"a": NaN}', of({}), { a: null }],
    ['{"a": NaN}', of({ type: 'number' }), ['value/not-json']],
    ['{"a": Infinity}', of({ type: 'string' }), ['value/not-json']],
    ['{"a": undefined}', of({ enum: ['x', null] }), { a: null }],
  ])('%s toward %j', (text, schema, expected) => {
    expect(outcome(parse(text, schema))).toEqual(expected)
  })
})

describe('a failure', () => {
  it('keeps the best value found, for diagnosis', () => {
    expect(parse('x {"name": "Ada"}', person)).toMatchObject({ ok: false, candidate: { name: 'Ada' } })
  })

  it('says that the text was cut off', () => {
    const result = parse('{"name": "Ada", "age', person)
    expect(result).toMatchObject({ ok: false, truncated: true })
    expect(result.issues[0]).toMatchObject({
      code: 'schema/required',
      hint: expect.stringContaining('cut off'),
    })
  })

  it.each([
    ['', 'output/empty'],
    ['  \n', 'output/empty'],
  ])('%j has no value: %s', (text, code) => {
    expect(outcome(parse(text, person))).toEqual([code])
  })
})

describe('Standard Schema values', () => {
  const Order = z.object({ id: z.string(), total: z.number().transform((n) => n * 2) })

  it('guide the reading, and their output is the value', () => {
    const result = parse('{id: "A", total: "1.5"}', Order, {
      jsonSchema: { type: 'object', properties: { id: { type: 'string' }, total: { type: 'number' } } },
    })
    expect(outcome(result)).toEqual({ id: 'A', total: 3 })
  })

  it('have the last word', () => {
    const Even = z.object({ n: z.number().refine((n) => n % 2 === 0, 'must be even') })
    expect(parse('{n: 3}', Even).issues[0]?.message).toContain('must be even')
    expect(outcome(parse('{n: 4}', Even))).toEqual({ n: 4 })
  })
})
