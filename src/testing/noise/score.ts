/** Runs a reader over a corpus and says how often it was right, silently wrong, or refused, kind by kind. */
import { isObject } from '../../base/json.ts'
import type { JsonSchema } from '../../schema/compile/compile.ts'
import type { NoiseSample } from './corpus.ts'
import type { ReadOptions } from './types.ts'

/** A reader under test: a value, or a refusal. */
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
  /** Samples whose information was all there. */
  readonly recoverable: Tally
  /** Samples that had lost information. */
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

/** Share of the right ones; 1 when there were none. */
export function share(tally: Tally): number {
  const total = Object.values(tally).reduce((sum, count) => sum + count, 0)
  return total === 0 ? 1 : tally.right / total
}

/** The kinds that were missed, worst first, one line each, then up to `examples` misses in full. */
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
