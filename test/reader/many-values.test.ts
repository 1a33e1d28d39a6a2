/** Texts with thousands of values of which one is the answer: the others are read, but not kept. */
import { describe, expect, it } from 'vitest'
import { parse } from '../../src/output/index.ts'
import { parseCounted } from '../seams/output.ts'

const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
} as const

describe('the answer among thousands of other values', () => {
  it.each(['[}{]', '{}{]', '[]', '[1] and ', '{"b":1}\n', '[x, 2] '])(
    'is found behind and before %j',
    (motif) => {
      const noise = motif.repeat(6_000)
      for (const text of [`${noise}{"a":"x"}`, `${noise}{a:'x'}${noise}`, `{"a":"x"}\n${noise}`])
        expect(parse(text, SCHEMA)).toMatchObject({ ok: true, value: { a: 'x' } })
    },
  )

  it('is the corrected one, by the words between it and a value that was not kept', () => {
    const text = `{"a":"draft"} ${'{"b":1} '.repeat(6_000)}Correction: {"a":"final"}`
    expect(parse(text, SCHEMA)).toMatchObject({ value: { a: 'final' } })
  })

  it('is an empty object that only looks like the pairs of brackets around it', () => {
    const lists = '[]'.repeat(6_000)
    expect(parse(`${lists}{}${lists}`, { type: 'object' })).toMatchObject({ ok: true, value: {} })
  })

  it('keeps the edits of the value that is returned apart from those of the others', () => {
    const text = `${'[} '.repeat(6_000)}{"a":'x',}`
    const { repairs } = parse(text, SCHEMA)
    expect(repairs.map(({ rule }) => rule)).toEqual(['surroundings', 'single-quotes', 'trailing-comma'])
    expect(repairs.slice(1).map(({ at }) => at)).toEqual([
      { span: [18_005, 18_008] },
      { span: [18_008, 18_009] },
    ])
  })
})

describe('a long text of quoted words', () => {
  const text = '“x” '.repeat(50_000)

  it('is a string as it is, without the words being read one by one', () => {
    const { result, steps } = parseCounted(text, { type: 'string' })
    expect(result).toMatchObject({ ok: true, value: text })
    expect(steps).toBeLessThan(2 * text.length)
  })

  it('is a list where one is expected, and nothing where an object is', () => {
    const list = parse(text, { type: 'array', items: { type: 'string' } })
    expect(list.ok && list.value.length).toBe(50_000)
    expect(parse(text, SCHEMA).ok).toBe(false)
  })

  it('is an object if members begin it', () => {
    const members = `"a": "${'x'.repeat(150_000)}"`
    expect(parse(members, SCHEMA)).toMatchObject({ ok: true })
  })
})
