/** The state of an agent's loop: the fold of its facts. Pure for its callers; changed in place by the fold of the run. */
import { sha256Hex } from '../../base/canonical.ts'
import type { Json } from '../../base/json.ts'
import type { Resolution } from '../ask.ts'
import type {
  AgentCall,
  CallRef,
  LoopFact,
  PinnedTool,
  ProposedCall,
  ToolEnd,
  ToolStart,
  TurnEnd,
  TurnStart,
} from '../loop-facts.ts'
import { addUsage, toClarification, type Usage } from '../output.ts'

/** What a person decided about a call. */
interface CallDecision {
  readonly decision: Resolution
  readonly value?: Json
  readonly by: string
  readonly note?: string
}

export interface LoopCall extends ProposedCall {
  readonly turn: number
  /** The ask about it, and the decision. */
  requestId?: string
  decision?: CallDecision
  start?: ToolStart
  end?: ToolEnd
  /** What the tool asks, and the arguments it was called with; until the call is made again. */
  asked?: { readonly question: NonNullable<ToolEnd['question']>; readonly inputs: Json }
  /** Answers of people to its questions, oldest first. */
  answers?: readonly ToolAnswer[]
  /** What the agent that it calls has done. */
  loop?: LoopState
}

/** The answer to a question of a tool, with the state that the question had. */
export interface ToolAnswer {
  readonly value: Json
  readonly state?: Json
}

interface LoopTurn {
  readonly start: TurnStart
  end?: Omit<TurnEnd, 'calls'>
  calls: LoopCall[]
}

export interface LoopState {
  readonly lineage: string
  readonly capabilityId: string
  readonly inputsHash: string
  /** Instructions and tools of the agent that speaks. */
  system: string
  tools: readonly PinnedTool[]
  /** The agent that speaks since the last hand-off. */
  agent?: string
  readonly turns: LoopTurn[]
  /** Number of turns when the last answer was judged: a further attempt asks again, with feedback. */
  judged?: number
}

/** Applies a fact. `capabilityId` is that of the attempt. Returns a new state for a first turn, else the given one. */
export function applyLoopFact(
  loop: LoopState | undefined,
  fact: LoopFact,
  capabilityId: string,
): LoopState | undefined {
  const [outer, ...inner] = fact.payload.within ?? []
  if (outer) {
    const call = findCall(loop, outer)
    const own = { ...fact, payload: { ...fact.payload, within: inner } } as LoopFact
    const nested = call && applyLoopFact(call.loop, own, call.capabilityId ?? '')
    if (nested) call.loop = nested
    return loop
  }
  if (fact.type === 'turn_start') return startTurn(loop, fact.payload, capabilityId)
  const turn = loop?.turns[fact.payload.turn - 1]
  if (!loop || !turn) return loop
  if (fact.type === 'turn_end') {
    const { calls, ...end } = fact.payload
    turn.end = end
    turn.calls = calls.map((call) => ({ ...call, turn: end.turn }))
    return loop
  }
  const call = turn.calls[fact.payload.call - 1]
  if (!call) return loop
  if (fact.type === 'tool_end' && fact.payload.question) ask(call, fact.payload.question)
  else if (fact.type === 'tool_end') call.end = fact.payload
  else {
    answer(call)
    call.start = fact.payload
    // A decision counts for one start: if its outcome is unknown again, a person is asked again.
    delete call.decision
    delete call.requestId
  }
  return loop
}

/** The tool has done nothing: the call is as if it had not started. */
function ask(call: LoopCall, question: NonNullable<ToolEnd['question']>): void {
  call.asked = { question, inputs: call.start?.inputs ?? call.input ?? null }
  delete call.start
  delete call.decision
  delete call.requestId
}

/** The call is made again with the answer. */
function answer(call: LoopCall): void {
  const { asked, decision } = call
  if (!asked || decision?.decision !== 'answer') return
  const { state } = asked.question
  const { value = null } = decision
  const given = state === undefined ? { value: toClarification(value, asked.question) } : { value, state }
  call.answers = [...(call.answers ?? []), given]
}

/** A turn that had not ended is asked again; a first turn with another lineage begins a new loop. */
function startTurn(loop: LoopState | undefined, start: TurnStart, capabilityId: string): LoopState {
  const { turn, lineage, inputsHash = '', system = '', tools = [] } = start
  if (turn === 1) return { lineage, capabilityId, inputsHash, system, tools, turns: [{ start, calls: [] }] }
  if (!loop) throw new Error(`Cannot fold turn_start: turn ${turn} has no first turn`)
  loop.turns[turn - 1] = { start, calls: [] }
  if (start.agent !== undefined) Object.assign(loop, { agent: start.agent, system, tools })
  return loop
}

/** The loop under a plan that counts attempts anew: no attempt of it has started any turn or call. */
export function underNewPlan(loop: LoopState): LoopState {
  const copy = structuredClone(loop)
  const turns = copy.turns.map(({ start, calls, ...turn }) => ({
    ...turn,
    start: { ...start, attempt: 0 },
    calls: calls.map((call) => ({
      ...call,
      ...(call.start && { start: { ...call.start, attempt: 0 } }),
      ...(call.loop && { loop: underNewPlan(call.loop) }),
    })),
  }))
  return { ...copy, turns }
}

/** Whether the fact is in the state: an append without an answer may have been written. */
export function hasLoopFact(outer: LoopState | undefined, { type, payload }: LoopFact): boolean {
  const turn = findLoop(outer, payload.within)?.turns[payload.turn - 1]
  if (type === 'turn_start')
    return turn?.start.attempt === payload.attempt && turn.start.lineage === payload.lineage
  if (type === 'turn_end') return turn?.end !== undefined
  const call = turn?.calls[payload.call - 1]
  // A call that was made again after its question has a start, and may ask the next one.
  if (type === 'tool_end') {
    const isAsked = payload.question !== undefined && call?.asked !== undefined && call.start === undefined
    return call?.end !== undefined || isAsked
  }
  return call?.start?.attempt === payload.attempt
}

export function findCall(loop: LoopState | undefined, { turn, call, within }: CallRef): LoopCall | undefined {
  return findLoop(loop, within)?.turns[turn - 1]?.calls[call - 1]
}

function findLoop(loop: LoopState | undefined, within: readonly AgentCall[] = []): LoopState | undefined {
  return within.reduce<LoopState | undefined>((outer, each) => findCall(outer, each)?.loop, loop)
}

/** The agent that the last turn handed the conversation off to; absent if it did not. */
export function findHandoff({ turns, tools }: Pick<LoopState, 'turns' | 'tools'>): string | undefined {
  const done = (turns.at(-1)?.calls ?? []).filter(({ end }) => end?.outcome === 'ok')
  const names = new Set(tools.flatMap(({ name, isHandoff }) => (isHandoff ? [name] : [])))
  return done.find(({ tool }) => names.has(tool))?.capabilityId
}

/** The idempotency key of a call: the same in every attempt and process that continues the loop. */
export function toolKey({ lineage }: LoopState, { turn, call }: CallRef): string {
  return sha256Hex(`${lineage}\n${turn}\n${call}`)
}

/** What to do about a call of the last turn, while no call is in flight. */
export type NextStep = 'done' | 'run' | 'ask' | 'refuse' | 'answer'

/**
 * A call that was started and has no end is in doubt: it is repeated under its key if it is idempotent, else a person
 * decides. A rejected call is refused: the model reads why. A call whose tool asks is made again with the answer.
 */
export function nextStep({ verdict, decision, start, end, asked }: LoopCall): NextStep {
  if (end) return 'done'
  if (asked && !start) return decision?.decision === 'answer' ? 'run' : afterDecision(decision)
  if (start) return start.idempotent ? 'run' : afterDecision(decision)
  if (verdict === 'ask') return afterDecision(decision)
  return verdict
}

function afterDecision(decision: CallDecision | undefined): NextStep {
  switch (decision?.decision) {
    case undefined:
      return 'ask'
    case 'approve':
    case 'edit':
      return 'run'
    case 'answer':
      return 'answer'
    default:
      return 'refuse'
  }
}

/** A call, and the calls of agents that it is within. */
export interface PlacedCall {
  readonly call: LoopCall
  readonly within: readonly AgentCall[]
}

/** The calls that a loop and the agents it has called are about: those of their last turns. */
export function latestCalls(loop: LoopState, within: readonly AgentCall[] = []): PlacedCall[] {
  return (loop.turns.at(-1)?.calls ?? []).flatMap((call) => {
    const { turn, call: position, tool, loop: nested, end } = call
    const inner = nested && !end ? latestCalls(nested, [...within, { turn, call: position, tool }]) : []
    return [{ call, within }, ...inner]
  })
}

/** Calls about which a person has to be asked, and is not. */
export function callsToAsk(loop: LoopState): PlacedCall[] {
  return latestCalls(loop).filter(({ call }) => nextStep(call) === 'ask' && call.requestId === undefined)
}

/** What the loop has used, over all attempts. What agents used that it called is in their turns. */
export function loopUsage(loop: Pick<LoopState, 'turns'>): Usage {
  return sumUsage(loop, () => true)
}

/** What the journal knows that an attempt of the loop has used. */
export function attemptUsage(loop: LoopState, attempt: number): Usage {
  return sumUsage(loop, (end) => end.attempt === attempt)
}

function sumUsage(
  { turns }: Pick<LoopState, 'turns'>,
  counts: (end: { readonly attempt: number }) => boolean,
): Usage {
  let usage: Usage = { calls: 0 }
  for (const { end, calls } of turns) {
    if (end && counts(end)) usage = addUsage(usage, end.usage)
    for (const call of calls) {
      if (call.end && counts(call.end)) usage = addUsage(usage, call.end.usage)
      if (call.loop) usage = addUsage(usage, sumUsage(call.loop, counts))
    }
  }
  return usage
}
