/** `proviso prove`: plans an envelope, or takes the draft of a file, and reports whether it can satisfy the contract. */
import type { Command } from 'commander'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { addConfigOptions, type ConfigFlags } from '../input/config-option.ts'
import { addInputOption, addUseOption, readStart } from '../input/read-work.ts'
import { pageColors, printJson, printText, refuse } from '../print.ts'
import { describeProof } from '../render/describe-proof.ts'
import { viewProof } from '../render/proof-view.ts'
import { proveWork } from '../run/prove-work.ts'

interface Flags extends ConfigFlags {
  readonly input: readonly string[]
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly assumeProviders?: true
  readonly why?: true
  readonly json?: true
}

const examples = `
FILE is an envelope, or {"envelope": {…}, "draft": {…}, "capabilities": […]} as for "run". Without a draft, the search planner
makes one from the capabilities of the file, of --use, and the built-in ones. As for "run", a capability without a provider for
its model is inactive.

Examples:
  proviso prove envelope.json                            print the plan, with a mark for each property and constraint
  proviso prove envelope.json --use agents.mjs --why     use your capabilities, and explain every choice
  proviso prove draft.json --json                        print one JSON object
  proviso prove pipeline.yaml --assume-providers         prove without API keys

${describeExitCodes(['ok', 'usage', 'unmet'])}`

export function addProveCommand(program: Command): void {
  const command = program
    .command('prove')
    .summary('plan an envelope and prove that the plan can satisfy its contract')
    .description('prove before a run whether a plan can satisfy its contract, and print the diagnostics')
    .argument(
      '<file>',
      'pipeline (.yaml), template (.xml), or JSON with an envelope, draft and capabilities; "-" is stdin',
    )
  addConfigOptions(addInputOption(addUseOption(command)))
    .option('--assume-providers', 'prove as if every model had a provider')
    .option('--why', 'explain every choice of the planner')
    .option('--json', 'print the proof as one JSON object')
    .addHelpText('after', examples)
    .action(async (file: string, flags: Flags) => {
      process.exitCode = await runProve(file, flags)
    })
}

async function runProve(file: string, flags: Flags): Promise<number> {
  const work = await readStart({ ...flags, file })
  if ('unreadable' in work) return refuse(work.unreadable)
  const done = await proveWork(work, flags)
  if ('unreadable' in done) return refuse(done.unreadable)
  const { choices, ...proof } = done
  const view = viewProof(proof)
  if (flags.json) {
    const { accepted, bundle, answer, constraints, rao } = view
    const plan = proof.proof.ok ? { plan: proof.proof.plan } : { draft: proof.draft }
    printJson({ accepted, ...bundle, answer, constraints, rao, choices, ...plan }, 'line')
  } else {
    printText(describeProof(view, flags.why ? choices : [], pageColors))
  }
  return exitCode(view.accepted ? 'ok' : 'unmet')
}
