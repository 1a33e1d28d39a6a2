/** `proviso prove`: plans an envelope, or takes the draft of a file, and says whether it can satisfy the contract. */
import type { Command } from 'commander'
import { type Choice, prove, search, withBuiltins } from '../../plan/index.ts'
import { addConfigOptions, type ConfigFlags } from '../config-option.ts'
import { describeProof } from '../describe-proof.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { pageColors, printJson, printText, refuse } from '../print.ts'
import { type Proved, viewProof } from '../proof-view.ts'
import type { Unreadable } from '../read-input.ts'
import { addInputOption, addUseOption, readStart, type Work } from '../read-work.ts'

interface Flags extends ConfigFlags {
  readonly input: readonly string[]
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly why?: true
  readonly json?: true
}

const examples = `
FILE is an envelope, or {"envelope": {…}, "draft": {…}, "capabilities": […]} as for "run". Without a draft the search planner
makes one, over the capabilities of the file, those of --use, and the built-in ones.

Examples:
  proviso prove envelope.json                            the plan, with a mark per property and constraint
  proviso prove envelope.json --use agents.mjs --why     … over your capabilities, with every choice explained
  proviso prove draft.json --json                        … as one JSON object

${describeExitCodes(['ok', 'usage', 'unmet'])}`

export function addProveCommand(program: Command): void {
  const command = program
    .command('prove')
    .summary('plan an envelope and prove that the plan can satisfy its contract')
    .description(
      'Proves before anything runs whether a plan can satisfy its contract, and prints what to fix.',
    )
    .argument(
      '<file>',
      'pipeline (.yaml), template (.xml), or JSON with an envelope, or with envelope, draft and capabilities; "-" is stdin',
    )
  addConfigOptions(addInputOption(addUseOption(command)))
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
  const done = proved(work)
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

type Done = Proved & { readonly choices: readonly Choice[] }

function proved({
  envelope,
  draft,
  capabilities: defined,
  facets,
}: Work): Done | { readonly unreadable: Unreadable } {
  if (envelope === undefined) return { unreadable: { message: 'there is no envelope' } }
  const capabilities = withBuiltins(defined.map(({ capability }) => capability))
  if (draft === undefined) return { envelope, ...search({ envelope, facets, capabilities }) }
  const proof = prove({ envelope, draft, facets, capabilities, version: 1 })
  return { envelope, draft, proof, choices: [] }
}
