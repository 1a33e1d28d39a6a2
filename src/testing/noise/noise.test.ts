/** The generator is itself held to promises: a measure that is wrong is worse than none. */
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { describe, expect, it } from 'vitest'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { judge, makeSample, noiseCorpus, sameJson, score } from './corpus.ts'
import { DAMAGES } from './damages.ts'
import { createRandom } from './random.ts'
import { NOISE_SCHEMAS } from './schemas.ts'
import { sites } from './shape.ts'

const SEED = 20250101

const validators = new Map<JsonSchema, (value: unknown) => boolean>()
function isValid(schema: JsonSchema, value: unknown): boolean {
  let validate = validators.get(schema)
  if (validate === undefined) {
    const old = typeof schema === 'object' && String(schema['$schema']).includes('draft-07')
    const ajv = old ? new Ajv({ strict: false }) : new Ajv2020({ strict: false })
    // The package is CommonJS: its function is the default export or the module itself.
    const add = formats as unknown as { default?: (ajv: unknown) => void } & ((ajv: unknown) => void)
    ;(add.default ?? add)(ajv)
    validate = ajv.compile(schema as object) as (value: unknown) => boolean
    validators.set(schema, validate)
  }
  return validate(value)
}

describe('the noise generator', () => {
  it('has at least 25 schemas and 45 kinds, each with a name of its own', () => {
    expect(NOISE_SCHEMAS.length).toBeGreaterThanOrEqual(25)
    expect(new Set(DAMAGES.map((damage) => damage.name)).size).toBe(DAMAGES.length)
    expect(DAMAGES.length).toBeGreaterThanOrEqual(45)
  })

  it('makes instances that satisfy their schema and texts that parse to them', () => {
    const random = createRandom(SEED)
    for (const source of NOISE_SCHEMAS) {
      for (let i = 0; i < 20; i++) {
        const sample = makeSample(random, source)
        expect(JSON.parse(sample.text)).toEqual(sample.value)
        expect(isValid(sample.schema, sample.value), `${source.name}: ${sample.text}`).toBe(true)
        expect(sites(sample.schema, sample.value)[0]?.at, source.name).toBe('')
      }
    }
  })

  it('gives the same corpus for the same seed, and another for another', () => {
    for (const combine of [false, true]) {
      const once = [...noiseCorpus({ seed: SEED, count: 400, combine })]
      expect([...noiseCorpus({ seed: SEED, count: 400, combine })]).toEqual(once)
      expect([...noiseCorpus({ seed: SEED + 1, count: 400, combine })]).not.toEqual(once)
    }
  })

  it('expects only values that satisfy the schema', () => {
    for (const combine of [false, true]) {
      for (const sample of noiseCorpus({ seed: SEED, count: 1500, combine })) {
        if ('expected' in sample.outcome) {
          expect(isValid(sample.schema, sample.outcome.expected), `${sample.id} ${sample.kinds}`).toBe(true)
        }
      }
    }
  })

  it('damages every schema in the same way each time, and says nothing that the schema forbids', () => {
    for (const damage of DAMAGES) {
      for (const source of NOISE_SCHEMAS) {
        for (let seed = SEED; seed < SEED + 4; seed++) {
          const once = (): unknown => {
            const random = createRandom(seed)
            return damage.apply(random, makeSample(random, source))
          }
          const outcome = once() as ReturnType<typeof damage.apply>
          expect(once(), `${damage.name} on ${source.name}, seed ${seed}`).toEqual(outcome)
          if (outcome === undefined) continue
          if ('lost' in outcome) expect(damage.family).toBe('lost')
          else expect(isValid(source.schema, outcome.expected), `${damage.name} on ${source.name}`).toBe(true)
        }
      }
    }
  })

  it('draws every kind', () => {
    const drawn = new Set(
      [...noiseCorpus({ seed: SEED, count: DAMAGES.length })].flatMap((sample) => sample.kinds),
    )
    expect(DAMAGES.map((damage) => damage.name).filter((name) => !drawn.has(name))).toEqual([])
  })

  it('leaves no lost sample whose damaged text is strictly the full value', () => {
    for (const sample of noiseCorpus({ seed: SEED, count: 1500 })) {
      if (!('lost' in sample.outcome)) continue
      const strict = judge(sample, (text, schema) => {
        try {
          const value: unknown = JSON.parse(text)
          return isValid(schema, value) ? { ok: true, value } : { ok: false }
        } catch {
          return { ok: false }
        }
      })
      const bigInteger = sample.kinds.includes('big-integer-refused')
      expect(strict.verdict === 'right' || bigInteger, `${sample.id} ${sample.kinds}: ${sample.text}`).toBe(
        true,
      )
    }
  })
})

describe('the score', () => {
  it('ignores the order of keys and the sign of zero', () => {
    expect(sameJson({ a: 1, b: [-0] }, { b: [0], a: 1 })).toBe(true)
    expect(sameJson({ a: undefined }, {})).toBe(false)
    expect(sameJson([1], { 0: 1 })).toBe(false)
  })

  it('distinguishes right, wrong, refused and invented answers', () => {
    const corpus = [...noiseCorpus({ seed: SEED, count: DAMAGES.length * 2 })]
    const refuser = score(corpus, () => ({ ok: false }))
    expect(refuser.recoverable.right).toBe(0)
    expect(refuser.lost.invented).toBe(0)
    expect(refuser.lost.right).toBeGreaterThan(0)
    const inventor = score(corpus, () => ({ ok: true, value: {} }))
    expect(inventor.lost.right).toBe(0)
    expect(inventor.recoverable.wrong).toBe(corpus.length - inventor.lost.invented)
  })
})
