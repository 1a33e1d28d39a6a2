/** `proviso worker`: executes the runs of a store until it receives a stop signal. */
import { type Command, Option } from 'commander'
import { describeExitCodes } from '../exit-codes.ts'
import { addUseOption } from '../input/read-work.ts'
import { duration, wholeNumber } from '../options/option-parsers.ts'
import { addStoreOption } from '../options/store-option.ts'
import { addExecutionFlags } from '../serve/serve-settings.ts'
import type { WorkerFlags } from '../serve/worker.ts'

const examples = `
Scale the API and the workers apart on PostgreSQL: start \`proviso serve --no-execute\` behind a load balancer, and as many workers
as the work needs. They need the same settings and the same PROVISO_SECRET_KEY. A run whose capabilities a worker lacks is left to
another one. Health: a line at the start, one a minute, and one at the end.
Shutdown: SIGTERM or Ctrl-C claims nothing more, lets attempts end for --drain, and releases the runs to other workers.

Examples:
  proviso worker --store postgres://… --use agents.mjs
  proviso worker --store postgres://… --use agents.mjs --queue restate --restate-address http://workers.internal:9080
  proviso worker --store postgres://… --use agents.mjs --labels region=eu
  proviso worker --store postgres://… --use agents.mjs --capabilities render,transcode --concurrency 4

${describeExitCodes(['ok', 'internal', 'usage'])}`

export function addWorkerCommand(program: Command): void {
  const command = program
    .command('worker')
    .summary('execute runs without serving HTTP')
    .description('execute the runs of a store and start those of schedules, without serving HTTP')
    .option(
      '--capabilities <ids>',
      'of the modules of --use, execute only these capabilities, and plan with all; separated by commas',
      list,
    )
    .option('--concurrency <n>', 'attempts at once (default: 1000)', wholeNumber)
    .option(
      '--capability-concurrency <n>',
      'attempts of one capability at once (default: no limit)',
      wholeNumber,
    )
    .option('--poll <ms>', 'pause between two queries for due runs', wholeNumber, 200)
    .option(
      '--lease <ms>',
      'how long others wait for this worker after it has died (default: 15000)',
      wholeNumber,
    )
    .addOption(
      new Option('--drain <time>', 'how long attempts may take to end after SIGTERM')
        .argParser(duration)
        .default(4_000, '4s'),
    )
    .addOption(
      new Option('--health-every <time>', 'pause between two health lines')
        .argParser(duration)
        .default(60_000, '1m'),
    )
    .option('--config <file>', 'settings file (default: $PROVISO_CONFIG, else proviso.toml here or above)')
    .option('--json', 'print health lines as JSON')
  addExecutionFlags(addStoreOption(addUseOption(command), 'server'))
    .addHelpText('after', examples)
    .action(async (flags: WorkerFlags) => {
      // Lazy import: the app is large, and other commands do not need it.
      const { work } = await import('../serve/worker.ts')
      process.exitCode = await work(flags)
    })
}

function list(text: string): readonly string[] {
  return text.split(',').map((id) => id.trim())
}
