/** Exports the rankings of a report as CSV (RFC 4180): steps, models and transforms, one file each. */
import type { HealthReport } from './report.ts'

export const csvParts = ['steps', 'models', 'transforms'] as const
type CsvPart = (typeof csvParts)[number]

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
