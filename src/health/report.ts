/** The health report as data: printed by `--json`, the source of the page, and exported as CSV files (AROS-62, AROS-64). */
import { fallbackStages, stages } from '../domain/event/health-attributes.ts'
import {
  byCount,
  type Coercions,
  type Counts,
  type Figures,
  ranked,
  type StageCounts,
  textStages,
} from './figures.ts'
import { recommend } from './recommend.ts'
import type { Recommendation } from './recommendation.ts'
import { type Named, type Part, type Survey, unknownModel } from './survey.ts'

/** Version of the format. Raised when a key changes its meaning or is removed, not for new keys. */
const reportVersion = '1.0'

export type HealthReport = ReturnType<typeof healthReport>

interface ReportOptions {
  /** Maximum entries per ranking. Default: all. */
  readonly top?: number
}

export function healthReport(survey: Survey, { top = Number.POSITIVE_INFINITY }: ReportOptions = {}) {
  const { all, runs, steps, models, query } = survey
  const { now, sinceHours, nodeId, model, tenant, pipeline } = query
  return {
    version: reportVersion,
    generated_at: new Date(now).toISOString(),
    filters: {
      ...(sinceHours !== undefined && { since_hours: sinceHours }),
      ...(nodeId !== undefined && { step: nodeId }),
      ...(model !== undefined && { model }),
      ...(tenant !== undefined && { tenant }),
      ...(pipeline !== undefined && { pipeline }),
    },
    totals: totals(all, runs.total),
    stages: { ...all.coercion.stages },
    steps: rows(steps, runs.byNode).slice(0, top),
    models: rows(models, runs.byModel).slice(0, top),
    step_stages: stagesBy(steps),
    model_stages: stagesBy(models),
    transforms: toList(all.coercion.transforms).slice(0, top),
    places: toLocations(all.locations).slice(0, top),
    soe_skips: skips(models),
    prechecks: prechecks(steps),
    fallback_steps: fallbackStages.map((name) => ({
      name,
      ...all.fallbacks[name],
      success_rate: share(all.fallbacks[name].success, all.fallbacks[name].taken),
    })),
    repairs: repairs(all, runs.total),
    shadow: shadow(all.shadow),
    counters: counters(all),
    ...(survey.trend && { trend: trend(survey.trend) }),
    recommendations: recommend(survey) as readonly Recommendation[],
  }
}

function totals(all: Figures, runs: number) {
  return {
    runs,
    attempts: all.attempts,
    coercion_total: all.coercion.total,
    coercion_failed: all.coercion.failed,
    coercions_per_100_runs: perHundred(all.coercion.total, runs),
    stages: { ...all.coercion.stages },
    soe_applied: all.soe.applied,
    soe_skipped: all.soe.skipped,
    precheck_total: all.precheck.total,
    precheck_pass: all.precheck.pass,
    precheck_fail: all.precheck.fail,
    precheck_skipped: all.precheck.skipped,
    precheck_fail_rate: share(all.precheck.fail, all.precheck.total),
  }
}

/** Worst first. */
function rows(named: Named, runs: { readonly [name: string]: number }) {
  return [...named]
    .map(([name, figures]) => ({ name, count: figures.coercion.total, figures }))
    .sort(byCount)
    .map(({ name, figures }) => {
      const own = Object.hasOwn(runs, name) ? (runs[name] ?? 0) : 0
      return {
        name,
        runs: own,
        attempts: figures.attempts,
        coercions: figures.coercion.total,
        // Runs are not counted for attempts without a known model.
        per_100_runs: name === unknownModel ? null : perHundred(figures.coercion.total, own),
        failed: figures.coercion.failed,
        soe_applied: figures.soe.applied,
        soe_skipped: figures.soe.skipped,
        precheck_fail_rate: share(figures.precheck.fail, figures.precheck.total),
        repair_calls: figures.repair.calls,
        repair_cost_usd: money(figures.repair.costUsd),
      }
    })
}

function stagesBy(named: Named): { [name: string]: StageCounts } {
  const entries = [...named].filter(([, { coercion }]) => coercion.total > 0)
  return Object.fromEntries(
    entries
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, figures]) => [name, { ...figures.coercion.stages }]),
  )
}

function toLocations(locations: Counts) {
  return ranked(locations).map(({ name, count }) => {
    const [rule = '', ...pointer] = name.split(' ')
    return { rule, pointer: pointer.join(' '), count }
  })
}

function toList(counts: Counts) {
  return ranked(counts).map(({ name, count }) => ({ name, count }))
}

function skips(models: Named) {
  return [...models]
    .flatMap(([model, { soe }]) =>
      ranked(soe.reasons).map(({ name, count }) => ({ model, reason: name, count })),
    )
    .sort((one, other) => other.count - one.count || (one.model < other.model ? -1 : 1))
}

function prechecks(steps: Named) {
  return [...steps]
    .filter(([, { precheck }]) => precheck.total + precheck.skipped > 0)
    .map(([name, { precheck }]) => ({ name, ...precheck, fail_rate: share(precheck.fail, precheck.total) }))
    .sort((one, other) => other.fail - one.fail || (one.name < other.name ? -1 : 1))
}

function repairs({ repair }: Figures, runs: number) {
  return {
    calls: repair.calls,
    calls_per_100_runs: perHundred(repair.calls, runs),
    input_tokens: repair.inputTokens,
    output_tokens: repair.outputTokens,
    cost_usd: money(repair.costUsd),
    unknown_cost_calls: repair.unknownCost,
  }
}

function shadow(coercions: Coercions) {
  return {
    would_change: coercions.total,
    would_fail: coercions.failed,
    stages: { ...coercions.stages },
    transforms: toList(coercions.transforms),
  }
}

/** The second family of names in the specification is derived from the first and is never sent (C3). */
function counters(all: Figures): { [name: string]: number } {
  const sum = (counts: StageCounts, ofText: boolean) =>
    stages
      .filter((stage) => textStages.includes(stage) === ofText)
      .reduce((total, stage) => total + counts[stage], 0)
  const { stages: done, failures } = all.coercion
  return {
    'aros.aop.syntactic.success': sum(done, true),
    'aros.aop.syntactic.skip': all.attempts - all.touched.text,
    'aros.aop.syntactic.fail': sum(failures, true),
    'aros.aop.coercion.success': sum(done, false),
    'aros.aop.coercion.skip': all.attempts - all.touched.value,
    'aros.aop.coercion.fail': sum(failures, false),
  }
}

function trend({ prev, last, buckets }: NonNullable<Survey['trend']>) {
  return {
    last_half: half(last),
    prev_half: half(prev),
    buckets: buckets.map((part, index) => ({ index, ...half(part) })),
  }
}

function half({ start, end, all, steps, models }: Part) {
  return {
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    attempts: all.attempts,
    coercions: all.coercion.total,
    stages: { ...all.coercion.stages },
    step_stages: stagesBy(steps),
    model_stages: stagesBy(models),
  }
}

/** One decimal; 0 if there are no runs. */
function perHundred(count: number, runs: number): number {
  return runs === 0 ? 0 : Math.round((count / runs) * 1_000) / 10
}

/** Between 0 and 1 with three decimals; `null` if the whole is 0. */
function share(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 1_000) / 1_000
}

/** Rounds to a millionth of a dollar, because sums of fractions have rounding errors. */
function money(usd: number): number {
  return Math.round(usd * 1e6) / 1e6
}

export const csvParts = ['steps', 'models', 'transforms'] as const
type CsvPart = (typeof csvParts)[number]

/** Exports the rankings of a report as CSV (RFC 4180): steps, models and transforms, one file each. */
export function healthCsv(report: HealthReport): { readonly [P in CsvPart]: string } {
  return {
    steps: csv(report.steps),
    models: csv(report.models),
    transforms: csv(report.transforms, ['name', 'count']),
  }
}

const columns = [
  'name',
  'runs',
  'attempts',
  'coercions',
  'per_100_runs',
  'failed',
  'soe_applied',
  'soe_skipped',
  'precheck_fail_rate',
  'repair_calls',
  'repair_cost_usd',
]

function csv(rows: readonly object[], heads: readonly string[] = columns): string {
  const lines = rows.map((row) => heads.map((head) => formatCell((row as Record<string, unknown>)[head])))
  return [heads, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('')
}

/** Formats a cell. Text that a spreadsheet would read as a formula gets a leading quote, because names come from plans and providers. */
function formatCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = String(value)
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
