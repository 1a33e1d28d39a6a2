/** Turns and tool calls of agents: asked and made once, in the order that write-ahead requires, and only as allowed. */
import { canonicalJson } from '../../../base/canonical.ts'
import type { Json } from '../../../base/json.ts'
import type { JournalEvent } from '../../../domain/event.ts'
import type { AgentCall } from '../../../domain/loop-facts.ts'
import type { Rule } from './rule.ts'

type Started = JournalEvent<'tool_start'>

/** What the rule has noted of one call of one loop. */
interface NotedCall {
  readonly tool: string
  readonly capabilityId: string | undefined
  readonly verdict: string
  readonly input: Json | undefined
  start?: Started
  isEnded?: true
  /** What the last decision of a person allows: a call with these arguments, or none. */
  allowed?: Json
  isDecided?: true
  /** The tool asked a question when it was called with these arguments. */
  asked?: Json
}

interface NotedLoop {
  readonly lineage: string
  /** Turns that have ended, with their calls. */
  readonly turns: Map<number, NotedCall[]>
  turn: number
  isAsking: boolean
}

export function loopsKeepTheirFacts(): Rule {
  /** Asks that were answered with a grant, and the tools that they allow. */
  const granted = new Map<string, string>()
  const loops = new Map<string, NotedLoop>()
  const keys = new Map<string, string>()
  return (event, before, report) => {
    const nodeId = event.nodeId ?? ''
    const say = (message: string) => report('loop', `"${nodeId}" ${message}`)
    if (event.type === 'start')
      for (const { requestId, capabilityId } of event.payload.thread?.grants ?? [])
        granted.set(requestId, capabilityId)
    if (event.type === 'hitl_resolved') {
      const ask = before?.asks.get(event.payload.requestId)
      const { decision, value, grant, requestId } = event.payload
      if (grant && ask?.toolCall) granted.set(requestId, ask.capabilityId ?? '')
      const at = ask?.toolCall
      const call = at && loops.get(toLoopName(nodeId, at.within))?.turns.get(at.turn)?.[at.call - 1]
      if (!call || decision === 'withdrawn') return
      call.isDecided = true
      delete call.allowed
      if (decision === 'answer' && call.asked !== undefined) call.allowed = call.asked
      if (decision === 'approve') call.allowed = call.start?.payload.inputs ?? call.input ?? null
      if (decision === 'edit') call.allowed = value ?? null
      return
    }
    if (!isLoopFact(event)) return
    const node = before?.nodes.get(nodeId)
    if (node?.status !== 'running' || node.attempt?.attempt !== event.payload.attempt)
      say(`has ${event.type} outside of its attempt`)
    const name = toLoopName(nodeId, event.payload.within)
    const loop = loops.get(name)
    if (event.payload.within) checkCaller(loops, nodeId, { within: event.payload.within, say })
    if (event.type === 'turn_start') startTurn(loops, event, { name, say })
    else if (!loop) say(`has ${event.type} before a turn`)
    else if (event.type === 'turn_end') {
      for (const { tool, capabilityId, grants = [] } of event.payload.calls)
        for (const requestId of grants)
          if (granted.get(requestId) !== capabilityId) say(`allows "${tool}" by a grant that no person gave`)
      endTurn(loop, event, say)
    } else if (event.type === 'tool_start') startCall(loop, event, { keys, loopName: name, say })
    else endCall(loop, event, say)
  }
}

/** Names the loop of a node, or of an agent that it has called. */
function toLoopName(nodeId: string, within: readonly AgentCall[] = []): string {
  return [nodeId, ...within.map(({ turn, call }) => `${turn}.${call}`)].join('\n')
}

/** An agent acts only within a call that has started and not ended. */
function checkCaller(
  loops: ReadonlyMap<string, NotedLoop>,
  nodeId: string,
  { within, say }: { readonly within: readonly AgentCall[]; readonly say: Say },
): void {
  const caller = within.at(-1)
  const outer = loops.get(toLoopName(nodeId, within.slice(0, -1)))
  const call = caller && outer?.turns.get(caller.turn)?.[caller.call - 1]
  if (!call?.start || call.isEnded) say(`has facts of "${caller?.tool}", which is not called`)
}

type LoopEvent = JournalEvent<'turn_start' | 'turn_end' | 'tool_start' | 'tool_end'>
type Say = (message: string) => void

function isLoopFact(event: JournalEvent): event is LoopEvent {
  const { type } = event
  return type === 'turn_start' || type === 'turn_end' || type === 'tool_start' || type === 'tool_end'
}

/** The next turn, or one that has not ended again; every call of the one before has its result. */
function startTurn(
  loops: Map<string, NotedLoop>,
  { payload }: JournalEvent<'turn_start'>,
  { name, say }: { readonly name: string; readonly say: Say },
) {
  const { turn, lineage, agent } = payload
  const loop = loops.get(name)
  if (turn === 1) {
    if (loop?.lineage === lineage && loop.turns.size > 0) say('asks its first turn again, which has ended')
    loops.set(name, { lineage, turns: new Map(), turn, isAsking: true })
    return
  }
  if (!loop) {
    say(`begins with turn ${turn}`)
    return
  }
  const before = loop.turns.get(turn - 1) ?? []
  if (agent !== undefined && !before.some((call) => call.isEnded && call.capabilityId === agent))
    say(`is continued by "${agent}", to which it was not handed off`)
  if (loop.lineage !== lineage) say(`continues another loop in turn ${turn}`)
  if (loop.turns.has(turn)) say(`asks turn ${turn} again, which has ended`)
  const open = (loop.turns.get(turn - 1) ?? []).filter(
    ({ isEnded, verdict }) => !isEnded && verdict !== 'refuse',
  )
  if (!loop.turns.has(turn - 1)) say(`begins turn ${turn} before turn ${turn - 1} has ended`)
  if (open.length > 0) say(`begins turn ${turn} without the results of ${open.length} calls`)
  loop.turn = turn
  loop.isAsking = true
}

function endTurn(loop: NotedLoop, { payload }: JournalEvent<'turn_end'>, say: Say): void {
  const { turn, calls } = payload
  if (!loop.isAsking || loop.turn !== turn) say(`ends turn ${turn}, which it has not begun`)
  loop.isAsking = false
  loop.turns.set(
    turn,
    calls.map(({ tool, capabilityId, verdict, input }) => ({ tool, capabilityId, verdict, input })),
  )
}

function startCall(
  loop: NotedLoop,
  event: Started,
  {
    keys,
    loopName,
    say,
  }: { readonly keys: Map<string, string>; readonly loopName: string; readonly say: Say },
): void {
  const { turn, call: position, tool, inputs, idempotencyKey } = event.payload
  const name = `${loopName}\n${loop.lineage}\n${turn}\n${position}`
  const call = loop.turns.get(turn)?.[position - 1]
  if (!call || call.tool !== tool) {
    say(`calls "${tool}", which its model did not`)
    return
  }
  if (call.isEnded) say(`calls "${tool}" again, which has ended`)
  if ((keys.get(idempotencyKey) ?? name) !== name) say(`calls "${tool}" under the key of another call`)
  if (call.start && call.start.payload.idempotencyKey !== idempotencyKey)
    say(`calls "${tool}" again under another key`)
  keys.set(idempotencyKey, name)
  const needsDecision =
    call.asked !== undefined ||
    call.verdict !== 'run' ||
    (call.start !== undefined && !call.start.payload.idempotent)
  const isRepeated = call.start?.payload.idempotent === true
  if (call.verdict === 'refuse') say(`calls "${tool}", which was refused`)
  else if (needsDecision && !isRepeated && call.allowed === undefined)
    say(`calls "${tool}", which no person has allowed`)
  const expected = call.allowed ?? call.start?.payload.inputs ?? call.input ?? null
  if (canonicalJson(inputs) !== canonicalJson(expected))
    say(`calls "${tool}" with other arguments than allowed`)
  call.start = event
  delete call.allowed
  delete call.asked
}

function endCall(loop: NotedLoop, { payload }: JournalEvent<'tool_end'>, say: Say): void {
  const call = loop.turns.get(payload.turn)?.[payload.call - 1]
  if (!call) {
    say(`ends a call of "${payload.tool}", which its model did not make`)
    return
  }
  if (call.isEnded) say(`ends a call of "${payload.tool}" twice`)
  // A call may be refused before it starts, when one before it leaves its effect in doubt.
  if (!call.start && !call.isDecided && payload.outcome !== 'refused')
    say(`ends a call of "${payload.tool}", which has not started`)
  if (payload.question) {
    // Nothing was done: the call is open until it is made again with an answer.
    call.asked = call.start?.payload.inputs ?? call.input ?? null
    delete call.start
    delete call.isDecided
    return
  }
  call.isEnded = true
}
