/** `proviso graph`: draws the plan of a file or of a run, as Mermaid, Graphviz or SVG. */
import { existsSync, writeFileSync } from 'node:fs'
import { type Command, Option } from 'commander'
import type { Plan } from '../../domain/plan.ts'
import { loadState } from '../../engine/journal/journal.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { drawSvg } from '../graph/draw-svg.ts'
import { buildPlanGraph, type PlanGraph } from '../graph/plan-graph.ts'
import { writeDot, writeMermaid } from '../graph/write-graph.ts'
import { addConfigOptions, type ConfigFlags } from '../input/config-option.ts'
import {
  addInputOption,
  addUseOption,
  isPipelineFile,
  readPipelineDraft,
  readStart,
} from '../input/read-work.ts'
import { addStoreOption, chooseExistingStore, readStore } from '../options/store-option.ts'
import { printJson, printNote, printText, refuse } from '../print.ts'
import type { Unreadable } from '../read-input.ts'
import { proveWork } from '../run/prove-work.ts'
import { cannotWrite } from '../validate/fix-pipeline.ts'

interface Flags extends ConfigFlags {
  readonly input: readonly string[]
  readonly use: readonly string[]
  readonly preset?: readonly string[]
  readonly store?: string
  readonly assumeProviders?: true
  readonly format: 'mermaid' | 'dot' | 'svg' | 'json'
  readonly output?: string
  readonly all?: true
}

const examples = `
FILE is a pipeline, a template, or JSON as for "prove". A pipeline without --input is drawn without a proof. RUN is the id of a run in the store: its nodes have the colour of their state.

Examples:
  proviso graph pipeline.yaml                                      print a Mermaid diagram, for Markdown
  proviso graph pipeline.yaml --format svg --output plan.svg       write a picture
  proviso graph r1 --store sqlite:runs.db --format svg --output r1.svg
  proviso graph pipeline.yaml --format dot                         print text for Graphviz

${describeExitCodes(['ok', 'usage', 'unmet'])}`

export function addGraphCommand(program: Command): void {
  const command = program
    .command('graph')
    .summary('draw the plan of a file or a run')
    .description('draw the plan of a file or a run as Mermaid, Graphviz or SVG')
    .argument('<file-or-run>', 'pipeline (.yaml), template (.xml), JSON as for prove, or the id of a run')
  addConfigOptions(addInputOption(addStoreOption(addUseOption(command))))
    .addOption(
      new Option('--format <format>', 'format of the picture')
        .choices(['mermaid', 'dot', 'svg', 'json'])
        .default('mermaid'),
    )
    .option('-o, --output <file>', 'write to a file instead of stdout')
    .option('--assume-providers', 'plan as if every model had a provider')
    .option('--all', 'show the nodes that the compiler inserts, too')
    .addHelpText('after', examples)
    .action(async (given: string, flags: Flags) => {
      process.exitCode = await graph(given, flags)
    })
}

async function graph(given: string, flags: Flags): Promise<number> {
  const isFile = given === '-' || existsSync(given) || /\.(ya?ml|xml|json)$/i.test(given)
  const built = isFile ? await graphFile(given, flags) : await graphRun(given, flags)
  if ('unreadable' in built) return refuse(built.unreadable)
  if (flags.format === 'json' && flags.output === undefined) printJson(built.graph, 'indented')
  else {
    const text = render(built.graph, flags.format)
    const hindered = flags.output === undefined ? printText(text) : write(flags.output, text)
    if (hindered) return refuse(hindered)
  }
  if (built.isRejected) printNote('The draft was rejected: run proviso prove to see why')
  return exitCode(built.isRejected ? 'unmet' : 'ok')
}

type Built = { readonly graph: PlanGraph; readonly isRejected: boolean } | { readonly unreadable: Unreadable }

async function graphFile(file: string, flags: Flags): Promise<Built> {
  const { title, all } = { title: file, all: flags.all === true }
  if (isPipelineFile(file) && flags.input.length === 0) {
    const drafted = await readPipelineDraft({ ...flags, file })
    // Nothing is proved without an input.
    return 'unreadable' in drafted
      ? drafted
      : { graph: buildPlanGraph(drafted.draft, { title, all }), isRejected: false }
  }
  const work = await readStart({ ...flags, file })
  if ('unreadable' in work) return work
  const done = await proveWork(work, flags)
  if ('unreadable' in done) return done
  const { proof, draft } = done
  return { graph: buildPlanGraph(proof.ok ? proof.plan : draft, { title, all }), isRejected: !proof.ok }
}

async function graphRun(runId: string, flags: Flags): Promise<Built> {
  return readStore(chooseExistingStore(flags.store), async (store): Promise<Built> => {
    if (!(await store.head(runId)))
      return {
        unreadable: {
          message: `"${runId}" is neither a file nor a run of the store`,
          hint: 'List runs with proviso runs',
        },
      }
    const { plan, nodes } = await loadState(store, runId)
    if (!plan)
      return {
        unreadable: { message: `Run "${runId}" has no plan`, hint: 'See proviso show for the reason' },
      }
    const statuses = new Map([...nodes].map(([id, { status }]) => [id, status]))
    const title = `Run ${runId}`
    return {
      graph: buildPlanGraph(plan as Plan, { title, statuses, all: flags.all === true }),
      isRejected: false,
    }
  })
}

function render(graph: PlanGraph, format: Flags['format']): string {
  if (format === 'svg') return drawSvg(graph)
  if (format === 'json') return `${JSON.stringify(graph, null, 2)}\n`
  return format === 'dot' ? writeDot(graph) : writeMermaid(graph)
}

function write(file: string, text: string): Unreadable | undefined {
  try {
    writeFileSync(file, text)
    printNote(`Wrote ${file}`)
    return undefined
  } catch (error) {
    return cannotWrite(file, error)
  }
}
