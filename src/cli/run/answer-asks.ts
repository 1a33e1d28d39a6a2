/** Answers the open asks of a run at the terminal: shows each, lets the person choose, and records the decision. */
import { createInterface, type Interface } from 'node:readline/promises'
import type { App } from '../../app.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import type { Ask, Decision, Reply } from '../../domain/ask.ts'
import { colors, printIssues, printNote, printProblem } from '../print.ts'
import { describeAsk } from '../render/describe-ask.ts'

interface OpenAsks {
  readonly app: App
  readonly runId: string
  readonly asks: readonly Ask[]
  /** Who answers. */
  readonly by: string
}

/** Returns whether a decision was recorded; `false` if the person leaves all asks open. */
export async function answerAsks({ app, runId, asks, by }: OpenAsks): Promise<boolean> {
  // On stderr: stdout is for the answer of the run.
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true })
  const closed = new AbortController()
  lines.once('close', () => closed.abort())
  lines.once('SIGINT', () => lines.close())
  try {
    let isAnswered = false
    for (const ask of asks) {
      if (await answer({ app, runId, ask, by, prompt: createPrompt(lines, closed.signal) })) isAnswered = true
      if (closed.signal.aborted) break
    }
    return isAnswered
  } finally {
    lines.close()
  }
}

/** Asks for one line, with a text to edit; `undefined` if the person presses Ctrl-C or Ctrl-D. */
type Prompt = (question: string, given?: string) => Promise<string | undefined>

function createPrompt(lines: Interface, signal: AbortSignal): Prompt {
  return async (question, given = '') => {
    if (signal.aborted) return undefined
    try {
      const line = lines.question(question, { signal })
      if (given !== '') lines.write(given)
      return (await line).trim()
    } catch {
      return undefined
    }
  }
}

interface Answering {
  readonly app: App
  readonly runId: string
  readonly ask: Ask
  readonly by: string
  readonly prompt: Prompt
}

/** Repeats the question until a decision is recorded, or the person leaves the ask open. */
async function answer({ app, runId, ask, by, prompt }: Answering): Promise<boolean> {
  for (const line of describeAsk(ask, colors)) printNote(line)
  const choices = ask.decisions.map((decision, index) => `${index + 1} ${decision}`).join(', ')
  for (;;) {
    const said = await prompt(`  ${choices}, Enter to leave it open: `)
    if (said === undefined || said === '') return false
    const decision = chooseDecision(said, ask.decisions)
    if (decision === undefined) {
      printNote(`  Type a number from 1 to ${ask.decisions.length}, or the beginning of a word`)
      continue
    }
    const value = await askForValue(decision, ask, prompt)
    if (value === undefined) continue
    const note = decision === 'reject' ? await prompt('  reason (optional): ') : ''
    if (note === undefined) return false
    const { requestId, valueHash } = ask
    const reply = { requestId, valueHash, decision, by, ...value, ...(note !== '' && { note }) }
    if (await record(app, runId, reply)) return true
  }
}

function chooseDecision(said: string, decisions: readonly Decision[]): Decision | undefined {
  const [only, ...others] = decisions.filter((decision) => decision.startsWith(said.toLowerCase()))
  return decisions[Number(said) - 1] ?? (others.length === 0 ? only : undefined)
}

/** Reads the value of `edit` and `answer`; `undefined` if the person gives none. */
async function askForValue(
  decision: Decision,
  { value, schema }: Ask,
  prompt: Prompt,
): Promise<{ readonly value?: Json } | undefined> {
  if (decision !== 'edit' && decision !== 'answer') return {}
  if (decision === 'answer' && schema !== undefined)
    printNote(`  ${colors.dim(`JSON must satisfy ${JSON.stringify(schema)}`)}`)
  let given = decision === 'edit' ? JSON.stringify(value) : ''
  for (;;) {
    const said = await prompt('  value as JSON: ', given)
    if (said === undefined || said === '') return undefined
    try {
      return { value: JSON.parse(said) }
    } catch (error) {
      printNote(`  Not JSON: ${(error as Error).message}`)
      given = said
    }
  }
}

/** Returns `false` if the engine refuses the decision, such as a value that breaks the contract. */
async function record(app: App, runId: string, reply: Reply): Promise<boolean> {
  try {
    await app.reply(runId, reply)
    printNote(`${colors.green('✓')} ${reply.decision} by ${reply.by} is recorded`)
    return true
  } catch (error) {
    if (!(error instanceof ProvisoError)) throw error
    printProblem(error.message, error.hint)
    printIssues(error.issues ?? [], 'the value', '')
    // Another person was faster, or the ask has expired: there is nothing left to decide here.
    return error.code === 'ask/resolved' || error.code === 'ask/expired'
  }
}
