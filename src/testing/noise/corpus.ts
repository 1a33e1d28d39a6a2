/** The noise corpus: seeded samples of damaged model text, each with its only right outcome; and the score of a reader on it. */
import { isObject, type Json } from '../../base/json.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import { stack } from './combine.ts'
import { DAMAGES } from './damages.ts'
import { createRandom, mixSeed, type Random } from './random.ts'
import { NOISE_SCHEMAS } from './schemas.ts'
import { joinTokens, type Layout, write } from './tokens.ts'
import type { Damage, NoiseSchema, Outcome, ReadOptions, Sample } from './types.ts'

export interface NoiseOptions {
  readonly seed: number
  readonly count: number
  /** Stack two or three kinds per sample. Default false: one kind each, every kind equally often. */
  readonly combine?: boolean
}

export interface NoiseSample {
  /** `seed/index`, which is enough to generate the sample again. */
  readonly id: string
  readonly schemaName: string
  readonly schema: JsonSchema
  readonly text: string
  /** The kinds that were applied, in order. */
  readonly kinds: readonly string[]
  /** The family that the text was drawn from, where it is one of `NOISE_FAMILIES`. */
  readonly family?: string
  /** Options to pass to the reader. */
  readonly options?: ReadOptions
  readonly outcome:
    | { readonly expected: Json }
    /** Information was lost: refuse, or answer with one of these values. */
    | { readonly lost: true; readonly allowed: readonly Json[] }
}

/** Each sample depends only on the seed and its index, so the corpus can have any size. */
export function* noiseCorpus(options: NoiseOptions): Generator<NoiseSample> {
  for (let index = 0; index < options.count; index++) {
    yield options.combine ? combinedSample(options.seed, index) : singleSample(options.seed, index)
  }
}

/** Writes an undamaged instance of a schema. */
export function makeSample(random: Random, source: NoiseSchema): Sample {
  const value = source.make(random)
  let decoy = source.make(random)
  for (let i = 0; i < 20 && JSON.stringify(decoy) === JSON.stringify(value); i++) decoy = source.make(random)
  const tokens = write(value, random.pick<Layout>(['compact', 'spaced', 'pretty', 'pretty']))
  return { schema: source.schema, value, decoy, tokens, text: joinTokens(tokens) }
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
  throw new Error(`Cannot apply the damage "${damage.name}": no schema fits (seed ${seed}, sample ${index})`)
}

function combinedSample(seed: number, index: number): NoiseSample {
  const random = createRandom(mixSeed(seed ^ 0x5bd1e995, index))
  for (let attempt = 0; attempt < 4000; attempt++) {
    const source = random.pick(NOISE_SCHEMAS)
    const stacked = stack(random, makeSample(random, source), DAMAGES)
    if (stacked !== undefined) return finish(`${seed}+${index}`, source, stacked.outcome, stacked.kinds)
  }
  throw new Error(`Cannot combine kinds of damage (seed ${seed}, sample ${index})`)
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

// Runs a reader on a corpus and counts for each kind how often it was right, silently wrong, or refused.

/** A reader under test: returns a value or a refusal. */
export type ReadFunction = (
  text: string,
  schema: JsonSchema,
  options?: ReadOptions,
) => { ok: true; value: unknown } | { ok: false; reason?: string }

/** `right` also counts refusals where information was lost; `wrong` is a value other than the right one. */
export type Verdict = 'right' | 'wrong' | 'refused' | 'invented' | 'threw'

export interface Miss {
  readonly sample: NoiseSample
  readonly verdict: Exclude<Verdict, 'right'>
  readonly got: unknown
}

export type Tally = Record<Verdict, number>

export interface Score {
  /** Samples with complete information. */
  readonly recoverable: Tally
  /** Samples with lost information. */
  readonly lost: Tally
  readonly byKind: ReadonlyMap<string, Tally>
  readonly misses: readonly Miss[]
}

export function score(corpus: Iterable<NoiseSample>, read: ReadFunction): Score {
  const recoverable = emptyTally()
  const lost = emptyTally()
  const byKind = new Map<string, Tally>()
  const misses: Miss[] = []
  for (const sample of corpus) {
    const { verdict, got } = judge(sample, read)
    const group = 'lost' in sample.outcome ? lost : recoverable
    group[verdict] += 1
    for (const kind of sample.kinds) {
      const tally = byKind.get(kind) ?? emptyTally()
      tally[verdict] += 1
      byKind.set(kind, tally)
    }
    if (verdict !== 'right') misses.push({ sample, verdict, got })
  }
  return { recoverable, lost, byKind, misses }
}

export function judge(sample: NoiseSample, read: ReadFunction): { verdict: Verdict; got: unknown } {
  let result: ReturnType<ReadFunction>
  try {
    result = read(sample.text, sample.schema, sample.options)
  } catch (error) {
    return { verdict: 'threw', got: String(error) }
  }
  if ('lost' in sample.outcome) {
    const { allowed } = sample.outcome
    const fine = !result.ok || allowed.some((value) => sameJson(value, result.value))
    return { verdict: fine ? 'right' : 'invented', got: result.ok ? result.value : result.reason }
  }
  if (!result.ok) return { verdict: 'refused', got: result.reason }
  return { verdict: sameJson(sample.outcome.expected, result.value) ? 'right' : 'wrong', got: result.value }
}

/** Deep equality of JSON values; the order of keys does not matter and -0 is 0. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => sameJson(item, b[i]))
    )
  }
  if (!isObject(a) || !isObject(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key], b[key]))
  )
}

/** Returns the share of right outcomes; 1 if there are no samples. */
export function share(tally: Tally): number {
  const total = Object.values(tally).reduce((sum, count) => sum + count, 0)
  return total === 0 ? 1 : tally.right / total
}

/** Lists the kinds with misses, the worst first, one line each, then up to `examples` misses in full. */
export function describeMisses(result: Score, examples = 10): string {
  const rows = [...result.byKind]
    .filter(([, tally]) => share(tally) < 1)
    .sort(([, a], [, b]) => share(a) - share(b))
    .map(([kind, tally]) => {
      const counts = (['right', 'wrong', 'refused', 'invented', 'threw'] as const)
        .filter((verdict) => tally[verdict] > 0)
        .map((verdict) => `${tally[verdict]} ${verdict}`)
      return `  ${kind.padEnd(28)} ${counts.join(', ')}`
    })
  const texts = result.misses.slice(0, examples).map(({ sample, verdict, got }) => {
    const right = 'lost' in sample.outcome ? 'a refusal' : JSON.stringify(sample.outcome.expected)
    return `  ${sample.id} ${sample.kinds.join(' + ')} on ${sample.schemaName}: ${verdict}\n    text  ${JSON.stringify(sample.text)}\n    right ${right}\n    got   ${JSON.stringify(got)}`
  })
  return [...rows, ...texts].join('\n')
}

function emptyTally(): Tally {
  return { right: 0, wrong: 0, refused: 0, invented: 0, threw: 0 }
}
