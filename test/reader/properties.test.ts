/** What holds for every text: valid JSON is left alone, nothing throws, streams end like whole texts, repairs replay. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ReaderEvent } from '../../src/output/index.ts'
import { createReader, parse, replay } from '../../src/output/index.ts'
import { noiseCorpus, sameJson } from '../../src/testing/index.ts'

const SEED = 20_250_614
/** The long form (`npm run test:long`) checks a hundred times as many. */
const TIMES = process.env['PROVISO_LONG'] ? 100 : 0.5
const RUNS = { seed: SEED, numRuns: 1500 * TIMES }

const SCHEMA = {
  type: 'object',
  properties: {
    a: { type: 'integer' },
    b: { type: 'array', items: { type: 'string' } },
    c: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
    d: { type: 'object', additionalProperties: { type: 'number' } },
  },
  required: ['a'],
} as const

/** Integers are kept to those whose digits a double holds; bigger ones have a policy of their own. */
const isSafe = (text: string): boolean => !/(?<![.\d])\d{16,}(?![\d.e])/i.test(text)
const json = fc.json({ maxDepth: 5 }).filter(isSafe)
const container = json.filter((text) => /^\s*[[{]/.test(text) && /["\d]/.test(text))
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  // Any UTF-16 units at all, lone surrogates included.
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
    .map((units) => String.fromCharCode(...units)),
)

/** JSON with a few characters removed, doubled or replaced. */
const mutated = fc
  .tuple(
    json,
    fc.array(fc.tuple(fc.nat(), fc.constantFrom('', '"', '{', ']', ',', '\\', '`', "'", ' ', '\uD800')), {
      minLength: 1,
      maxLength: 6,
    }),
  )
  .map(([text, edits]) =>
    edits.reduce((now, [position, put]) => {
      const at = position % (now.length + 1)
      return now.slice(0, at) + put + now.slice(at + (put === '' ? 1 : 0))
    }, text),
  )

function cut(text: string, positions: readonly number[]): string[] {
  const cuts = [...new Set(positions.map((position) => position % (text.length + 1)))].sort((x, y) => x - y)
  return [0, ...cuts].map((start, i) => text.slice(start, cuts[i] ?? text.length))
}

describe('valid JSON', () => {
  it('comes out as it went in, with no repair and no event', () => {
    fc.assert(
      fc.property(json, (text) => {
        const events: ReaderEvent[] = []
        const result = parse(text, undefined, { onEvent: (event) => events.push(event) })
        expect(result.ok && result.value).toEqual(JSON.parse(text))
        expect(result.ok).toBe(true)
        expect(result.repairs).toEqual([])
        expect(events).toEqual([])
      }),
      RUNS,
    )
  })

  it('is untouched inside a fence and inside prose', () => {
    const around = fc.constantFrom<readonly [string, string]>(
      ['```json\n', '\n```'],
      ["Here's the JSON:\n\n```json\n", '\n```\n\nThat is all.'],
      ['<answer>', '</answer>'],
      ["Here's the JSON: ", ''],
      ['Sure! ', '\n\nLet me know.'],
    )
    fc.assert(
      fc.property(container, around, (text, [before, after]) => {
        const result = parse(before + text + after)
        expect(result.ok).toBe(true)
        expect(result.ok && result.value).toEqual(JSON.parse(text))
      }),
      RUNS,
    )
  })

  it('keeps __proto__ as an ordinary key', () => {
    for (const text of ['{"__proto__": {"x": 1}}', "{'__proto__': {'x': 1},}"]) {
      const result = parse(text)
      const value = result.ok ? (result.value as object) : {}
      expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
      expect(Object.hasOwn(value, '__proto__')).toBe(true)
      expect(({} as { x?: number }).x).toBeUndefined()
    }
  })
})

describe('any text', () => {
  it('is read or refused, never thrown back', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, mutated, json), (text) => {
        for (const result of [
          parse(text),
          parse(text, SCHEMA),
          parse(text, { type: 'string' }),
          parse(text, { type: 'array' }),
        ]) {
          expect(typeof result.ok).toBe('boolean')
          expect(result.raw).toBe(text)
          if (!result.ok) expect(result.issues.length).toBeGreaterThan(0)
        }
      }),
      RUNS,
    )
  })

  it('is never called ok with a value that JSON cannot hold', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, mutated), (text) => {
        const result = parse(text)
        if (result.ok) expect(sameJson(JSON.parse(JSON.stringify(result.value)), result.value)).toBe(true)
      }),
      RUNS,
    )
  })
})

const CORPUS = [
  ...noiseCorpus({ seed: SEED, count: 900 }),
  ...noiseCorpus({ seed: SEED, count: 300, combine: true }),
]
const damaged = fc.nat({ max: CORPUS.length - 1 }).map((index) => CORPUS[index]!)

describe('a stream', () => {
  const positions = fc.array(fc.nat(), { maxLength: 12 })

  it('ends as the whole text does, however it was cut', () => {
    fc.assert(
      fc.property(damaged, positions, (sample, at) => {
        const reader = createReader(sample.schema)
        for (const chunk of cut(sample.text, at)) reader.push(chunk)
        const end = reader.end()
        const whole = parse(sample.text, sample.schema)
        expect(end).toEqual(whole)
      }),
      { ...RUNS, numRuns: 600 * TIMES },
    )
    fc.assert(
      fc.property(fc.oneof(anyText, mutated, json), positions, (text, at) => {
        const reader = createReader()
        for (const chunk of cut(text, at)) reader.push(chunk)
        expect(reader.end()).toEqual(parse(text))
      }),
      { ...RUNS, numRuns: 600 * TIMES },
    )
  })

  it('never shows what follows the fence or tag around an unfinished value', () => {
    const block = fc.constantFrom(
      ['```json\n', '\n```\n'],
      ['```\r\n', '\r\n```\r\n'],
      ['````json5\n', '\n````  \n\n'],
      ['~~~\n', '\n~~~\n'],
      ['<tool_call>\n', '\n</tool_call>\n'],
      ['<answer>', '</answer>\n'],
    )
    // Letters that no value below has.
    const prose = fc.constantFrom(
      'ZQ helps',
      'ZQ: it is, "ZQ": too',
      '"ZQ" is ZQ, "ZQ"',
      "**ZQ**: it's (ZQ)",
      "- ZQ: 'ZQ'\n- ZQ",
      'ZQ\n```\nZQ\n```\n',
      '// ZQ\n"ZQ": "ZQ",',
    )
    const item = fc.constantFrom(
      '1',
      'true',
      '"x, y"',
      "'x'",
      'x',
      '“x”',
      '"it\'s"',
      '"x: \\"y\\""',
      '[1, "x"]',
    )
    const value = fc
      .array(item, { minLength: 2, maxLength: 4 })
      .map((items) => [
        `[${items.join(', ')}]`,
        `{${items.map((each, i) => `"k${i}": ${each}`).join(', ')}}`,
        `{"k": [{${items.map((each, i) => `k${i}: ${each}`).join(',\n  ')}}]}`,
      ])
    const written = fc.record({
      block,
      prose,
      value,
      which: fc.nat(2),
      cut: fc.double({ min: 0, max: 1, noNaN: true }),
      size: fc.integer({ min: 1, max: 40 }),
    })
    fc.assert(
      fc.property(written, ({ block: [open, close], prose, value, which, cut, size }) => {
        const whole = value[which] as string
        const unfinished = whole.slice(0, 1 + Math.floor(cut * (whole.length - 2))).trimEnd()
        const text = `${open}${unfinished}${close}${prose}`
        const reader = createReader()
        for (let i = 0; i < text.length; i += size) {
          const shown = JSON.stringify(reader.push(text.slice(i, i + size)).partial) ?? ''
          expect(shown).not.toMatch(/ZQ|`|~~|<\//)
        }
        const result = parse(text, undefined, { acceptTruncated: true })
        expect(JSON.stringify(result.ok ? result.value : result.candidate) ?? '').not.toMatch(/ZQ|`|~~|<\//)
      }),
      RUNS,
    )
  })

  it('announces each finished path once, until another candidate takes over', () => {
    fc.assert(
      fc.property(damaged, positions, (sample, at) => {
        const reader = createReader(sample.schema)
        let seen = new Set<string>()
        for (const chunk of cut(sample.text, at)) {
          const { finished, replaced } = reader.push(chunk)
          if (replaced) seen = new Set()
          for (const path of finished) {
            expect(seen.has(path), `${path} in ${sample.text}`).toBe(false)
            seen.add(path)
          }
        }
      }),
      { ...RUNS, numRuns: 600 * TIMES },
    )
  })
})

describe('repairs', () => {
  it('replay: the edits of the text, JSON.parse, then the changes of the value give the value', () => {
    fc.assert(
      fc.property(damaged, (sample) => {
        const result = parse(sample.text, sample.schema)
        if (!result.ok || result.repairCount > result.repairs.length) return
        expect(replay(sample.text, result.repairs), `${sample.id} ${sample.kinds}`).toEqual(result.value)
      }),
      { ...RUNS, numRuns: 1000 * TIMES },
    )
    fc.assert(
      fc.property(mutated, (text) => {
        const result = parse(text)
        if (result.ok) expect(replay(text, result.repairs)).toEqual(result.value)
      }),
      { ...RUNS, numRuns: 500 * TIMES },
    )
  })

  it('are deterministic', () => {
    for (const sample of CORPUS.slice(0, 200)) {
      expect(parse(sample.text, sample.schema)).toEqual(parse(sample.text, sample.schema))
    }
  })
})
