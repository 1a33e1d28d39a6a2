/** Adds up the counts of attempts: overall, per step, per model or per time range. */

import {
  counted,
  fallbackStages,
  type HealthAttributes,
  listed,
  stages,
} from '../domain/event/health-attributes.ts'
import type { RepairCost, SampleGroup } from '../domain/ports/sample.ts'
import type { Stage } from '../output/index.ts'

export type StageCounts = { [S in Stage]: number }
type FallbackStage = (typeof fallbackStages)[number]
export type Counts = Map<string, number>

/** What the reader changed, or would have changed in shadow mode. */
export interface Coercions {
  total: number
  failed: number
  readonly stages: StageCounts
  readonly failures: StageCounts
  /** By rule: number of attempts in which it was applied. */
  readonly transforms: Counts
}

export interface Figures {
  attempts: number
  readonly coercion: Coercions
  readonly shadow: Coercions
  /** By `rule pointer`: number of attempts in which the value was changed there. */
  readonly locations: Counts
  readonly soe: { applied: number; skipped: number; readonly reasons: Counts }
  readonly precheck: { total: number; pass: number; fail: number; skipped: number }
  readonly fallbacks: { readonly [R in FallbackStage]: { taken: number; success: number } }
  readonly repair: { -readonly [K in keyof RepairCost]: RepairCost[K] }
  /** Attempts in which the reader changed the text, and the value (AROS-57). */
  readonly touched: { text: number; value: number }
}

export function emptyFigures(): Figures {
  return {
    attempts: 0,
    coercion: emptyCoercions(),
    shadow: emptyCoercions(),
    locations: new Map(),
    soe: { applied: 0, skipped: 0, reasons: new Map() },
    precheck: { total: 0, pass: 0, fail: 0, skipped: 0 },
    fallbacks: {
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

function emptyCoercions(): Coercions {
  return { total: 0, failed: 0, stages: emptyStages(), failures: emptyStages(), transforms: new Map() }
}

function emptyStages(): StageCounts {
  return { extract: 0, tolerant: 0, syntactic: 0, semantic: 0, custom: 0 }
}

/** Stages that work on the text; the others work on the value. */
export const textStages: readonly Stage[] = ['extract', 'tolerant', 'syntactic']

export function addGroup(figures: Figures, { signals, attempts, repair }: SampleGroup): void {
  const times = (attribute: string) => counted(signals, attribute) * attempts
  figures.attempts += attempts
  addCoercions(figures.coercion, 'aros.coercion', signals, attempts)
  addCoercions(figures.shadow, 'aros.shadow', signals, attempts)
  for (const location of listed(signals, 'aros.coercion.places'))
    increase(figures.locations, location, attempts)
  figures.soe.applied += times('aros.soe.count')
  const skipped = times('aros.soe.skipped')
  figures.soe.skipped += skipped
  if (skipped > 0) increase(figures.soe.reasons, readReason(signals), skipped)
  for (const key of ['total', 'pass', 'fail', 'skipped'] as const)
    figures.precheck[key] += times(`aros.precheck.${key}`)
  for (const step of fallbackStages) {
    figures.fallbacks[step].taken += times(`aros.fallback.stage.${step}`)
    figures.fallbacks[step].success += times(`aros.fallback.stage.${step}.success`)
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

function addCoercions(into: Coercions, family: string, signals: HealthAttributes, attempts: number): void {
  const times = (attribute: string) => counted(signals, `${family}.${attribute}`) * attempts
  into.total += times('total')
  into.failed += times('failed')
  for (const stage of stages) {
    into.stages[stage] += times(`stage.${stage}`)
    into.failures[stage] += times(`failed.${stage}`)
  }
  for (const name of listed(signals, `${family}.transforms`)) increase(into.transforms, name, attempts)
}

function readReason(signals: HealthAttributes): string {
  const reason = signals['aros.soe.skipped.reason']
  return typeof reason === 'string' ? reason : 'no reason given'
}

function increase(counts: Counts, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by)
}

/** Sorts by count, largest first, then by name. */
export function ranked(counts: Counts): { readonly name: string; readonly count: number }[] {
  return [...counts].map(([name, count]) => ({ name, count })).sort(byCount)
}

export function byCount(
  one: { name: string; count: number },
  other: { name: string; count: number },
): number {
  return other.count - one.count || (one.name < other.name ? -1 : 1)
}
