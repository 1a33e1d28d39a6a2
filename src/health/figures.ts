/** Counts of some attempts: what the groups of a sample add up to, overall, for a step, a model or a part of the time. */
import type { RepairCost, SampleGroup } from '../domain/ports/sample.ts'
import { counted, listed, rungs, type Signals, stages } from '../domain/signals.ts'
import type { Stage } from '../output/index.ts'

export type StageCounts = { [S in Stage]: number }
export type RungName = (typeof rungs)[number]
export type Counts = Map<string, number>

/** What the reader changed, or in shadow mode would have. */
export interface Coercions {
  total: number
  failed: number
  readonly stages: StageCounts
  readonly failures: StageCounts
  /** By rule: attempts in which it acted. */
  readonly transforms: Counts
}

export interface Figures {
  attempts: number
  readonly coercion: Coercions
  readonly shadow: Coercions
  /** By `rule pointer`: attempts in which the value was changed there. */
  readonly places: Counts
  readonly soe: { applied: number; skipped: number; readonly reasons: Counts }
  readonly precheck: { total: number; pass: number; fail: number; skipped: number }
  readonly rungs: { readonly [R in RungName]: { taken: number; success: number } }
  readonly repair: { -readonly [K in keyof RepairCost]: RepairCost[K] }
  /** Attempts in which the reader worked on the text, and on the value (AROS-57). */
  readonly touched: { text: number; value: number }
}

export function noFigures(): Figures {
  return {
    attempts: 0,
    coercion: noCoercions(),
    shadow: noCoercions(),
    places: new Map(),
    soe: { applied: 0, skipped: 0, reasons: new Map() },
    precheck: { total: 0, pass: 0, fail: 0, skipped: 0 },
    rungs: {
      llm: { taken: 0, success: 0 },
      stricter: { taken: 0, success: 0 },
      extractor: { taken: 0, success: 0 },
      simplified: { taken: 0, success: 0 },
      degrade: { taken: 0, success: 0 },
    },
    repair: { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0, unknownCost: 0 },
    touched: { text: 0, value: 0 },
  }
}

function noCoercions(): Coercions {
  return { total: 0, failed: 0, stages: noStages(), failures: noStages(), transforms: new Map() }
}

function noStages(): StageCounts {
  return { extract: 0, tolerant: 0, syntactic: 0, semantic: 0, custom: 0 }
}

/** Which stages work on the text; the others work on the value. */
export const textStages: readonly Stage[] = ['extract', 'tolerant', 'syntactic']

export function addGroup(figures: Figures, { signals, attempts, repair }: SampleGroup): void {
  const times = (attribute: string) => counted(signals, attribute) * attempts
  figures.attempts += attempts
  addCoercions(figures.coercion, 'aros.coercion', signals, attempts)
  addCoercions(figures.shadow, 'aros.shadow', signals, attempts)
  for (const place of listed(signals, 'aros.coercion.places')) raise(figures.places, place, attempts)
  figures.soe.applied += times('aros.soe.count')
  const skipped = times('aros.soe.skipped')
  figures.soe.skipped += skipped
  if (skipped > 0) raise(figures.soe.reasons, reasonOf(signals), skipped)
  for (const key of ['total', 'pass', 'fail', 'skipped'] as const)
    figures.precheck[key] += times(`aros.precheck.${key}`)
  for (const rung of rungs) {
    figures.rungs[rung].taken += times(`aros.fallback.stage.${rung}`)
    figures.rungs[rung].success += times(`aros.fallback.stage.${rung}.success`)
  }
  for (const key of Object.keys(repair) as (keyof RepairCost)[]) figures.repair[key] += repair[key]
  const worked = (some: readonly Stage[]) =>
    some.some(
      (stage) =>
        counted(signals, `aros.coercion.stage.${stage}`) + counted(signals, `aros.coercion.failed.${stage}`) >
        0,
    )
  if (worked(textStages)) figures.touched.text += attempts
  if (worked(stages.filter((stage) => !textStages.includes(stage)))) figures.touched.value += attempts
}

function addCoercions(into: Coercions, family: string, signals: Signals, attempts: number): void {
  const times = (attribute: string) => counted(signals, `${family}.${attribute}`) * attempts
  into.total += times('total')
  into.failed += times('failed')
  for (const stage of stages) {
    into.stages[stage] += times(`stage.${stage}`)
    into.failures[stage] += times(`failed.${stage}`)
  }
  for (const name of listed(signals, `${family}.transforms`)) raise(into.transforms, name, attempts)
}

function reasonOf(signals: Signals): string {
  const reason = signals['aros.soe.skipped.reason']
  return typeof reason === 'string' ? reason : 'no reason was given'
}

function raise(counts: Counts, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}

/** The largest first; what is equal, by name. */
export function ranked(counts: Counts): { readonly name: string; readonly count: number }[] {
  return [...counts].map(([name, count]) => ({ name, count })).sort(byCount)
}

export function byCount(
  one: { name: string; count: number },
  other: { name: string; count: number },
): number {
  return other.count - one.count || (one.name < other.name ? -1 : 1)
}
