/**
 * What a run knows of the earlier runs of its thread. It is recorded when the run starts, so that retries, restarts and
 * replays see the same conversation, however the thread continues.
 */
import { toErrorMessage } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import { roughTokens } from '../../base/rough-tokens.ts'
import type { ToolGrant } from '../loop-facts.ts'
import type { Usage } from '../output.ts'
import type { RunStatus } from '../status.ts'

/** One run of a thread: what was said, and what came of it. */
export interface ThreadTurn {
  readonly runId: string
  readonly status: RunStatus
  /** The message, or the objective of a run that was started without one. */
  readonly message: string
  readonly output?: Json
  /** Why there is no output. */
  readonly error?: string
  /** What people were asked, and what they decided, oldest first. */
  readonly asks?: readonly ThreadAsk[]
}

export interface ThreadAsk {
  readonly question: string
  readonly decision?: string
  readonly value?: Json
  readonly note?: string
}

export interface ThreadSummary {
  /** How many turns it is about. */
  readonly turns: number
  /** One line each, the oldest left out first; or the words of a model. */
  readonly text: string
  /** The model that wrote it, and what that took. */
  readonly model?: string
  readonly usage?: Usage
  /** Why no model wrote it, although one is configured. */
  readonly note?: string
}

/** Writes the summary of turns with a model; rejects if it cannot. */
export type Summarise = (request: {
  /** The summary so far, and one line for each turn since. */
  readonly previous?: string
  readonly lines: readonly string[]
  readonly tokens: number
}) => Promise<Required<Pick<ThreadSummary, 'text' | 'model' | 'usage'>>>

export interface ThreadContext {
  /** The newest turns that fit into the budget, oldest first. */
  readonly turns: readonly ThreadTurn[]
  /** The turns before them. */
  readonly summary?: ThreadSummary
  /** Approvals that were given for the whole thread. */
  readonly grants?: readonly ToolGrant[]
}

/** Share of the budget that the summary may have. */
const summaryShare = 0.25
const longestLine = 200

/** Chooses what fits into a budget of tokens: a window of whole turns, and a summary of those before it. */
export function fitThread(turns: readonly ThreadTurn[], tokens: number): Omit<ThreadContext, 'grants'> {
  const whole = takeNewest(turns, tokens, toText)
  if (whole === turns.length) return { turns }
  const kept = takeNewest(turns, tokens * (1 - summaryShare), toText)
  const earlier = turns.slice(0, turns.length - kept)
  const lines = earlier.map(toLine)
  const shown = takeNewest(lines, tokens * summaryShare, (line) => line)
  return {
    turns: turns.slice(turns.length - kept),
    summary: { turns: earlier.length, text: lines.slice(lines.length - shown).join('\n') },
  }
}

/** Has a model write the summary, unless the one of the run before is about the same turns. */
export async function writeSummary(
  turns: readonly ThreadTurn[],
  fitted: ThreadContext,
  given: {
    readonly tokens: number
    readonly previous: ThreadSummary | undefined
    readonly summarise: Summarise
  },
): Promise<ThreadContext> {
  const { summary } = fitted
  if (!summary) return fitted
  const previous = given.previous?.model === undefined ? undefined : given.previous
  if (previous?.turns === summary.turns) return { ...fitted, summary: previous }
  const known = previous && previous.turns < summary.turns ? previous : undefined
  const lines = turns.slice(known?.turns ?? 0, summary.turns).map(toLine)
  const tokens = Math.floor(given.tokens * summaryShare)
  try {
    const written = await given.summarise({ ...(known && { previous: known.text }), lines, tokens })
    // Models may not count as we do.
    const text = written.text.slice(0, tokens * 4)
    return { ...fitted, summary: { turns: summary.turns, ...written, text } }
  } catch (cause) {
    return { ...fitted, summary: { ...summary, note: toErrorMessage(cause) } }
  }
}

/** How many of the last elements fit. */
function takeNewest<T>(list: readonly T[], tokens: number, write: (each: T) => string): number {
  let left = tokens
  let count = 0
  for (const each of [...list].reverse()) {
    left -= roughTokens(write(each))
    if (left < 0) break
    count++
  }
  return count
}

function toText(turn: ThreadTurn): string {
  return JSON.stringify(turn)
}

function toLine({ message, status, output, error }: ThreadTurn): string {
  const result =
    output === undefined ? `${status}${error === undefined ? '' : `: ${error}`}` : JSON.stringify(output)
  return `${clip(message)} → ${clip(result)}`
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > longestLine ? `${line.slice(0, longestLine - 1)}…` : line
}

/** The conversation as a model reads it. */
export function describeThread({ turns, summary }: ThreadContext): readonly string[] {
  const shown = turns.map(({ runId: _, ...turn }) => turn)
  return [
    ...(summary && summary.text !== ''
      ? [
          `Summary of ${summary.turns} earlier messages of this conversation${summary.model === undefined ? ', message → result' : ''}:\n${summary.text}`,
        ]
      : []),
    ...(shown.length > 0 ? [`The conversation so far, oldest first: ${JSON.stringify(shown)}`] : []),
  ]
}
