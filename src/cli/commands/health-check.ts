/** `proviso health-check`, also under `proviso dev`: reports from a store's trace spans how well models meet their contracts, and what to change. */
import { writeFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import { csvParts, type HealthReport, healthCsv, healthReport } from '../../health/report.ts'
import { type HealthQuery, surveyHealth } from '../../health/survey.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { count, oneLine } from '../one-line.ts'
import { wholeNumber } from '../options/option-parsers.ts'
import { addStoreOption, chooseExistingStore, readStore } from '../options/store-option.ts'
import { pageColors, printJson, printNote, printText } from '../print.ts'
import { table } from '../render/table.ts'

interface Flags {
  readonly store?: string
  readonly sinceHours?: number
  readonly until?: number
  readonly trendBuckets?: number
  readonly step?: string
  readonly model?: string
  readonly pipeline?: string
  readonly tenant?: string
  readonly top?: number
  readonly json?: true
  readonly export?: 'json' | 'csv'
  readonly output?: string
}

const examples = `
Examples:
  proviso health-check --store sqlite:runs.db
  proviso health-check --since-hours 24 --trend-buckets 6 --store sqlite:runs.db
  proviso health-check --step extract --model openai/gpt-5-mini --json --store sqlite:runs.db
  proviso health-check --export csv --output health --store sqlite:runs.db

${describeExitCodes(['ok', 'usage'])}`

export function addHealthCheckCommand(program: Command): void {
  const command = program
    .command('health-check')
    .summary('report how well models satisfy their contracts')
    .description(
      'summarize repairs, skipped stages, prechecks and fallbacks of the model calls in a store, and recommend changes, without writing',
    )
    .option('--since-hours <hours>', 'limit to the last hours', hours)
    .option(
      '--until <time>',
      'limit to events before a time such as 2026-01-31T12:00:00Z (default: now)',
      parseTime,
    )
    .option('--trend-buckets <n>', 'split the time into this many buckets; needs --since-hours', buckets)
    .option('--step <name>', 'filter by step')
    .option('--model <id>', 'filter by model')
    .option('--pipeline <name>', 'filter by exact pipeline name')
    .option('--tenant <tenant>', 'filter by tenant')
    .option('--top <n>', 'limit the entries of each ranking (default: 10 on the page, else all)', wholeNumber)
  addStoreOption(command)
    .option('--json', 'print the report as JSON; the same as --export json')
    .addOption(
      new Option('--export <format>', 'write the report in this format instead of the page').choices([
        'json',
        'csv',
      ]),
    )
    .option(
      '--output <path>',
      'file to write, - for stdout; CSV writes PATH_steps.csv, _models, _transforms',
      '-',
    )
    .addHelpText('after', examples)
    .action(healthCheck)
}

async function healthCheck(flags: Flags): Promise<void> {
  const format = flags.export ?? (flags.json ? 'json' : undefined)
  if (flags.trendBuckets !== undefined && flags.sinceHours === undefined)
    throw new ProvisoError('option/invalid', 'A trend needs a start', {
      hint: 'Say --since-hours, such as --since-hours 24',
    })
  if (format === undefined && flags.output !== undefined && flags.output !== '-')
    throw new ProvisoError('option/invalid', 'The page goes to the terminal only', {
      hint: 'Say --export json or --export csv to write a file',
    })
  const survey = await readStore(chooseExistingStore(flags.store), (store) =>
    surveyHealth(store, toQuery(flags)),
  )
  const top = flags.top ?? (format === undefined ? 10 : undefined)
  const report = healthReport(survey, top === undefined ? {} : { top })
  if (format === undefined) printText(describeHealth(report, pageColors))
  else if (format === 'json') exportJson(report, flags.output ?? '-')
  else exportCsv(report, flags.output ?? '-')
}

function toQuery({ sinceHours, until, trendBuckets, step, model, tenant, pipeline }: Flags): HealthQuery {
  return {
    now: until ?? Date.now(),
    ...(sinceHours !== undefined && { sinceHours }),
    ...(trendBuckets !== undefined && { trendBuckets }),
    ...(step !== undefined && { nodeId: step }),
    ...(model !== undefined && { model }),
    ...(tenant !== undefined && { tenant }),
    ...(pipeline !== undefined && { pipeline }),
  }
}

function exportJson(report: HealthReport, output: string): void {
  if (output === '-') printJson(report, 'indented')
  else write(output, `${JSON.stringify(report, null, 2)}\n`)
}

/** Writes three CSV files; on stdout they follow each other, each under its name. */
function exportCsv(report: HealthReport, output: string): void {
  const files = healthCsv(report)
  const base = output.replace(/\.csv$/i, '')
  if (output === '-') printText(csvParts.map((part) => `# ${part}\r\n${files[part]}`).join('\r\n'))
  else for (const part of csvParts) write(`${base}_${part}.csv`, files[part])
}

function write(path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (cause) {
    throw new ProvisoError('option/invalid', `${path} could not be written: ${(cause as Error).message}`, {
      cause,
    })
  }
  printNote(`Written: ${path}`)
}

function hours(text: string): number {
  const value = Number(text)
  if (!Number.isFinite(value) || value <= 0 || text.trim() === '')
    throw new InvalidArgumentError('Must be a number of hours above zero.')
  return value
}

function parseTime(text: string): number {
  const value = Date.parse(text)
  if (Number.isNaN(value)) throw new InvalidArgumentError('Must be a time such as 2026-01-31T12:00:00Z.')
  return value
}

/** Upper bound of `--buckets`: more columns do not fit on a line. */
const mostBuckets = 120

function buckets(text: string): number {
  const value = wholeNumber(text)
  if (value < 2 || value > mostBuckets)
    throw new InvalidArgumentError(`Must be between 2 and ${mostBuckets}.`)
  return value
}

// The page: the report with character charts, a bar for one number and a sparkline for a series. Pure; the caller passes the colours.

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']
const columns = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']

/** Renders a bar of up to `width` characters; any value above zero is visible. */
function bar(value: number, most: number, width = 20): string {
  if (value <= 0 || most <= 0) return ''
  const parts = Math.max(Math.round((Math.min(value, most) / most) * width * 8), 1)
  return '█'.repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? '')
}

/** Renders a sparkline, one column per value; the lowest column means zero. */
function spark(values: readonly number[]): string {
  const most = Math.max(...values, 0)
  return values
    .map((value) => columns[most === 0 ? 0 : Math.ceil((Math.max(value, 0) / most) * (columns.length - 1))])
    .join('')
}

interface Style {
  bold(text: string): string
  dim(text: string): string
}

export function describeHealth(report: HealthReport, { bold, dim }: Style): string {
  if (report.totals.attempts === 0) return nothing(report)
  const sections: [title: string, lines: readonly string[]][] = [
    [headline(report), [dim(scope(report))]],
    ['Changes while reading', changes(report)],
    ['Steps', ranking(report.steps)],
    ['Models', ranking(report.models)],
    ['Rules that acted', counts(report.transforms)],
    ['Structured output', structured(report)],
    ['Prechecks', prechecks(report)],
    ['Fallback steps', describeFallbacks(report)],
    ['Shadow mode: what the reader would have done', shadow(report)],
    ['Trend', trend(report)],
    ['Recommendations', recommendations(report, dim)],
  ]
  return sections
    .filter(([, lines]) => lines.length > 0)
    .map(([title, lines]) => [bold(title), ...lines].join('\n'))
    .join('\n\n')
}

function nothing(report: HealthReport): string {
  return `No attempt of a model was found (${scope(report)}).`
}

function headline({ totals }: HealthReport): string {
  return `${count(totals.runs, 'run')}, ${count(totals.attempts, 'attempt')} of models`
}

function scope({ filters, generated_at }: HealthReport): string {
  const since =
    filters.since_hours === undefined ? 'all there is' : `the ${count(filters.since_hours, 'hour')}`
  const only = (['step', 'model', 'pipeline', 'tenant'] as const).flatMap((name) =>
    filters[name] === undefined ? [] : [`, ${name} ${oneLine(filters[name], 60)}`],
  )
  return `${since} before ${generated_at}${only.join('')}`
}

function changes({ totals, stages }: HealthReport): string[] {
  const { coercion_total: total, coercion_failed: failed, coercions_per_100_runs: rate } = totals
  const sum = `${total}, ${rate} per 100 runs; ${count(failed, 'text')} could not be read`
  const most = Math.max(...Object.values(stages))
  return [
    sum,
    ...Object.entries(stages)
      .filter(([, value]) => value > 0)
      .map(([stage, value]) => `  ${stage.padEnd(10)} ${bar(value, most).padEnd(20)} ${value}`),
  ]
}

function ranking(rows: HealthReport['steps']): string[] {
  const most = Math.max(...rows.map(({ coercions }) => coercions), 0)
  return table(
    ['  NAME', 'RUNS', 'CHANGES', 'PER 100 RUNS', ''],
    rows.map(({ name, runs, coercions, per_100_runs }) => [
      `  ${oneLine(name, 40)}`,
      // Without a rate there is no count of runs either: the model is unknown.
      per_100_runs === null ? '–' : String(runs),
      String(coercions),
      String(per_100_runs ?? '–'),
      bar(coercions, most),
    ]),
  ).split('\n')
}

function counts(rows: readonly { readonly name: string; readonly count: number }[]): string[] {
  const most = Math.max(...rows.map((row) => row.count), 0)
  return aligned(rows.map((row) => [`  ${row.name}`, bar(row.count, most).padEnd(20), String(row.count)]))
}

function structured({ totals, soe_skips }: HealthReport): string[] {
  const { soe_applied: applied, soe_skipped: skipped } = totals
  if (applied + skipped === 0) return ['never asked for']
  return [
    `applied ${count(applied, 'time')}, skipped ${count(skipped, 'time')}`,
    ...aligned(soe_skips.map((skip) => [`  ${skip.model}`, String(skip.count), skip.reason])),
  ]
}

function prechecks({ prechecks: rows }: HealthReport): string[] {
  return aligned(
    rows.map(({ name, total, fail, skipped, fail_rate }) => [
      `  ${name}`,
      `${fail} of ${total} failed`,
      fail_rate === null ? '' : `${Math.round(fail_rate * 100)} %`,
      skipped > 0 ? `${skipped} skipped` : '',
    ]),
  )
}

function describeFallbacks({ fallback_steps: rows, repairs }: HealthReport): string[] {
  const taken = rows.filter((row) => row.taken > 0)
  if (taken.length === 0) return []
  const unknown =
    repairs.unknown_cost_calls > 0 ? `, ${repairs.unknown_cost_calls} of them at an unknown cost` : ''
  return [
    `${count(repairs.calls, 'call')}, ${repairs.calls_per_100_runs} per 100 runs; ${repairs.input_tokens} + ${repairs.output_tokens} tokens, $${repairs.cost_usd}${unknown}`,
    ...aligned(taken.map((row) => [`  ${row.name}`, `${row.taken} taken`, `${row.success} helped`])),
  ]
}

function shadow({ shadow: rows }: HealthReport): string[] {
  if (rows.would_change + rows.would_fail === 0) return []
  return [
    `${count(rows.would_change, 'change')}, and ${count(rows.would_fail, 'text')} that it could not have read either`,
    ...counts(rows.transforms),
  ]
}

function trend({ trend: halves }: HealthReport): string[] {
  if (halves === undefined) return []
  const { prev_half: prev, last_half: last, buckets } = halves
  const series = buckets.map(({ coercions }) => coercions)
  return [
    `${count(prev.coercions, 'change')} in the first half of the time, ${last.coercions} in the second`,
    ...(series.length > 0 ? [`  ${spark(series)}  ${series.join(' ')}`] : []),
  ]
}

function recommendations({ recommendations: rows }: HealthReport, dim: Style['dim']): string[] {
  if (rows.length === 0) return ['none']
  return rows.flatMap(({ message, change, step, model, pointer }, index) => {
    const at = [step && `step ${step}`, model && `model ${model}`, pointer && `at ${pointer}`].filter(Boolean)
    return [
      `${index + 1}. ${oneLine(message, 200)}`,
      ...(at.length > 0 ? [dim(`   ${oneLine(at.join(', '), 200)}`)] : []),
      `   → ${oneLine(change, 300)}`,
    ]
  })
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : table(rows[0] ?? [], rows.slice(1)).split('\n')
}

/** `proviso dev`: tools for pipeline maintainers. */
export function addDevCommands(program: Command): void {
  addHealthCheckCommand(program.command('dev').description('tools for pipeline maintainers'))
}
