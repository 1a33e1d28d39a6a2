/** `proviso health-check`: reports from a store's trace spans how well models meet their contracts, and what to change. */
import { writeFileSync } from 'node:fs'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { ProvisoError } from '../../base/errors/error.ts'
import { csvParts, healthCsv } from '../../health/csv.ts'
import { type HealthReport, healthReport } from '../../health/report.ts'
import { type HealthQuery, surveyHealth } from '../../health/survey.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { wholeNumber } from '../options/option-parsers.ts'
import { addStoreOption, chooseExistingStore, readStore } from '../options/store-option.ts'
import { pageColors, printJson, printNote, printText } from '../print.ts'
import { describeHealth } from '../render/describe-health.ts'

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
    surveyHealth(store, queryOf(flags)),
  )
  const top = flags.top ?? (format === undefined ? 10 : undefined)
  const report = healthReport(survey, top === undefined ? {} : { top })
  if (format === undefined) printText(describeHealth(report, pageColors))
  else if (format === 'json') exportJson(report, flags.output ?? '-')
  else exportCsv(report, flags.output ?? '-')
}

function queryOf({ sinceHours, until, trendBuckets, step, model, tenant, pipeline }: Flags): HealthQuery {
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
