import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decode, encode, encodePlan, encodeWithPlan, inlineLimit, references } from './codec.ts'
import { fromColumn, toColumn } from './column-text.ts'

describe('codec', () => {
  it('leaves small values in their row, as plain JSON', () => {
    expect(encode({ a: [1, 'x'] })).toEqual({ text: '{"a":[1,"x"]}' })
  })

  it('keeps a plan once, for its event and its snapshots, and reads both back', () => {
    const rest = [{ version: 1 }, { $value: 1, big: 'y'.repeat(inlineLimit) }]
    for (const size of [1, 3_000, inlineLimit + 1, 5 * inlineLimit])
      for (const others of rest) {
        const plan = { nodes: ['x'.repeat(size), { $value: 'no reference' }] }
        const event = encodeWithPlan({ plan, ...others })
        const snapshot = encodePlan(plan)
        const values = new Map([...(event.values ?? []), ...(snapshot.values ?? [])])
        expect(decode(event.text, values)).toEqual({ plan, ...others })
        expect(decode(snapshot.text, values)).toEqual(plan)
        expect(encodePlan(plan)).toBe(snapshot)
        expect(references(snapshot.text).length > 0).toBe(size > 1)
      }
    expect(encodePlan(null)).toEqual({ text: 'null' })
    expect(encodeWithPlan({ plan: null })).toEqual({ text: '{"plan":null}' })
  })

  it('keeps one large value under one hash, at every location', () => {
    const large = { text: 'x'.repeat(inlineLimit) }
    const one = encode({ output: large })
    const other = encode([{ deep: { output: large, more: 1 } }, large])
    expect([...(one.values?.keys() ?? [])]).toEqual([...(other.values?.keys() ?? [])])
    expect(one.text.length).toBeLessThan(200)
  })

  it('keeps every row short, however many parts of middle size it has', () => {
    const parts = Array.from({ length: 500 }, (_, index) => String(index).repeat(400))
    const { text, values } = encode(parts)
    expect(text.length).toBeLessThan(inlineLimit)
    expect(decode(text, values)).toEqual(parts)
  })

  it('gives back every value as it was, also through a text column', () => {
    const keys = fc.oneof(
      fc.string(),
      fc.constantFrom('$value', '$$value', '__proto__', '$valu', 'a"$value"'),
    )
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string({ unit: 'binary' }),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constantFrom(null, true, 'x'.repeat(5_000), '\u0000\ud800\uffff0000'),
        fc.array(tie('value')),
        fc.dictionary(keys, tie('value')),
      ),
    }))
    fc.assert(
      fc.property(value, fc.boolean(), (inner, padded) => {
        const whole = padded ? [inner, 'y'.repeat(inlineLimit)] : inner
        const { text, values = new Map() } = encode(whole)
        const stored = new Map([...values].map(([hash, body]) => [hash, fromColumn(toColumn(body))]))
        const wanted = new Set([text, ...stored.values()].flatMap(references))
        expect(wanted).toEqual(new Set(stored.keys()))
        expect(JSON.stringify(decode(fromColumn(toColumn(text)), stored))).toBe(JSON.stringify(whole))
      }),
      { numRuns: 500 },
    )
  })

  it('refuses what JSON cannot hold and says so when a value is gone', () => {
    expect(() => encode({ n: 1n })).toThrow(/is not JSON/)
    expect(() => decode(`{"$value":"${'0'.repeat(64)}"}`)).toThrow(/missing from flex_values/)
  })
})

describe('column text', () => {
  it('has neither NUL nor lone surrogates, and keeps all texts distinct', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const hostile = `${text}\u0000\ud800${text}\uffff0000`
        expect(toColumn(hostile)).not.toMatch(/[\0\p{Surrogate}]/u)
        expect(fromColumn(toColumn(hostile))).toBe(hostile)
        expect(fromColumn(toColumn(text))).toBe(text)
      }),
    )
  })
})
