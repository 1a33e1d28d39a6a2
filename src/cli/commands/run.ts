/** `proviso run`: plans the envelope of a file or proves its draft, runs it under its contract, and prints the answer. */
import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import { carryOn } from '../carry-on.ts'
import { env } from '../env.ts'
import { describeExitCodes } from '../exit-codes.ts'
import { addInputOption, readInputs } from '../input-option.ts'
import { refuse } from '../print.ts'
import { addUseOption, readWork } from '../read-work.ts'
import { addStoreOption, chooseStore } from '../store-option.ts'

interface Flags {
  readonly use: readonly string[]
  readonly input: readonly string[]
  readonly store?: string
  readonly runId?: string
  readonly json?: true
}

const examples = `
FILE is {"envelope": {…}, "draft": {…}, "capabilities": […]}: what is wanted, how, and by whom; or an envelope alone. Without a
draft the plan is searched for. Capabilities in it are of the kinds "scripted" and "human"; --use brings those that are programs.
A FILE that ends in .xml is a template: it becomes a draft for the inputs given.

Examples:
  proviso run tea.json                                   the answer as JSON, the way there on stderr
  proviso run tea.json --use kettle.mjs                  … with capabilities of your own
  proviso run tea.json --store sqlite:runs.db            … kept, so that people can answer later
  proviso run report.xml --input topic=tea               a template, with its input
  proviso run tea.json --json                            … every event as one line of JSON

${describeExitCodes(['ok', 'usage', 'unmet', 'waiting', 'budget', 'interrupted'])}`

export function addRunCommand(program: Command): void {
  const command = program
    .command('run')
    .summary('run an envelope under its contract')
    .description('Proves that a plan can satisfy its contract, then runs it until there is an answer.')
    .argument('<file>', 'JSON file with envelope, draft and capabilities ("-" is stdin), or an XML template')
  addStoreOption(addInputOption(addUseOption(command)))
    .option('--run-id <id>', 'name of the run (default: a new one)')
    .option('--json', 'print every event as one line of JSON')
    .addHelpText('after', examples)
    .action(async (file: string, flags: Flags) => {
      process.exitCode = await run(file, flags)
    })
}

async function run(file: string, flags: Flags): Promise<number> {
  const store = chooseStore(flags.store)
  const given = await readInputs(flags.input)
  if ('unreadable' in given) return refuse(given.unreadable)
  const work = await readWork({ file, use: flags.use, inputs: given.inputs })
  if ('unreadable' in work) return refuse(work.unreadable)
  const runId = flags.runId ?? `run_${randomUUID()}`
  const session = {
    store,
    work,
    flags: { use: flags.use, ...(file !== '-' && { file }) },
    json: flags.json ?? false,
    by: env.user ?? 'terminal',
  }
  return carryOn(session, async (app) => {
    await app.start(work.envelope, { runId, ...(work.draft && { draft: work.draft }) })
    return { runId, after: 0 }
  })
}
