/** The reader returns a result for every text and every schema: nested and recursive unions included, whatever the depth. */
import { describe, expect, it } from 'vitest'
import { type AnySchema, createReader, parse } from '../../../src/output/index.ts'
import { parseCounted } from '../../../src/output/parse.ts'

const NULLABLE_UNION = { anyOf: [{ anyOf: [{ type: 'string' }, { type: 'integer' }] }, { type: 'null' }] }
const LIST_OF_ITSELF = {
  type: 'object',
  properties: { a: { $ref: '#/$defs/list' } },
  $defs: { list: { type: 'array', items: { $ref: '#/$defs/list' } } },
}
const RECURSIVE = {
  type: 'array',
  items: { oneOf: [{ $ref: '#/$defs/u' }, { type: 'string' }] },
  $defs: {
    t: {
      anyOf: [
        { type: 'string' },
        { type: 'array', items: { $ref: '#/$defs/t' } },
        { type: 'object', properties: { next: { $ref: '#/$defs/u' } } },
      ],
    },
    u: { oneOf: [{ $ref: '#/$defs/t' }, { type: 'null' }] },
  },
}

describe('unions', () => {
  it('inside a union are converted like one union', () => {
    const schema = { type: 'object', properties: { a: NULLABLE_UNION }, required: ['a'] }
    expect(parse("{'a': [7]}", schema)).toMatchObject({ ok: true, value: { a: '[7]' } })
    expect(parse('{"a": null,}', schema)).toMatchObject({ ok: true, value: { a: null } })
    expect(parse('{"a": 7,}', schema)).toMatchObject({ ok: true, value: { a: 7 } })
    const numbers = { anyOf: [{ anyOf: [{ type: 'integer' }, { type: 'boolean' }] }, { type: 'null' }] }
    expect(parse('{"a": "7"}', { type: 'object', properties: { a: numbers } })).toMatchObject({
      ok: true,
      value: { a: 7 },
    })
  })

  it('a list of itself is not wrapped without end', () => {
    expect(parse("{'a': true}", LIST_OF_ITSELF).ok).toBe(false)
    expect(parse("{'a': [[1]]}", LIST_OF_ITSELF).ok).toBe(false)
    expect(parse("{'a': [[], []]}", LIST_OF_ITSELF)).toMatchObject({ ok: true, value: { a: [[], []] } })
  })

  it('that refer to themselves are tried within the allowance', () => {
    for (const text of [
      "[1,2,[3{a:'x',b:{c:'3'}}",
      "[1,2,[3,{next:'x',b:{c:'3'}}]]",
      `[${'{next:'.repeat(200)}4${'}'.repeat(200)}]`,
      `[${"{'next':[".repeat(100)}`,
    ]) {
      const result = parse(text, RECURSIVE)
      expect(result.ok || result.issues.length > 0).toBe(true)
    }
  })

  it('convert every item of a long list in time that grows with the list', () => {
    const schema = { type: 'array', items: { anyOf: [{ type: 'integer' }, { type: 'null' }] } }
    const result = parse(JSON.stringify(Array.from({ length: 20_000 }, (_, i) => String(i))), schema)
    expect(result.ok && (result.value as number[])[19_999]).toBe(19_999)
    expect(Object.keys(result.branches)).toHaveLength(20_000)
  })
})

describe('the allowance of steps', () => {
  it('ends in an issue that says where', () => {
    const result = parse('{"a": ["1", "2", "3"', { type: 'object' }, { limits: { steps: 10 } })
    expect(result.ok).toBe(false)
    expect(result.issues[0]).toMatchObject({ code: 'limit/steps', at: { span: [0, 0] } })
    const list = { type: 'array', items: { type: 'integer' } }
    const within = parse('["1","2","3","4","5"]', list, { limits: { steps: 170 } })
    expect(within.issues[0]).toMatchObject({ code: 'limit/steps', at: { pointer: '/3' } })
  })

  it('grows with the text: repeated shapes never reach it', () => {
    const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] }
    for (const motif of [
      '```json\n{"a":1\n```\n',
      '<think>{"a":</think>',
      '```json\n{"a":"x\n```\n',
      "k0:'v',",
    ]) {
      const text = motif.repeat(20_000 / motif.length)
      for (const wanted of [undefined, schema, { type: 'array', items: { type: 'string' } }]) {
        expect(parse(text, wanted).issues.map((issue) => issue.code)).not.toContain('limit/steps')
      }
    }
  })
})

describe('work that is not reading', () => {
  /** Steps for a text of n and of 2n characters. */
  const growth = (make: (n: number) => string, schema?: AnySchema): number => {
    const [short, long] = [10_000, 20_000].map((n) => parseCounted(make(n), schema).steps)
    return (long as number) / (short as number)
  }

  it('looking ahead is charged, so that no text makes the decoder look for longer than it may', () => {
    const hungry = `["${'" '.repeat(4_000)}`
    const { steps } = parseCounted(hungry)
    expect(steps).toBeGreaterThan(6 * hungry.length)
    const stopped = parse(hungry, undefined, { limits: { steps: 10_000 } })
    expect(stopped).toMatchObject({
      ok: false,
      issues: [{ code: 'limit/steps', at: { span: expect.any(Array) } }],
    })
  })

  it('validating a whole value is charged', () => {
    const list = { type: 'array', items: { type: 'integer' }, maxItems: 1 }
    const text = `[${'1,'.repeat(5_000)}1]`
    expect(parseCounted(text, list).steps).toBeGreaterThan(text.length)
  })

  it.each([
    ['line breaks alone', (n: number) => '\n'.repeat(n)],
    ['line breaks in a key', (n: number) => `{"a${'\n'.repeat(n)}`],
    ['line breaks after a bare value', (n: number) => `{a: b${'\n'.repeat(n)}}`],
    ['comments that never end', (n: number) => '[/*'.repeat(n / 3)],
    ['fences between lists', (n: number) => `[1]${'`'.repeat(n)}![2]`],
    ['brackets on lines of their own in a string', (n: number) => `["${'\n}'.repeat(n / 2)}x" y"`],
  ])('%s take linear work and no time to speak of', (_, make) => {
    const schemas = [
      undefined,
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
      { type: 'array', items: { type: 'string' } },
    ]
    for (const schema of schemas) {
      expect(growth(make, schema)).toBeLessThanOrEqual(2.5)
      const begun = performance.now()
      parse(make(100_000), schema)
      expect(performance.now() - begun).toBeLessThan(5_000)
    }
  })

  it('thousands of members are converted in linear time', () => {
    const members = Array.from({ length: 50_000 }, (_, i) => `k${i}:1`).join()
    const begun = performance.now()
    const texts = { type: 'object', additionalProperties: { type: 'string' } }
    expect(parse(`{${members}}`, texts)).toMatchObject({ ok: true, value: { k49999: '1' } })
    const names = Array.from({ length: 100 }, (_, i) => [`name${i}`, { type: 'integer' }])
    expect(parse(`{${members}}`, { type: 'object', properties: Object.fromEntries(names) }).ok).toBe(true)
    expect(performance.now() - begun).toBeLessThan(20_000)
  })
})

describe('depth', () => {
  const trap = {
    anyOf: [1, 2].map((maxProperties) => ({
      type: 'object',
      properties: { x: { $ref: '#' } },
      required: ['x'],
      maxProperties,
    })),
  }
  const chain = (depth: number, leaf = '{}') => `${"{'x':".repeat(depth)}${leaf}${'}'.repeat(depth)}`

  it('costs no more than it is long where every alternative of a union recurses', () => {
    for (const text of [chain(200), chain(200).replaceAll("'", '"')]) {
      const result = parse(text, trap)
      expect(result.ok).toBe(false)
      expect(result.issues.map((issue) => issue.code)).not.toContain('limit/steps')
    }
    const [short, long] = [100, 200].map((depth) => parseCounted(chain(depth), trap).steps)
    expect((long as number) / (short as number)).toBeLessThanOrEqual(2.5)
  })

  it('costs no more than it is long where a value at the bottom must be converted', () => {
    const kinds = ['p', 'q', 'r'].map((kind) => ({
      type: 'object',
      properties: { kind: { const: kind }, a: { $ref: '#' }, b: { type: 'integer' } },
      required: ['kind'],
    }))
    const text = (depth: number) => `${"{kind:'r',a:".repeat(depth)}{kind:'r',b:'3'}${'}'.repeat(depth)}`
    const [short, long] = [200, 400].map((depth) => parseCounted(text(depth), { anyOf: kinds }))
    expect([short?.result.ok, long?.result.ok]).toEqual([true, true])
    expect((long?.steps as number) / (short?.steps as number)).toBeLessThanOrEqual(2.5)
    const branches = Object.values(long?.result.branches ?? {})
    expect([branches.length, new Set(branches)]).toEqual([401, new Set([2])])
  })

  it('is refused where definitions that use each other twice would take forever', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 40 }, (_, i) => [
        `d${i}`,
        {
          anyOf: [1, 2].map((maxProperties) => ({
            type: 'object',
            properties: { x: i === 39 ? { const: 1 } : { $ref: `#/$defs/d${i + 1}` } },
            required: ['x'],
            maxProperties,
          })),
        },
      ]),
    )
    expect(parse(chain(40, '2'), { $ref: '#/$defs/d0', $defs }).ok).toBe(false)
    expect(parse(chain(40, '1'), { $ref: '#/$defs/d0', $defs }).ok).toBe(true)
  })

  it('beyond the call stack of the validator is an issue, in whole texts and in streams', () => {
    const schema = {
      $ref: '#/$defs/t',
      $defs: { t: { anyOf: [{ type: 'string' }, { type: 'array', items: { $ref: '#/$defs/t' } }] } },
    }
    const text = '['.repeat(50_000) + ']'.repeat(50_000)
    expect(parse(text, schema)).toMatchObject({ ok: false, issues: [{ code: 'limit/depth' }] })
    const reader = createReader(schema)
    for (let at = 0; at < text.length; at += 10_000) reader.push(text.slice(at, at + 10_000))
    expect(reader.end()).toMatchObject({ ok: false, issues: [{ code: 'limit/depth' }] })
  })
})
