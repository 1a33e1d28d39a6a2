/** `proviso run`: plans the envelope of a file or proves its draft, runs it under its contract, and prints the output. */
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { env } from '../env.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addConfigOptions, type ConfigFlags } from '../input/config-option.ts'
import { addInputOption, addUseOption, readStart } from '../input/read-work.ts'
import { addStoreOption, chooseStore } from '../options/store-option.ts'
import { refuse } from '../print.ts'
import { carryOn } from '../run/follow-run.ts'

interface Flags extends ConfigFlags {
  readonly input: readonly string[]
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly store?: string
  readonly runId?: string
  readonly json?: true
}

const examples = `
FILE is {"envelope": {…}, "draft": {…}, "capabilities": […]}: what is wanted, how, and by whom; or an envelope alone. Without a
draft the plan is searched for. Capabilities in it are of the kinds "scripted" and "human"; --use brings those that are programs.

A FILE that ends in .yaml or .yml is a pipeline: agents and steps, with --input for what it is given and proviso.toml for settings.
A FILE that ends in .xml is a template: tasks, calls and conditions, with one --input NAME=VALUE for each of its inputs.

Examples:
  proviso run tea.json                                   the answer as JSON, the way there on stderr
  proviso run tea.json --use kettle.mjs                  … with capabilities of your own
  proviso run tea.json --store sqlite:runs.db            … kept, so that people can answer later
  proviso run pipeline.yaml --input '{"topic": "tea"}'     a pipeline, by the same engine
  proviso run report.xml --input topic=tea               a template, by the same engine
  proviso run tea.json --json                            … every event as one line of JSON

${describeExitCodes(['ok', 'usage', 'unmet', 'importFailed', 'waiting', 'budget', 'interrupted'])}`

export function addRunCommand(program: Command): void {
  const command = program
    .command('run')
    .summary('run an envelope under its contract')
    .description('Proves that a plan can satisfy its contract, then runs it until there is an answer.')
    .argument(
      '<file>',
      'pipeline (.yaml), template (.xml), or JSON with envelope, draft and capabilities; "-" is stdin',
    )
  addConfigOptions(addInputOption(addStoreOption(addUseOption(command))))
    .option('--run-id <id>', 'name of the run (default: a new one)')
    .option('--json', 'print every event as one line of JSON')
    .addHelpText('after', examples)
    .action(async (file: string, flags: Flags) => {
      process.exitCode = await run(file, flags)
    })
}

async function run(file: string, flags: Flags): Promise<number> {
  const store = chooseStore(flags.store)
  const work = await readStart({ ...flags, file })
  if ('unreadable' in work) return refuse(work.unreadable)
  const runId = flags.runId ?? `run_${randomUUID()}`
  const session = {
    store,
    work,
    flags: { use: flags.use, preset: flags.preset ?? [], ...(file !== '-' && { file }) },
    json: flags.json ?? false,
    by: env.user ?? 'terminal',
  }
  return carryOn(session, async (app) => {
    await app.start(work.envelope, { runId, ...(work.draft && { draft: work.draft }) })
    return { runId, after: 0 }
  })
}
