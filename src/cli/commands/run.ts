/** `proviso run`: plans the envelope of a file or proves its draft, runs it under its contract, and prints the output. */
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { env } from '../env.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addConfigOptions, type ConfigFlags } from '../input/config-option.ts'
import { addInputOption, addUseOption, readStart } from '../input/read-work.ts'
import { addModelOptions, chooseModels, type ModelFlags } from '../options/model-option.ts'
import { addProgressOptions, chooseShown, type ProgressFlags } from '../options/progress-option.ts'
import { addStoreOption, chooseStore } from '../options/store-option.ts'
import { refuse } from '../print.ts'
import { executeRun } from '../run/follow-run.ts'

interface Flags extends ProgressFlags, ConfigFlags, ModelFlags {
  readonly input: readonly string[]
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly store?: string
  readonly runId?: string
}

const examples = `
FILE is {"envelope": {…}, "draft": {…}, "capabilities": […]}, or an envelope alone. Without a draft, the planner makes the plan.
Capabilities in the file have the kind "scripted" or "human"; load programs with --use.

A .yaml or .yml FILE is a pipeline: pass its input with --input, and its settings in proviso.toml.
A .xml FILE is a template: pass each of its inputs with --input NAME=VALUE.

Examples:
  proviso run tea.json                                   print the output as JSON, the progress on stderr
  proviso run tea.json --use kettle.mjs                  load your own capabilities
  proviso run tea.json --store sqlite:runs.db            keep the run, to answer requests later
  proviso run pipeline.yaml --input "@input.json"        run a pipeline
  proviso run report.xml --input topic=tea               run a template
  proviso run tea.json --rehearse --show-prompts         call no model, print what it would be asked
  proviso run tea.json --cassette tea.cassette.json      replay recorded model calls
  proviso run tea.json --json                            print every event as one line of JSON

${describeExitCodes(['ok', 'usage', 'unmet', 'importFailed', 'waiting', 'budget', 'interrupted'])}`

export function addRunCommand(program: Command): void {
  const command = program
    .command('run')
    .summary('run an envelope under its contract')
    .description('prove that a plan can satisfy its contract, then execute it')
    .argument(
      '<file>',
      'pipeline (.yaml), template (.xml), or JSON with envelope, draft and capabilities; "-" is stdin',
    )
  addProgressOptions(
    addModelOptions(addConfigOptions(addInputOption(addStoreOption(addUseOption(command), 'memory')))),
    'print every event as one line of JSON',
  )
    .option('--run-id <id>', 'set the run id (default: a new one)')
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
    shown: chooseShown(flags),
    models: await chooseModels(flags),
    by: env.user ?? 'terminal',
  }
  return executeRun(session, async (app) => {
    await app.prepare(work.envelope, { runId, ...(work.draft && { draft: work.draft }) }).start()
    return { runId, after: 0 }
  })
}
