/** What each level of the reader promises: how deep strings are unfolded, which types change, which text is chosen, what events say. */

import { describe, expect, it } from 'vitest'
import { parseDraft } from '../../../src/domain/draft/parse-draft.ts'
import { type ParseOptions, parse, type ReaderEvent } from '../../../src/output/index.ts'
import type { JsonSchema } from '../../../src/schema/json-schema.ts'
import { problems } from '../../pipelines/support.ts'
import { wrongly } from '../../wrongly.ts'

const counted: JsonSchema = {
  type: 'object',
  properties: { a: { type: 'integer' } },
  required: ['a'],
}

function read(text: string, schema: JsonSchema, options: ParseOptions = {}) {
  const events: ReaderEvent[] = []
  const result = parse(text, schema, { ...options, onEvent: (event) => events.push(event) })
  return { value: result.ok ? result.value : undefined, ok: result.ok, result, events }
}

/** A value encoded as JSON again and again. */
const encoded = (value: unknown, times: number): string =>
  times === 0 ? JSON.stringify(value) : JSON.stringify(encoded(value, times - 1))

describe('unfolding of a text that was encoded too often', () => {
  const cases = [1, 2, 3, 4].flatMap((times) =>
    [0, 1, 2, 3, 4].flatMap((depth) =>
      (['minimal', 'full'] as const).map((aop) => ({ times, depth, aop, fits: times <= depth })),
    ),
  )
  it.each(cases)('$aop, encoded $times times, depth $depth: read is $fits', ({ times, depth, aop, fits }) => {
    const options = { aop, unescapeDepth: depth }
    expect(read(encoded({ a: 1 }, times), counted, options).ok).toBe(fits)
    expect(read(encoded([1, 2], times), { type: 'array', items: { type: 'integer' } }, options).ok).toBe(fits)
  })

  it('is bounded in size and in work (AROS-13)', () => {
    const big = { list: Array.from({ length: 2_000 }, (_, index) => ({ a: index })) }
    const schema: JsonSchema = {
      type: 'object',
      properties: { list: { type: 'array', items: counted } },
      required: ['list'],
    }
    const text = encoded(big, 2)
    expect(read(text, schema).value).toEqual(big)
    const codes = (limits: ParseOptions['limits']) => {
      const { result } = read(text, schema, { ...(limits && { limits }) })
      return result.ok ? [] : result.issues.map(({ code }) => code)
    }
    expect(codes({ bytes: text.length })).toEqual([])
    expect(codes({ bytes: text.length - 1 })).toEqual(['limit/bytes'])
    expect(codes({ steps: 1_000 })).toContain('limit/steps')
  })

  it('counts what was unfolded at the root also for strings inside', () => {
    const nested: JsonSchema = { type: 'object', properties: { o: counted }, required: ['o'] }
    const text = encoded({ o: encoded({ a: 1 }, 0) }, 1)
    expect(read(text, nested, { unescapeDepth: 2 }).value).toEqual({ o: { a: 1 } })
    expect(read(text, nested, { unescapeDepth: 1 }).ok).toBe(false)
  })

  it('leaves strings inside a value alone in minimal: that would change a type', () => {
    const nested: JsonSchema = { type: 'object', properties: { o: counted }, required: ['o'] }
    expect(read(JSON.stringify({ o: '{"a":1}' }), nested, { aop: 'minimal' }).ok).toBe(false)
  })
})

describe('minimal never changes a type, at the root neither', () => {
  const refused: [string, JsonSchema][] = [
    ['"42"', { type: 'integer' }],
    ['"42"', { type: 'number' }],
    ["'42'", { type: 'integer' }],
    ['"true"', { type: 'boolean' }],
    ['"null"', { type: 'null' }],
    ['```json\n"42"\n```', { type: 'integer' }],
    ['The answer is "42".', { type: 'integer' }],
    ['[42]', { type: 'integer' }],
    ['{"x": 42}', { type: 'integer' }],
  ]
  it.each(refused)('%s is refused', (text, schema) => {
    expect(read(text, schema, { aop: 'minimal' }).ok).toBe(false)
  })

  it.each([
    ['42', 42],
    ['The answer is 42.', 42],
    ['**42**', 42],
    ['```\n42\n```', 42],
  ])('%s is the number as written', (text, value) => {
    expect(read(text, { type: 'integer' }, { aop: 'minimal' }).value).toBe(value)
  })

  it('changes it when the conversion is allowed, and in full unless it is forbidden', () => {
    const schema = { type: 'integer' }
    expect(read('"42"', schema, { aop: 'minimal', allow: { integer: ['str->int'] } }).value).toBe(42)
    expect(read('"42"', schema).value).toBe(42)
    expect(read('"42"', schema, { allow: { integer: [] } }).ok).toBe(false)
  })
})

describe('an object and a list side by side', () => {
  it.each([
    ['{"a": 1} and [1, 2]', { a: 1 }],
    ['{a: \'1\',} and [{"a": 2}]', { a: 1 }],
    ['[{"a": 2}] and {a: \'1\',}', { a: 1 }],
  ])('%s: the object, where an object is wanted', (text, value) => {
    expect(read(text, counted).value).toEqual(value)
  })

  it.each(['{"b": 1} and [1]', '{"b": 1} and [1, 2, 3, 4, 5, 6, 7]', '[1, 2, 3] and {"b": 1}'])(
    '%s: the object is reported when neither fits',
    (text) => {
      for (const aop of ['minimal', 'full'] as const) {
        const { result } = read(text, counted, { aop })
        expect(result).toMatchObject({
          ok: false,
          candidate: { b: 1 },
          issues: [{ code: 'schema/required' }],
        })
      }
    },
  )

  it('the list, where a list is wanted', () => {
    const { value } = read('{"b": 1} and [{a: "1",}]', { type: 'array', items: counted })
    expect(value).toEqual([{ a: 1 }])
  })
})

describe('events describe the text that became the value', () => {
  const short = ({ events }: { events: readonly ReaderEvent[] }) =>
    events.map(({ type, stage }) => `${type.replace('output.coercion.', '')} ${stage}`)

  it.each([
    ['a value that does not fit failed toward the schema', '{"a": "x"}', ['fail semantic']],
    [
      'no success is reported for a text that is discarded',
      'Sure: {a: "x",}',
      ['attempt extract', 'attempt syntactic', 'fail semantic'],
    ],
    ['nothing was found', 'no value at all', ['fail extract']],
    [
      'the other candidate is not mentioned',
      "{'a': 'x',} then {\"a\": 2}",
      ['attempt extract', 'success extract'],
    ],
  ])('%s', (_, text, expected) => {
    expect(short(read(text, counted))).toEqual(expected)
  })

  it('a text that needs more tolerance fails at the stage of the rule that is not allowed', () => {
    expect(short(read('{"a": 0x1F}', counted, { aop: 'minimal' })).at(-1)).toBe('fail tolerant')
    expect(short(read('{"a": 1 "b": 2}', counted, { aop: 'minimal' })).at(-1)).toBe('fail syntactic')
  })

  it('a stage of the caller that throws fails as custom', () => {
    const stages = [
      {
        name: 'own',
        run: () => {
          throw new Error('no')
        },
      },
    ]
    expect(short(read('{"a": 1}', counted, { stages })).at(-1)).toBe('fail custom')
  })

  it.each([
    ['str->float', '{"a": "50"}', { type: 'number' }, { expected_type: 'number', actual_type: 'string' }],
    ['unwrap', '{"a": ["1"]}', { type: 'integer' }, { expected_type: 'integer', actual_type: 'array' }],
    ['wrap', '{"a": 1}', { type: 'array' }, { expected_type: 'array', actual_type: 'integer' }],
    ['str->bool', '{"a": "true"}', { type: 'boolean' }, { expected_type: 'boolean', actual_type: 'string' }],
  ])('%s names the type that the schema wants', (rule, text, member, types) => {
    const { events } = read(text, { type: 'object', properties: { a: member }, required: ['a'] })
    expect(events[0]).toEqual({ type: 'output.coercion.attempt', stage: 'semantic', reason: rule, ...types })
  })

  it('types belong to the change of that stage, and a renamed key has none', () => {
    const twice = read(encoded({ a: 1 }, 2), counted).events.filter(({ stage }) => stage === 'semantic')
    expect(twice[0]).toMatchObject({ reason: 'str->object', expected_type: 'object', actual_type: 'string' })
    expect(read('{"A": 1}', counted).events[0]).toEqual({
      type: 'output.coercion.attempt',
      stage: 'semantic',
      reason: 'key',
    })
  })
})

describe('names in allow', () => {
  it.each([
    [
      { integr: ['str->int'] },
      'Option allow must name types that can be converted to',
      'Did you mean "integer"?',
    ],
    [{ integer: ['str->itn'] }, 'Option allow.integer must list', 'Did you mean "str->int"?'],
    [{ integer: ['str->bool'] }, 'Option allow.integer must list', 'str->int'],
    [{ boolean: 'str->bool' }, 'Option allow.boolean must list', 'but is "str->bool"'],
  ])('%j is refused', (allow, message, hint) => {
    const attempt = () => parse('{}', undefined, { aop: 'minimal', allow: wrongly(allow) })
    expect(attempt).toThrow(message)
    expect(attempt).toThrow(hint)
  })

  const steps = (allow: string) =>
    `agents: { one: { model: test/m, output_schema: { type: object } } }\nsteps:\n  - { name: a, agent: one, processing: { coercion: { allow: ${allow} } } }\n`

  it.each([
    ['{ integer: [str->itn] }', 'Did you mean "str->int"?'],
    ['{ integr: [str->int] }', 'Did you mean "integer"?'],
    ['{ boolean: [str->int] }', 'str->bool'],
  ])('%s is a located error in a pipeline', (allow, hint) => {
    const [issue] = problems(steps(allow), { input: 'x' })
    expect(issue).toMatchObject({ line: 3 })
    expect(`${issue?.message} ${issue?.hint}`).toContain(hint)
  })

  it.each([
    [{ integer: ['str->itn'] }, '/allow/integer/0', 'Did you mean "str->int"?'],
    [{ integr: ['str->int'] }, '/allow', 'Did you mean "integer"?'],
  ])('%j is a located error in a draft', (allow, pointer, hint) => {
    const draft = { nodes: [{ id: 'a', capabilityId: 'x', data: { processing: { coercion: { allow } } } }] }
    const read = parseDraft(draft)
    expect(read.ok).toBe(false)
    if (read.ok) return
    expect(JSON.stringify(read.issues[0])).toContain(`/nodes/0/data/processing/coercion${pointer}`)
    expect(read.issues[0]?.hint).toBe(hint)
  })
})
