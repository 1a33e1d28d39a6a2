/**
 * The specifications' own test list for the reader (AROS-67, AROS-68, AROS-70, FSD-40), one promise per line. Where a
 * later decision overrides the original behaviour, the decision is tested and named.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../src/index.ts'
import {
  explain,
  feedback,
  normalizeJsonText,
  type ParseOptions,
  parse,
  parseAndValidate,
  type ReaderEvent,
  replay,
  simplifySchema,
} from '../../src/output/index.ts'

const anyObject = { type: 'object' }
const anyList = { type: 'array' }
const counted = requireValue({ type: 'integer' })

/** An object whose only, required property is `v`. */
function requireValue(schema: JsonSchema): JsonSchema {
  return { type: 'object', properties: { v: schema }, required: ['v'] }
}

function read(text: string, schema?: JsonSchema, options?: ParseOptions): unknown {
  const result = parse(text, schema, options)
  if (!result.ok) throw new Error(explain(result))
  return result.value
}

/** How `v` is read, given as a JavaScript value in otherwise clean JSON. */
function readV(v: unknown, schema: JsonSchema, options?: ParseOptions): unknown {
  return (read(JSON.stringify({ v }), requireValue(schema), options) as { v: unknown }).v
}

function refusesV(v: unknown, schema: JsonSchema, options?: ParseOptions): void {
  const result = parse(JSON.stringify({ v }), requireValue(schema), options)
  expect(result.ok, explain(result)).toBe(false)
  expect(result.issues.length).toBeGreaterThan(0)
}

function eventsOf(text: string, schema?: JsonSchema, options: ParseOptions = {}): ReaderEvent[] {
  const events: ReaderEvent[] = []
  parse(text, schema, { ...options, onEvent: (event) => events.push(event) })
  return events
}

function encoded(value: unknown, times: number): string {
  let text = JSON.stringify(value)
  for (let i = 0; i < times; i++) text = JSON.stringify(text)
  return text
}

function timed(run: () => void): number {
  const start = performance.now()
  run()
  return performance.now() - start
}

describe('stage 0: extraction', () => {
  it.each(['{"a":1}', '[1,{"b":[]}]', ' {"a": 1}\n'])('passes clean JSON through untouched: %j', (text) => {
    const result = parse(text)
    expect(result).toMatchObject({
      ok: true,
      value: JSON.parse(text),
      repairs: [],
      repairCount: 0,
      raw: text,
    })
  })

  it.each([
    ['leading prose', 'Here is the result: {"a": 1}'],
    ['trailing prose', '{"a": 1} I hope this helps!'],
    ['prose on both sides', 'Sure.\n\n{"a": 1}\n\nAnything else?'],
    ['a fence', '```json\n{"a": 1}\n```'],
    ['a fence without a language', '```\n{"a": 1}\n```'],
    ['a fence that never ends', '```json\n{"a": 1}'],
    ['a fence in prose', 'Sure:\n```json\n{"a": 1}\n```\nDone.'],
    ['an apostrophe before the JSON', 'Here\'s the JSON: {"a":1}'],
    ['a number before the JSON', '42 is the answer {"a":1}'],
    ['prose in another script', '以下は結果です：{"a":1}。'],
  ])('finds the object in %s', (_, text) => {
    expect(read(text, anyObject)).toEqual({ a: 1 })
    expect(read(text)).toEqual({ a: 1 })
  })

  it.each(['Open with { and go on. {"a":1}', 'As said in [1, the answer is {"a":1}'])(
    'is not misled by a stray bracket in prose: %j',
    (text) => {
      expect(read(text, anyObject)).toEqual({ a: 1 })
    },
  )

  it('finds a deeply nested value in prose', () => {
    const deep = `${'{"a":['.repeat(100)}1${']}'.repeat(100)}`
    expect(read(`See: ${deep} and so on`, anyObject)).toEqual(JSON.parse(deep))
  })

  it('lets the root type of the schema choose between an object and a list (AROS-12)', () => {
    const text = 'Keys: ["x", "y", "z", "and more"]. Value: {"a": 1}'
    expect(read(text, anyObject)).toEqual({ a: 1 })
    expect(read(text, anyList)).toEqual(['x', 'y', 'z', 'and more'])
  })

  it('lets the schema choose between two blocks, then takes the first (C13, not the largest)', () => {
    const text = '```json\n{"v": 1}\n```\nor\n```json\n{"v": 2, "more": "and longer"}\n```'
    expect(read(text, counted)).toEqual({ v: 1 })
    expect(read(text, { ...(counted as object), required: ['v', 'more'] })).toEqual({
      v: 2,
      more: 'and longer',
    })
  })

  it('takes the largest or the last block when asked to', () => {
    const text = 'A: {"v": 1}\nB: {"v": 2, "more": "and longer"}\nC: {"v": 3}'
    expect(read(text, counted, { prefer: 'first' })).toEqual({ v: 1 })
    expect(read(text, counted, { prefer: 'largest' })).toEqual({ v: 2, more: 'and longer' })
    expect(read(text, counted, { prefer: 'last' })).toEqual({ v: 3 })
  })

  it('takes a text without JSON as it is where a string is wanted, and nowhere else', () => {
    expect(read('no JSON here', { type: 'string' })).toBe('no JSON here')
    expect(parse('no JSON here', anyObject)).toMatchObject({ ok: false, raw: 'no JSON here' })
  })

  it('finds the same value inside any text', () => {
    const values = fc.object({
      values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)],
      maxDepth: 3,
    })
    const around = fc.constantFrom(
      (json: string) => json,
      (json: string) => `Here's what I found: ${json}\nThat's all.`,
      (json: string) => `\`\`\`json\n${json}\n\`\`\``,
      (json: string) => `<think>Let me see {x}.</think>\n${json}`,
      (json: string) => JSON.stringify(json),
      (json: string) => `\`\`\`\n${JSON.stringify(json)}\n\`\`\``,
    )
    fc.assert(
      fc.property(values, around, (value, wrap) => {
        const json = JSON.stringify(value)
        expect(JSON.stringify(read(wrap(json), anyObject))).toBe(JSON.stringify(JSON.parse(json)))
      }),
      { numRuns: 300, seed: 67 },
    )
  })
})

describe('stage 0: bounded unescape', () => {
  it('unfolds JSON inside a string where the schema wants an object', () => {
    expect(read('"{\\"x\\": 5}"', anyObject)).toEqual({ x: 5 })
  })

  it('leaves a valid JSON string alone where nothing asks for more', () => {
    expect(read('"{\\"x\\": 5}"')).toBe('{"x": 5}')
    expect(read('"{\\"x\\": 5}"', { type: 'string' })).toBe('{"x": 5}')
  })

  it.each([1, 2])('unfolds %i levels by default', (times) => {
    expect(read(encoded({ x: [5] }, times), anyObject)).toEqual({ x: [5] })
  })

  it('stops at the depth that is allowed', () => {
    expect(parse(encoded({ x: 5 }, 3), anyObject).ok).toBe(false)
    expect(parse(encoded({ x: 5 }, 1), anyObject, { unescapeDepth: 0 }).ok).toBe(false)
    expect(read(encoded({ x: 5 }, 3), anyObject, { unescapeDepth: 3 })).toEqual({ x: 5 })
  })
})

const REPAIRED: readonly [what: string, text: string, value: unknown][] = [
  ['trailing commas', '{"a": [1, 2,], "b": {"c": 3,},}', { a: [1, 2], b: { c: 3 } }],
  ['a line comment', '{"a": 1, // one\n "b": 2}', { a: 1, b: 2 }],
  ['a hash comment', '{"a": 1, # one\n "b": 2}', { a: 1, b: 2 }],
  ['a block comment', '{/* first */ "a": 1}', { a: 1 }],
  ['Python literals', '{"a": None, "b": True, "c": False}', { a: null, b: true, c: false }],
  ['single quotes', "{'a': 'it\\'s', 'b': ['c']}", { a: "it's", b: ['c'] }],
  ['bare keys', '{a: 1, b_2: "x"}', { a: 1, b_2: 'x' }],
  ['a JSON prefix with a tail', '{"a": 1}, that is all', { a: 1 }],
  [
    'words like literals inside strings',
    '{\'a\': "None here, True there", b: 1}',
    { a: 'None here, True there', b: 1 },
  ],
  [
    'comment signs inside strings',
    '{"url": "http://x.y/#z", "c": "a // b /* c */",}',
    { url: 'http://x.y/#z', c: 'a // b /* c */' },
  ],
  ['fences inside strings', '{"md": "```json\\n{}\\n```", "n": 1,}', { md: '```json\n{}\n```', n: 1 }],
  ['reasoning tags inside strings', '{"s": "<think>no</think>", "n": 1,}', { s: '<think>no</think>', n: 1 }],
  ['closers that are missing', '{"a": [{"b": 1}, {"c": [2]', { a: [{ b: 1 }, { c: [2] }] }],
  ['a key without a value', '{"a": , "b": 2}', { b: 2 }],
  ['NaN where nothing forbids null', '{"a": NaN}', { a: null }],
]

describe('deterministic repair', () => {
  it.each(REPAIRED)('repairs %s', (_, text, value) => {
    expect(read(text, anyObject)).toEqual(value)
  })

  it.each(REPAIRED)('can replay how it repaired %s', (_, text, value) => {
    const { repairs, repairCount } = parse(text, anyObject)
    expect(repairCount).toBeGreaterThan(0)
    expect(replay(text, repairs)).toEqual(value)
  })

  it('closes what is open in the right order and says that the text was cut off', () => {
    const result = parse('{"a":[1,2', anyObject)
    expect(result).toMatchObject({ ok: true, truncated: true })
    expect(result.ok && (result.value as { a: number[] }).a[0]).toBe(1)
    expect(read('{"a":[1,2]', anyObject)).toEqual({ a: [1, 2] })
  })

  it('keeps a string that was cut off only if the caller accepts it', () => {
    const schema = requireValue({ type: 'string' })
    expect(parse('{"v": "half a sen', schema)).toMatchObject({ ok: false, truncated: true })
    expect(read('{"v": "half a sen', schema, { acceptTruncated: true })).toEqual({ v: 'half a sen' })
  })

  it('never yields a number that JSON cannot hold', () => {
    expect(parse('{"v": NaN}', requireValue({ type: 'number' })).ok).toBe(false)
    expect(parse('{"v": 1e400}', requireValue({ type: 'number' })).ok).toBe(false)
    refusesV('1e400', { type: 'number' })
    refusesV('NaN', { type: 'number' })
  })

  it('lets the last of duplicate keys win, and records it where text had to be repaired', () => {
    const result = parse('{"a": 1, "a": 2,}', anyObject)
    expect(result).toMatchObject({ ok: true, value: { a: 2 } })
    expect(result.repairCount).toBeGreaterThan(1)
  })

  it('never loses the digits of a big integer silently', () => {
    expect(read('{"v": 12345678901234567890}', requireValue({ type: ['integer', 'string'] }))).toEqual({
      v: '12345678901234567890',
    })
    expect(parse('{"v": 12345678901234567890}', counted).ok).toBe(false)
  })

  it('chains every stage on one text', () => {
    const schema = requireValue({
      type: 'array',
      items: { type: 'object', properties: { n: { type: 'integer' } } },
    })
    const text = `Here's it:\n\`\`\`json\n{'v': "[{\\"n\\": \\"7\\"}, {\\"n\\": 8}]", // done\n}\n\`\`\``
    expect(read(text, schema)).toEqual({ v: [{ n: 7 }, { n: 8 }] })
  })

  it('returns what it cannot read as issues, never as an empty value', () => {
    const result = parse('I could not find any orders, sorry.', { type: 'array', items: anyObject })
    expect(result.ok).toBe(false)
    expect(result).not.toHaveProperty('value')
  })
})

describe('coercion', () => {
  it.each<[unknown, JsonSchema, unknown]>([
    ['42', { type: 'integer' }, 42],
    ['-7', { type: 'integer' }, -7],
    ['+7', { type: 'integer' }, 7],
    ['3.14', { type: 'number' }, 3.14],
    ['1e3', { type: 'number' }, 1000],
    ['12,000', { type: 'number' }, 12000],
    ['true', { type: 'boolean' }, true],
    ['False', { type: 'boolean' }, false],
    ['[1, 2]', { type: 'array', items: { type: 'integer' } }, [1, 2]],
    ['["1", "2"]', { type: 'array', items: { type: 'integer' } }, [1, 2]],
    ['{"a": 1}', { type: 'object' }, { a: 1 }],
    ['RED ', { enum: ['red', 'green'] }, 'red'],
    ['x', { type: 'array', items: { type: 'string' } }, ['x']],
    [[5], { type: 'integer' }, 5],
  ])('reads %j under %j as %j', (v, schema, value) => {
    expect(readV(v, schema)).toEqual(value)
  })

  it.each<[unknown, JsonSchema]>([
    [null, { type: 'integer' }],
    ['', { type: 'integer' }],
    [' ', { type: 'number' }],
    [true, { type: 'integer' }],
    [3.7, { type: 'integer' }],
    ['3.7', { type: 'integer' }],
    ['forty-two', { type: 'integer' }],
    ['yes', { type: 'boolean' }],
    [1, { type: 'boolean' }],
    [true, { enum: [1] }],
    ['Á', { enum: ['A', 'a'] }],
    ['150', { type: 'integer', maximum: 100 }],
    ['[1, 2', { type: 'integer' }],
  ])('refuses %j under %j', (v, schema) => {
    refusesV(v, schema)
  })

  it('converts words and numbers to booleans only when that is allowed by name', () => {
    const allow = { boolean: ['str->bool', 'word->bool', 'num->bool'] } as const
    expect(['1', '0', 'yes', 'off', 1, 0].map((v) => readV(v, { type: 'boolean' }, { allow }))).toEqual([
      true,
      false,
      true,
      false,
      true,
      false,
    ])
    refusesV(2, { type: 'boolean' }, { allow })
    refusesV('maybe', { type: 'boolean' }, { allow })
  })

  it('follows references, type lists and allOf, and respects bounds', () => {
    const nested = {
      ...(requireValue({ allOf: [{ $ref: '#/$defs/n' }, { minimum: 1 }] }) as object),
      $defs: { n: { type: ['integer', 'null'] } },
    }
    expect(read('{"v":"5"}', nested)).toEqual({ v: 5 })
    expect(read('{"v":null}', nested)).toEqual({ v: null })
    expect(parse('{"v":"0"}', nested).ok).toBe(false)
  })

  it('converts deep inside lists and objects', () => {
    const row = { type: 'object', properties: { id: { type: 'integer' }, ok: { type: 'boolean' } } }
    expect(
      readV(
        [
          { id: '1', ok: 'true' },
          { id: 2, ok: false },
        ],
        { type: 'array', items: row },
      ),
    ).toEqual([
      { id: 1, ok: true },
      { id: 2, ok: false },
    ])
  })

  it('keeps a value that is valid under some branch of a union (C61)', () => {
    expect(readV('true', { anyOf: [{ type: 'boolean' }, { type: 'string' }] })).toBe('true')
  })

  it('tries the branches in order when nothing is valid at once, and says which it took', () => {
    const result = parse('{"v":"5"}', requireValue({ oneOf: [{ type: 'boolean' }, { type: 'integer' }] }))
    expect(result).toMatchObject({ ok: true, value: { v: 5 }, branches: { '/v': 1 } })
    const rooted = eventsOf('```\n"5"\n```', { anyOf: [{ type: 'boolean' }, { type: 'integer' }] })
    expect(rooted).toContainEqual(
      expect.objectContaining({ type: 'output.coercion.success', branch_index: 1 }),
    )
  })

  it('never invents what is missing', () => {
    const schema = { ...(counted as object), properties: { v: { type: 'integer', default: 1 } } }
    expect(parse('{}', schema)).toMatchObject({ ok: false })
    expect(parse('{"v": }', schema)).toMatchObject({ ok: false })
    expect(read('{}', schema, { defaults: true })).toEqual({ v: 1 })
  })

  it('drops list items only when asked to', () => {
    const schema = { type: 'array', items: { type: 'integer' } }
    refusesV([1, 'two', 3], schema)
    expect(readV([1, 'two', 3], schema, { salvage: true })).toEqual([1, 3])
  })

  it('converts nothing on closed paths (C47)', () => {
    refusesV('5', { type: 'integer' }, { closed: ['/v'] })
  })

  it('records every conversion so that it can be replayed', () => {
    const text = 'Answer: {"V": "42", "list": "[\\"1\\"]", "extra": 1,}'
    const schema = {
      type: 'object',
      additionalProperties: false,
      properties: { v: { type: 'integer' }, list: { type: 'array', items: { type: 'integer' } } },
    }
    const result = parse(text, schema)
    expect(result).toMatchObject({ ok: true, value: { v: 42, list: [1] } })
    expect(replay(text, result.repairs)).toEqual({ v: 42, list: [1] })
    expect(explain(result)).toMatch(/^The value was read after \d+ changes\./)
  })
})

describe('levels', () => {
  it('off only parses strictly', () => {
    expect(read('{"v":1}', counted, { aop: 'off' })).toEqual({ v: 1 })
    expect(parse('```\n{"v":1}\n```', counted, { aop: 'off' }).ok).toBe(false)
  })

  it('minimal extracts and repairs', () => {
    expect(read("Sure: ```json\n{'v': 1,}\n```", counted, { aop: 'minimal' })).toEqual({ v: 1 })
  })

  it('minimal never changes types unless conversions are allowed by name (C2)', () => {
    refusesV('42', { type: 'integer' }, { aop: 'minimal' })
    refusesV('x', { type: 'array' }, { aop: 'minimal' })
    refusesV('RED', { enum: ['red'] }, { aop: 'minimal' })
    expect(readV('42', { type: 'integer' }, { aop: 'minimal', allow: { integer: ['str->int'] } })).toBe(42)
    expect(readV('x', { type: 'array' }, { aop: 'minimal', allow: { array: ['wrap'] } })).toEqual(['x'])
    refusesV('3.14', { type: 'number' }, { aop: 'minimal', allow: { integer: ['str->int'] } })
  })

  it('full drops undeclared keys of a closed object, minimal reports them', () => {
    const schema = { ...(counted as object), additionalProperties: false }
    expect(read('{"v": 1, "x": 2}', schema)).toEqual({ v: 1 })
    expect(parse('{"v": 1, "x": 2}', schema, { aop: 'minimal' }).ok).toBe(false)
  })

  it('tolerance 0 does not read JSON5 numbers, 1 does', () => {
    expect(parse('{"v": 0x1F}', counted, { aop: 'minimal', tolerance: 0 }).ok).toBe(false)
    expect(read('{"v": 0x1F}', counted, { aop: 'minimal', tolerance: 1 })).toEqual({ v: 31 })
  })

  it('tolerance 2 also reads unescaped quotes inside strings', () => {
    const text = '{"v": "he said "hi" to me", "w": 1}'
    const schema = requireValue({ type: 'string' })
    expect(read(text, schema, { tolerance: 2 })).toEqual({ v: 'he said "hi" to me', w: 1 })
    expect(parse(text, schema, { tolerance: 1 })).not.toMatchObject({ value: { v: 'he said "hi" to me' } })
  })
})

const FIELDS: Readonly<Record<ReaderEvent['type'], readonly string[]>> = {
  'output.coercion.attempt': ['type', 'stage', 'reason', 'expected_type', 'actual_type', 'shadow'],
  'output.coercion.success': ['type', 'stage', 'transforms', 'branch_index', 'branch_choices', 'shadow'],
  'output.coercion.fail': ['type', 'stage', 'error_preview', 'shadow'],
}

describe('events', () => {
  it.each<[string, JsonSchema | undefined]>([
    ['{"v": 1}', counted],
    ['[1, 2]', undefined],
    ['  {"v": 1}\n', counted],
    ['"text"', { type: 'string' }],
  ])('there are none when nothing had to be changed: %j', (text, schema) => {
    expect(eventsOf(text, schema)).toEqual([])
  })

  it('have the names, stages and fields of the specification (AROS-54…56)', () => {
    const events = [
      ...eventsOf('Sure: ```json\n{"v": "7",}\n```', counted),
      ...eventsOf('no JSON at all', counted),
    ]
    for (const event of events) {
      expect(Object.keys(FIELDS)).toContain(event.type)
      expect(['extract', 'tolerant', 'syntactic', 'semantic', 'custom']).toContain(event.stage)
      expect(FIELDS[event.type]).toEqual(expect.arrayContaining(Object.keys(event)))
    }
    expect(new Set(events.map((event) => event.type))).toEqual(new Set(Object.keys(FIELDS)))
  })

  it('announce an attempt before its success, with the transforms that were made', () => {
    const events = eventsOf('```json\n{"v": "7"}\n```', counted)
    for (const [index, event] of events.entries()) {
      if (event.type !== 'output.coercion.success') continue
      expect(event.transforms.length).toBeGreaterThan(0)
      const before = events.slice(0, index)
      expect(
        before.some(({ type, stage }) => type === 'output.coercion.attempt' && stage === event.stage),
      ).toBe(true)
    }
    expect(events.map(({ type, stage }) => `${type} ${stage}`)).toEqual(
      expect.arrayContaining(['output.coercion.success extract', 'output.coercion.success semantic']),
    )
  })

  it('name the expected and the actual type of a conversion', () => {
    expect(eventsOf('{"v": "7"}', counted)).toContainEqual(
      expect.objectContaining({
        type: 'output.coercion.attempt',
        stage: 'semantic',
        expected_type: 'integer',
        actual_type: 'string',
      }),
    )
  })

  it('say why nothing could be read', () => {
    const fails = eventsOf('no JSON at all', counted).filter((event) => event.type === 'output.coercion.fail')
    expect(fails.length).toBeGreaterThan(0)
    for (const fail of fails) expect(fail).toMatchObject({ error_preview: expect.stringMatching(/./) })
  })
})

describe('shadow mode', () => {
  const text = '```json\n{"v": "7"}\n```'

  it('changes nothing and says what would have been done', () => {
    const result = parse(text, counted, { shadow: true })
    expect(result.ok).toBe(parse(text, counted, { aop: 'off' }).ok)
    expect(result).toMatchObject({ raw: text, repairs: [], repairCount: 0 })
    expect(result.shadow).toMatchObject({ ok: true, value: { v: 7 } })
    expect(result.shadow?.repairCount).toBeGreaterThan(0)
    expect(explain(result)).toContain('Shadow mode')
  })

  it('marks its events', () => {
    const events = eventsOf(text, counted, { shadow: true })
    expect(events.length).toBeGreaterThan(0)
    for (const event of events) expect(event.shadow).toBe(true)
  })

  it('is silent on clean text', () => {
    expect(eventsOf('{"v": 7}', counted, { shadow: true })).toEqual([])
    expect(read('{"v": 7}', counted, { shadow: true })).toEqual({ v: 7 })
  })
})

describe('custom stages', () => {
  it('run last, on the converted value, and are recorded', () => {
    const seen: unknown[] = []
    const add = {
      name: 'add-one',
      run(value: unknown) {
        seen.push(structuredClone(value))
        return { v: (value as { v: number }).v + 1 }
      },
    }
    const text = '```json\n{"v": "7"}\n```'
    const result = parse(text, counted, { stages: [add] })
    expect(seen).toEqual([{ v: 7 }])
    expect(result).toMatchObject({ ok: true, value: { v: 8 } })
    expect(result.repairs.at(-1)?.stage).toBe('custom')
    expect(replay(text, result.repairs)).toEqual({ v: 8 })
  })

  it('leave the value alone by returning undefined', () => {
    expect(read('{"v": 7}', counted, { stages: [{ name: 'look', run: () => undefined }] })).toEqual({ v: 7 })
  })

  it('are followed by the strict final validation (AROS-24)', () => {
    const spoil = { name: 'spoil', run: () => ({ v: 'seven' }) }
    expect(parse('```json\n{"v": "7"}\n```', counted, { stages: [spoil] }).ok).toBe(false)
  })
})

describe('guards', () => {
  it('refuses a text beyond the size limit with an issue', () => {
    const result = parse(`{"v": "${'x'.repeat(1000)}"}`, anyObject, { limits: { bytes: 500 } })
    expect(result.ok).toBe(false)
    expect(result.issues.length).toBeGreaterThan(0)
  })

  it('refuses nesting beyond the depth limit with an issue', () => {
    const deep = `Look: ${'['.repeat(50)}${']'.repeat(50)}`
    expect(parse(deep, anyList, { limits: { depth: 20 } }).ok).toBe(false)
    expect(parse(deep, anyList).ok).toBe(true)
  })

  it('says how many repairs there were when it lists fewer', () => {
    const result = parse(`[${'None,'.repeat(100)}]`, anyList, { limits: { repairs: 10 } })
    expect(result.repairs.length).toBeLessThanOrEqual(10)
    expect(result.repairCount).toBeGreaterThanOrEqual(100)
  })

  it.each<[what: string, text: string]>([
    ['100,000 open brackets', '['.repeat(100_000)],
    ['100,000 open objects', '{"a":'.repeat(100_000)],
    ['a fence of 100 KB of spaces', `\`\`\`json${' '.repeat(100_000)}`],
    ['a fence of 100 KB of spaces that ends', `\`\`\`json${' '.repeat(100_000)}\n{"a":1}\n\`\`\``],
    ['200,000 trailing commas', `[${'1,'.repeat(200_000)}]${','.repeat(200_000)}`],
    ['100 KB of unescaped quotes', `{"a": "${'x "y" '.repeat(20_000)}"}`],
    ['100,000 stray braces', '{ '.repeat(100_000)],
    ['100,000 apostrophes', "it's ".repeat(100_000)],
    ['50,000 fences', '```\n'.repeat(50_000)],
  ])('answers quickly on %s', (_, text) => {
    expect(timed(() => parse(text, anyObject))).toBeLessThan(5_000)
  })

  it('costs little on correct output (AROS-70)', () => {
    const rows = Array.from({ length: 100 }, (_, id) => ({ id, name: `name ${id}`, tags: ['a', 'b'] }))
    const text = JSON.stringify(rows)
    for (let i = 0; i < 20; i++) parse(text, anyList)
    expect(timed(() => parse(text, anyList))).toBeLessThan(50)
  })

  it('treats __proto__ as an ordinary key', () => {
    const value = read("{'__proto__': {'polluted': True}}", anyObject)
    expect(JSON.stringify(value)).toBe('{"__proto__":{"polluted":true}}')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('normaliser (FSD-40)', () => {
  it.each([
    ['strips fences', '```json\n{"a": 1}\n```', '{"a":1}'],
    ['normalises quotes', "{'a': “b”}", '{"a":"b"}'],
    ['drops trailing commas', '{"a": [1,],}', '{"a":[1]}'],
    ['takes the last balanced object', 'Draft: {"a": 1}. Final: {"a": 2}.', '{"a":2}'],
    ['returns what it cannot read', ' nothing to see ', 'nothing to see'],
  ])('%s', (_, text, json) => {
    expect(normalizeJsonText(text)).toBe(json)
  })

  it('gives the object or throws', () => {
    expect(parseAndValidate('Result: {"v": "7"}', counted)).toEqual({ v: 7 })
    expect(() => parseAndValidate('Result: {"v": "seven"}', counted)).toThrow(/holds no valid value/)
  })

  it('gives a model only what the issues contain (FSD-38)', () => {
    const { issues } = parse('My secret prompt says: {"v": "seven"}', counted)
    const text = feedback(issues)
    expect(text).toContain('/v')
    expect(text).not.toContain('secret')
    expect(text).toMatch(/Return only the corrected JSON\.$/)
  })
})

describe('schema simplifier (FSD-36)', () => {
  it('comes back from flat strings to a value of the original schema', () => {
    const schema = {
      type: 'object',
      required: ['customer', 'items'],
      properties: {
        customer: { type: 'object', required: ['age'], properties: { age: { type: 'integer' } } },
        items: { type: 'array', items: { type: 'object', properties: { qty: { type: 'number' } } } },
        paid: { type: 'boolean' },
      },
    }
    const flat = { customer_age: '36', items_json: '[{"qty": "1.5"}]', paid: 'true' }
    const { value, missing } = simplifySchema(schema).restore(flat)
    expect(missing).toEqual([])
    expect(read(JSON.stringify(value), schema)).toEqual({
      customer: { age: 36 },
      items: [{ qty: 1.5 }],
      paid: true,
    })
  })
})
