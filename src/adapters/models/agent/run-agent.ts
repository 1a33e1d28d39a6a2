/**
 * Runs an agent: turns of its model and calls of its tools until it answers, people have to decide, or a limit is reached.
 * Every fact is in the journal before what follows from it happens, and what to do next is derived from the facts alone: an
 * attempt continues where the last one stopped, in any process. A turn that has ended is not asked again, a call that has
 * ended is not made again, and a call in doubt is repeated under its key or decided by a person.
 */
import type { Issue } from '../../../base/errors/issue.ts'
import type { Json } from '../../../base/json.ts'
import type { LoopProgress } from '../../../domain/loop/agent-settings.ts'
import type { LoopState } from '../../../domain/loop/loop-state.ts'
import type { FinalReason } from '../../../domain/loop-facts.ts'
import { type AttemptResult, addUsage, type Output } from '../../../domain/output.ts'
import type { ModelAnswer } from '../../../domain/ports/provider.ts'
import { evaluate, parseCondition } from '../../../schema/condition/condition.ts'
import { toFailure } from '../generate/generation.ts'
import { feedbackWords, finalWords } from '../generate/prompts.ts'
import { readText } from '../generate/read-output.ts'
import { isStuck } from './propose-calls.ts'
import { type AgentTask, createSession, type Session } from './session.ts'
import { takeTurn, type WantedTurn } from './take-turn.ts'
import { settleCalls } from './tool-calls.ts'

/** Most answers that one attempt reads: each further one is requested in its format, with what was wrong. */
const mostAnswers = 3

export async function runAgent(task: AgentTask): Promise<AttemptResult> {
  const { agentLoop, model, provider, call } = task
  const [missing] = agentLoop.missing
  if (!provider.tools)
    return impossible('model/no-tools', `The provider of the model "${model}" does not support tools`)
  if (missing !== undefined)
    return impossible('model/no-tool', `The tool "${missing}" is not registered in this process`)
  const session = createSession(task)
  let wrong: readonly Issue[] = []
  for (let answers = 0; ; ) {
    if (call.signal.aborted) return endWith(session, { kind: 'cancelled', message: 'The call was cancelled' })
    const phase = getPhase(session)
    if (phase === 'calls' && (await settleCalls(session)) === 'undecided')
      return { outcome: 'unclear', issues: [], usage: spent(session), model }
    if (phase === 'answer') {
      const read = await readAnswer(session)
      if (read.outcome === 'ok' || read.outcome === 'refused' || ++answers >= mostAnswers) return read
      wrong = read.issues
    }
    const wanted = nextTurn(session, phase, wrong)
    const answer = 'limit' in wanted ? wanted : await takeTurn(session, wanted)
    if (answer === 'taken') continue
    // Results that were to be written with the next turn.
    await session.record([])
    if ('limit' in answer) return stopped(session, answer.limit, wrong)
    return 'refused' in answer ? refused(session, answer.refused, wrong) : endWith(session, answer)
  }
}

/** Where the loop is: before a turn, with calls to settle, with an answer to read, or with one that was judged. */
type Phase = 'turn' | 'calls' | 'answer' | 'judged'

function getPhase(session: Session): Phase {
  const loop = session.loop()
  const last = loop?.turns.at(-1)
  if (!loop || !last?.end) return 'turn'
  if (last.calls.length > 0) return 'calls'
  // The provider has paused a long turn: it continues when it gets its own words back.
  if (last.end.rawFinish === 'pause_turn') return 'turn'
  return loop.judged === loop.turns.length ? 'judged' : 'answer'
}

/** The limit that leaves no turn, or what the next one is about. The last one that the limit allows is for the answer. */
function nextTurn(
  session: Session,
  phase: Phase,
  wrong: readonly Issue[],
): WantedTurn | { readonly limit: 'turns' | 'tokens' | 'costUsd' } {
  const { agentLoop, call, redactor } = session.task
  const { limits } = agentLoop
  const loop = session.loop()
  if (!loop) return {}
  const { inputTokens = 0, outputTokens = 0, costUsd = 0 } = session.usage()
  if (limits.tokens !== undefined && inputTokens + outputTokens >= limits.tokens) return { limit: 'tokens' }
  if (limits.costUsd !== undefined && costUsd >= limits.costUsd) return { limit: 'costUsd' }
  const isAgain = loop.turns.at(-1)?.end === undefined
  // Over all attempts: an answer that was rejected leaves what the turns before it have left.
  const left = limits.turns - loop.turns.length + (isAgain ? 1 : 0)
  if (left < 1) return { limit: 'turns' }
  const final = (reason: FinalReason): WantedTurn => ({ final: reason, user: finalWords(call, wrong) })
  if (phase === 'answer') return final('answer')
  if (phase === 'judged') {
    const user = feedbackWords(call.bundle.feedback, redactor)
    return left > 1 ? { user } : { ...final('turns'), user: `${user}\n\n${finalWords(call, [])}` }
  }
  if (isStuck(loop)) return final('repeated')
  if (mustStop(session, loop)) return final('stopWhen')
  return left > 1 ? {} : final('turns')
}

/** Whether the agent's own condition holds; one that cannot be evaluated does not. */
function mustStop(session: Session, loop: LoopState): boolean {
  const { stopWhen } = session.task.agentLoop
  const parsed = stopWhen === undefined ? undefined : parseCondition(stopWhen)
  if (!parsed?.ok) return false
  const { inputTokens = 0, outputTokens = 0, costUsd = 0 } = session.usage()
  const calls: { [tool: string]: number } = {}
  for (const { tool, start } of loop.turns.flatMap((turn) => turn.calls))
    if (start) calls[tool] = (calls[tool] ?? 0) + 1
  const turns = loop.turns.filter(({ end }) => end).length
  const progress: LoopProgress = { turns, tokens: inputTokens + outputTokens, costUsd, calls }
  return evaluate(parsed.condition, progress as unknown as Json).kind === 'true'
}

/** Reads the last turn as the answer of the node. */
async function readAnswer(session: Session): Promise<AttemptResult> {
  const { call, processing, parseText, onEvent, model } = session.task
  const end = session.loop()?.turns.at(-1)?.end
  const text = (end?.parts ?? []).flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
  const reading = await readText(
    text,
    {
      schema: call.bundle.returns,
      rao: call.rao,
      processing,
      onEvent: ({ type, ...payload }) => onEvent(type, payload),
      parseText,
      signal: call.signal,
    },
    end?.structured,
  )
  const common = { usage: spent(session), model }
  if (!reading.ok && reading.declined) return { ...common, outcome: 'refused', issues: reading.issues }
  const isCut = (end && end.finish !== 'stop') || reading.truncated
  if (!reading.ok || isCut) {
    const issues = reading.ok ? [cutOff] : reading.issues
    return { ...common, outcome: isCut ? 'truncated' : 'invalid', raw: text, issues }
  }
  const reasoning = (end?.parts ?? [])
    .flatMap((part) => (part.type === 'reasoning' && part.text !== '' ? [part.text] : []))
    .join('\n')
  const output: Output = {
    value: reading.value,
    raw: text,
    ...(reasoning !== '' && { reasoning }),
    ...(reading.repairs.length > 0 && { repairs: reading.repairs }),
  }
  return { ...common, outcome: 'ok', output, issues: [] }
}

const cutOff: Issue = {
  code: 'attempt/truncated',
  at: { pointer: '' },
  message: 'The model was cut off before its answer was complete',
  hint: 'Allow more output tokens, or ask for less',
}

/** Ends the attempt with a model's answer that is no turn. */
function endWith(session: Session, answer: ModelAnswer): AttemptResult {
  return toFailure(answer, { usage: spent(session), model: session.task.model })
}

const limitCodes = { turns: 'agent/turns', tokens: 'agent/tokens', costUsd: 'agent/costUsd' } as const

/** Ends the attempt at a limit of the agent; a further attempt would end so, too. */
function stopped(
  session: Session,
  limit: 'turns' | 'tokens' | 'costUsd',
  wrong: readonly Issue[],
): AttemptResult {
  const { agentLoop, model } = session.task
  const issue = {
    code: limitCodes[limit],
    at: { pointer: '' },
    message: `The agent stopped without an answer: its limit of ${agentLoop.limits[limit]} (limits.${limit}) is reached`,
    hint: `Raise \`limits.${limit}\` of the agent, or give it less to do`,
  }
  return { outcome: 'provider_error', issues: [issue, ...wrong], usage: spent(session), model, final: true }
}

/** Ends the attempt because the next turn would be more than is left: of the agent's own limits, or of the run's. */
function refused(session: Session, issue: Issue, wrong: readonly Issue[]): AttemptResult {
  const { agentLoop, model } = session.task
  const { tokens, costUsd } = agentLoop.limits
  const isOwn = issue.code === 'budget/exhausted' && !agentLoop.isLimited
  if (isOwn && (tokens !== undefined || costUsd !== undefined))
    return stopped(session, tokens === undefined ? 'costUsd' : 'tokens', wrong)
  return { outcome: 'provider_error', issues: [issue, ...wrong], usage: spent(session), model, final: true }
}

function spent(session: Session) {
  return addUsage(session.task.caller.spent(), session.toolUsage())
}

function impossible(code: 'model/no-tools' | 'model/no-tool', message: string): AttemptResult {
  const issues = [{ code, at: { pointer: '' }, message }]
  return { outcome: 'provider_error', issues, usage: { calls: 0 }, notApplied: true }
}
