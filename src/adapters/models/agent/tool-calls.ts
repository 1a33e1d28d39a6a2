/** Settles the calls of a turn: makes the allowed ones, and writes down what people have decided about others. */

import { type LoopCall, type NextStep, nextStep, toolKey } from '../../../domain/loop/loop-state.ts'
import type { LoopFact, ToolEnd } from '../../../domain/loop-facts.ts'
import { addUsage } from '../../../domain/output.ts'
import type { AgentTool, CallBudget, ToolCall } from '../../../domain/ports/agent-loop.ts'
import { changedWords, isDoubtful, isTainted } from './propose-calls.ts'
import type { Session } from './session.ts'
import { showDecision, showResult } from './tool-results.ts'

/** Tools with side effects act one after another; in a run with limits, all that call out, within what is left. */
function isInOrder({ task }: Session, tool: AgentTool): boolean {
  return tool.sideEffect || tool.mayAct === true || (task.agentLoop.isLimited && callsOut(tool))
}

function callsOut({ kind }: AgentTool): boolean {
  return kind !== 'local' && kind !== 'human'
}

/** What is left for a tool of what is reserved for the attempt; a call stays for the answer. */
function leftForTool({ task, toolUsage }: Session): CallBudget {
  const { calls, tokens, costUsd } = task.call
  const used = addUsage(task.caller.spent(), toolUsage())
  return {
    calls: task.agentLoop.isLimited ? calls - used.calls - 1 : Number.MAX_SAFE_INTEGER,
    ...(tokens !== undefined && {
      tokens: tokens - (used.inputTokens ?? 0) - (used.outputTokens ?? 0),
    }),
    ...(costUsd !== undefined && { costUsd: costUsd - (used.costUsd ?? 0) }),
  }
}

/** The facts that must be written before calls without side effects are made, all at once. */
export function startFacts(session: Session, calls: readonly LoopCall[]): LoopFact[] {
  return calls.flatMap((call) => {
    const tool = findTool(session, call)
    return tool && !isInOrder(session, tool) && nextStep(call) === 'run'
      ? [startFact(session, call, tool)]
      : []
  })
}

/**
 * Calls without side effects are made at the same time, those with side effects one after another, in the order of the
 * model. Returns `undecided` if people have to decide about others.
 */
export async function settleCalls(session: Session): Promise<'settled' | 'undecided'> {
  const calls = session.loop()?.turns.at(-1)?.calls ?? []
  const { attempt } = session.task.call
  const isOwn = (call: LoopCall) => call.start?.attempt === attempt
  const steps = calls.map(
    (call) => ({ call, step: isOwn(call) && !call.end ? 'run' : nextStep(call) }) as const,
  )
  const open = steps.filter(({ call, step }) => isOpen(call, step))
  await session.record(
    startFacts(
      session,
      open.flatMap(({ call, step }) => (step === 'run' && !isOwn(call) ? [call] : [])),
    ),
  )
  let isUndecided = steps.some(({ step }) => step === 'ask')
  let left = open.length
  const settle = async (call: LoopCall, step: NextStep) => {
    const end = step === 'run' ? await makeCall(session, call) : decidedEnd(session, call)
    left--
    if (end === 'undecided') isUndecided = true
    if (end === undefined || end === 'undecided') return
    // The last one is written together with the start of the next turn.
    if (left > 0 || isUndecided || isQuestion(end)) await session.record([end])
    else session.defer(end)
  }
  const isNext = ({ call }: { readonly call: LoopCall }) => {
    const tool = findTool(session, call)
    return tool !== undefined && isInOrder(session, tool)
  }
  const inOrder = async () => {
    for (const { call, step } of open.filter(isNext)) await settle(call, step)
  }
  const others = open.filter((each) => !isNext(each)).map(({ call, step }) => settle(call, step))
  await Promise.all([...others, inOrder()])
  if (!isUndecided && !calls.some((call) => nextStep(call) === 'ask')) return 'settled'
  // The attempt ends here: no other facts follow.
  await session.record([])
  return 'undecided'
}

function isQuestion({ type, payload }: LoopFact): boolean {
  return type === 'tool_end' && payload.question !== undefined
}

function isOpen({ verdict }: LoopCall, step: NextStep): boolean {
  return step === 'run' || step === 'answer' || (step === 'refuse' && verdict !== 'refuse')
}

function findTool(session: Session, { tool }: LoopCall): AgentTool | undefined {
  return session.tools().find(({ name }) => name === tool)
}

/** What is called: as a person changed it, as it was called before, or as the model wants it. */
function getInputs({ decision, start, asked, input }: LoopCall) {
  if (decision?.decision === 'edit') return decision.value ?? null
  return start?.inputs ?? asked?.inputs ?? input ?? null
}

function startFact({ task, loop }: Session, call: LoopCall, tool: AgentTool): LoopFact {
  const { turn, call: position, repairs, decision, start } = call
  const person = decision?.by ?? start?.person
  const state = loop()
  if (!state) throw new Error('Cannot call a tool before the first turn')
  return {
    type: 'tool_start',
    payload: {
      attempt: task.call.attempt,
      turn,
      call: position,
      tool: tool.name,
      capabilityId: tool.capabilityId,
      idempotencyKey: toolKey(state, call),
      idempotent: tool.idempotent,
      ...(tool.sideEffect && { sideEffect: true }),
      inputs: getInputs(call),
      ...(repairs && { repairs }),
      ...(person !== undefined && { person }),
    },
  }
}

/** Most questions of one call; the model reads a further one as a failure. */
const mostQuestions = 3

/**
 * Writes the start first, unless it is written; nothing if the attempt is over. `undecided` if people have to decide about
 * calls of the agent that it calls.
 */
async function makeCall(session: Session, call: LoopCall): Promise<LoopFact | 'undecided' | undefined> {
  const { agentLoop, call: own, redactor } = session.task
  const tool = findTool(session, call)
  if (!tool)
    return endFact(session, call, { outcome: 'provider_error', content: 'The tool is not there any more' })
  if (isAfterDoubt(session, call, tool))
    return endFact(session, call, {
      outcome: 'refused',
      content:
        'Not run: the call before it failed, and may have taken effect. Call again if it is still needed',
    })
  const isBudgeted = tool.isAgent === true || (agentLoop.isLimited && callsOut(tool))
  const budget = isBudgeted ? leftForTool(session) : undefined
  const isRepeated = call.start !== undefined && call.start.attempt !== own.attempt
  if (call.start?.attempt !== own.attempt) await session.record([startFact(session, call, tool)])
  if (own.signal.aborted || !call.start) return undefined
  const { inputs, idempotencyKey } = call.start
  if (tool.isChanged) return endFact(session, call, { outcome: 'refused', content: changedWords(tool.name) })
  if (budget && budget.calls < 1)
    return endFact(session, call, {
      outcome: 'refused',
      content: 'Not run: the run has no calls left for it',
    })
  if (tool.isHandoff) return endFact(session, call, handOff(session, tool))
  const { answers = [] } = call
  const result = await agentLoop.callTool({
    ...{ tool, inputs, idempotencyKey, isRepeated, answers },
    ...(budget && { budget }),
    ...(tool.isAgent && { agent: toAgent(session, call) }),
  })
  if (own.signal.aborted && result.outcome === 'cancelled') return undefined
  if (tool.isAgent) session.noteUsage(call, result.usage)
  if (tool.isAgent && result.outcome === 'unclear') return 'undecided'
  const shown = { redactor, mostCharacters: agentLoop.limits.resultCharacters }
  return endFact(session, call, {
    outcome: result.outcome,
    ...showResult(result, { tool, call }, shown),
    issues: result.issues,
    // What an agent has used is in its turns.
    usage: tool.isAgent ? { calls: 0 } : result.usage,
    ...(result.question && answers.length < mostQuestions && { question: result.question }),
    ...(tool.isUntrusted && { untrusted: true }),
  })
}

/**
 * Whether an earlier call of the same turn leaves in doubt whether this one should be made. It was judged before that one
 * ended; called again in the next turn, a person is asked.
 */
function isAfterDoubt(session: Session, { call, start, decision }: LoopCall, tool: AgentTool): boolean {
  if (!tool.sideEffect || tool.idempotent || start || decision) return false
  const before =
    session
      .loop()
      ?.turns.at(-1)
      ?.calls.slice(0, call - 1) ?? []
  return before.some((each) => each.tool === tool.name && isDoubtful(each))
}

/** The place and the facts of an agent that is called. */
function toAgent(session: Session, call: LoopCall): NonNullable<ToolCall['agent']> {
  const { turn, call: position, tool, loop: state } = call
  return {
    at: { turn, call: position, tool },
    state,
    isTainted: isTainted(session.loop() ?? { turns: [] }, session.task.agentLoop),
    onUsage: (usage) => session.noteUsage(call, usage),
  }
}

/** Nothing is called: the agent that is named takes the next turn, if it can. */
function handOff({ task }: Session, { capabilityId }: AgentTool): Pick<ToolEnd, 'outcome' | 'content'> {
  const target = task.agentLoop.handOff(capabilityId)
  const name = target?.capability.displayName ?? capabilityId
  const [missing] = target?.missing ?? []
  const problem =
    (!target && 'it is not there any more') ||
    (missing !== undefined && `its tool "${missing}" is not registered in this process`) ||
    (target && !task.findModel(target.capability)?.provider.tools && 'its model cannot be used here')
  return problem
    ? { outcome: 'provider_error', content: `Not handed off to "${name}": ${problem}` }
    : { outcome: 'ok', content: `Handed off: "${name}" continues from here` }
}

function decidedEnd(session: Session, call: LoopCall): LoopFact {
  const { agentLoop, redactor } = session.task
  const { decision, by } = call.decision ?? { decision: 'reject' }
  const shown = { redactor, mostCharacters: agentLoop.limits.resultCharacters }
  return endFact(session, call, {
    outcome: decision === 'answer' ? 'ok' : call.start ? 'outcome_unknown' : 'refused',
    ...showDecision(call, shown),
    ...(by !== undefined && { person: by }),
  })
}

function endFact(
  { task }: Session,
  { turn, call, tool }: LoopCall,
  end: Pick<ToolEnd, 'outcome' | 'content'> & Partial<ToolEnd>,
): LoopFact {
  const common = { attempt: task.call.attempt, turn, call, tool, issues: [], usage: { calls: 0 } }
  return { type: 'tool_end', payload: { ...common, ...end } }
}
