/** The noise corpus: seeded samples of damaged model text, each with the one right outcome. */
import type { Json } from '../../base/json.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { stack } from './combine.ts'
import { DAMAGES } from './damages.ts'
import { createRandom, mixSeed, type Random } from './random.ts'
import { NOISE_SCHEMAS } from './schemas.ts'
import { type Layout, textOf, write } from './tokens.ts'
import type { Damage, NoiseSchema, Outcome, ReadOptions, Sample } from './types.ts'

export interface NoiseOptions {
  readonly seed: number
  readonly count: number
  /** Stack two or three kinds per sample. Default false: one kind each, every kind equally often. */
  readonly combine?: boolean
}

export interface NoiseSample {
  /** `seed/index`, enough to make the sample again. */
  readonly id: string
  readonly schemaName: string
  readonly schema: JsonSchema
  readonly text: string
  /** The kinds that were applied, in order. */
  readonly kinds: readonly string[]
  /** The family that the text was drawn from, where it is one of `NOISE_FAMILIES`. */
  readonly family?: string
  /** What the reader must be asked with. */
  readonly options?: ReadOptions
  readonly outcome:
    | { readonly expected: Json }
    /** Information is gone: refuse, or answer with one of these. */
    | { readonly lost: true; readonly allowed: readonly Json[] }
}

/** An endless supply is possible: each sample depends on the seed and its index only. */
export function* noiseCorpus(options: NoiseOptions): Generator<NoiseSample> {
  for (let index = 0; index < options.count; index++) {
    yield options.combine ? combinedSample(options.seed, index) : singleSample(options.seed, index)
  }
}

/** An undamaged instance of a schema, written out. */
export function makeSample(random: Random, source: NoiseSchema): Sample {
  const value = source.make(random)
  let decoy = source.make(random)
  for (let i = 0; i < 20 && JSON.stringify(decoy) === JSON.stringify(value); i++) decoy = source.make(random)
  const tokens = write(value, random.pick<Layout>(['compact', 'spaced', 'pretty', 'pretty']))
  return { schema: source.schema, value, decoy, tokens, text: textOf(tokens) }
}

function singleSample(seed: number, index: number): NoiseSample {
  const random = createRandom(mixSeed(seed, index))
  const damage = DAMAGES[index % DAMAGES.length] as Damage
  for (let attempt = 0; attempt < 4000; attempt++) {
    const source = random.pick(NOISE_SCHEMAS)
    const sample = makeSample(random, source)
    const outcome = damage.apply(random, sample)
    if (outcome !== undefined && outcome.text !== sample.text) {
      return finish(`${seed}/${index}`, source, outcome, [damage.name])
    }
  }
  throw new Error(`No schema fits the kind "${damage.name}" (seed ${seed}, sample ${index})`)
}

function combinedSample(seed: number, index: number): NoiseSample {
  const random = createRandom(mixSeed(seed ^ 0x5bd1e995, index))
  for (let attempt = 0; attempt < 4000; attempt++) {
    const source = random.pick(NOISE_SCHEMAS)
    const stacked = stack(random, makeSample(random, source), DAMAGES)
    if (stacked !== undefined) return finish(`${seed}+${index}`, source, stacked.outcome, stacked.kinds)
  }
  throw new Error(`No stack of kinds was found (seed ${seed}, sample ${index})`)
}

function finish(id: string, source: NoiseSchema, outcome: Outcome, kinds: readonly string[]): NoiseSample {
  return {
    id,
    schemaName: source.name,
    schema: source.schema,
    text: outcome.text,
    kinds,
    outcome: 'lost' in outcome ? { lost: true, allowed: outcome.allowed } : { expected: outcome.expected },
  }
}
