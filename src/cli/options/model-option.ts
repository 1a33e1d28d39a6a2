/** `--rehearse`, `--cassette`, `--record` and `--show-prompts`: which models a run calls, and whether its prompts are printed. */
import { existsSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { type Prompt, providersFromKeys, watchPrompts } from '../../adapters/models/index.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import { readEnv } from '../../env.ts'
import { type Colors, colors, printNote } from '../print.ts'

export interface ModelFlags {
  readonly rehearse?: boolean
  readonly cassette?: string
  readonly record?: boolean
  readonly showPrompts?: boolean
  readonly json?: boolean
}

export function addModelOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--rehearse', 'call no model: make up answers that satisfy the schemas').conflicts(
        'cassette',
      ),
    )
    .option('--cassette <file>', 'call no model: replay the calls of a recording')
    .option('--record', 'call the models, and record the calls in the file of --cassette')
    .option('--show-prompts', 'print every request to a model on stderr, redacted')
}

export interface ModelChoice {
  /** Absent: those of the environment. */
  readonly providers?: readonly Provider[]
  /** The same choice for the command that continues the run. */
  readonly flags?: readonly string[]
  /** Model planners are replaced by the search: made-up drafts are no plans. */
  readonly isRehearsal?: true
  /** Called when the run is over or waits: writes the recording. */
  readonly finish: () => void
}

/** `isContinued`: a recording of an earlier command about the same run is continued, not replaced. */
export async function chooseModels(
  flags: ModelFlags,
  { isContinued = false }: { readonly isContinued?: boolean } = {},
): Promise<ModelChoice> {
  const chosen = await chooseCalled(flags, isContinued)
  if (!flags.showPrompts) return chosen
  let count = 0
  const print = (prompt: Prompt) => {
    count++
    if (flags.json) printNote(JSON.stringify({ request: count, ...prompt }))
    else printNote(describePrompt(prompt, count, colors))
  }
  return { ...chosen, providers: watchPrompts(chosen.providers ?? providersFromKeys(readEnv()), print) }
}

async function chooseCalled(
  { rehearse, cassette: file, record }: ModelFlags,
  isContinued: boolean,
): Promise<ModelChoice> {
  if (rehearse) {
    const { rehearsal } = await import('../../testing/index.ts')
    return { providers: [rehearsal()], isRehearsal: true, flags: ['--rehearse'], finish: () => {} }
  }
  if (file === undefined) {
    if (record)
      throw new ProvisoError('option/invalid', '--record needs --cassette', {
        hint: 'Name the file of the recording: --cassette FILE --record',
      })
    return { finish: () => {} }
  }
  const { cassette } = await import('../../testing/index.ts')
  if (record) {
    const tape = cassette({ file, mode: isContinued ? 'extend' : 'record' })
    return {
      providers: providersFromKeys(readEnv()).map(tape.record),
      flags: ['--cassette', file, '--record'],
      finish() {
        tape.save()
        printNote(`Recorded ${tape.recorded} model calls in ${file}`)
      },
    }
  }
  if (!existsSync(file))
    throw new ProvisoError('option/invalid', `Cassette ${file} not found`, {
      hint: 'Check the path, or record it: --cassette FILE --record',
    })
  return { providers: [cassette({ file })], flags: ['--cassette', file], finish: () => {} }
}

type Message = NonNullable<Prompt['messages']>[number]

/** A request to a model for people: what it is sent beside the words, then the words as they are. */
function describePrompt(prompt: Prompt, number: number, colors: Colors): string {
  const { model, system, messages = [], tools = [], toolChoice, schema, structured, settings } = prompt
  const title = (text: string) => colors.bold(`── ${text}`)
  const lines = [
    title(`request ${number} to ${model}`),
    ...(settings ? [`settings ${JSON.stringify(settings)}`] : []),
    ...(prompt.maxOutputTokens === undefined ? [] : [`at most ${prompt.maxOutputTokens} tokens`]),
    ...(structured?.kind === 'applied' ? [`${structured.as} ${JSON.stringify(schema)}`] : []),
    ...(prompt.files ?? []).map(
      (file) => `file ${file.mediaType}, ${file.bytes} bytes, of the input ${file.pointer}`,
    ),
    ...tools.map((tool) =>
      `tool ${tool.name} ${JSON.stringify(tool.inputSchema)} ${tool.description}`.trim(),
    ),
    ...(toolChoice === undefined ? [] : [`tool choice ${JSON.stringify(toolChoice)}`]),
    ...(system === '' ? [] : [title('system'), system]),
    ...(prompt.prompt === undefined ? [] : [title('user'), prompt.prompt]),
    ...messages.flatMap((message) => [title(message.role), ...messageLines(message)]),
    title('end'),
  ]
  return lines.join('\n')
}

function messageLines(message: Message): string[] {
  if (message.role === 'user') return [message.text]
  if (message.role === 'tool')
    return message.results.map(
      ({ toolName, text, isError }) => `${toolName} ${isError ? 'failed' : 'returned'} ${text}`,
    )
  return message.parts.map((part) => {
    if (part.type === 'tool-call') return `calls ${part.toolName} ${part.input}`
    return part.type === 'reasoning' ? `thinks ${part.text}` : part.text
  })
}
