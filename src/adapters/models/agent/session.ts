/** One attempt of an agent: what it is given, the state of its loop, and the way of facts into the journal. */
import { canonicalJson, sha256Hex } from '../../../base/canonical.ts'
import type { Capability } from '../../../domain/capability.ts'
import type { TakenFile } from '../../../domain/content/file-value.ts'
import type { Processing } from '../../../domain/draft/processing.ts'
import { applyLoopFact, type LoopState, loopUsage } from '../../../domain/loop/loop-state.ts'
import type { CallRef, LoopFact } from '../../../domain/loop-facts.ts'
import { addUsage, type Usage } from '../../../domain/output.ts'
import type { AgentLoop, AgentTool } from '../../../domain/ports/agent-loop.ts'
import type { Bundle, Dispatch } from '../../../domain/ports/dispatcher.ts'
import type { ParseText } from '../../../domain/ports/parse-text.ts'
import type { Provider } from '../../../domain/ports/provider.ts'
import type { Redactor } from '../../../domain/redaction/redact.ts'
import type { Caller, OnEvent } from '../generate/model-caller.ts'
import type { PartialValue } from '../generate/stream-watch.ts'

export interface AgentTask {
  readonly call: Pick<
    Dispatch,
    | 'attempt'
    | 'nodeId'
    | 'idempotencyKey'
    | 'capability'
    | 'bundle'
    | 'rao'
    | 'signal'
    | 'calls'
    | 'modelSettings'
    | 'linearPatterns'
    | 'tokens'
    | 'costUsd'
  >
  readonly agentLoop: AgentLoop
  /** Files of the inputs, which are sent with the first message. */
  readonly files: readonly TakenFile[]
  /** `provider/model`, and who provides it. */
  readonly model: string
  readonly provider: Provider
  /** The same for an agent that continues the conversation; nothing if its model has no provider here. */
  readonly findModel: (
    capability: Capability,
  ) => { readonly model: string; readonly provider: Provider } | undefined
  /** The task with the instructions of an agent. */
  readonly bundleFor: (capability: Capability) => Bundle
  /** Within the budget that is left for the attempt. */
  readonly caller: Caller
  readonly processing: Processing
  readonly redactor: Redactor
  readonly parseText: ParseText
  readonly onEvent: OnEvent
  /** If set, turns are streamed, and shown here while they are written. */
  readonly onPartial?: ((partial: PartialValue) => void) | undefined
  /** Called with the usage of tools in this attempt. */
  readonly onToolUsage: (usage: Usage) => void
}

export interface Session {
  readonly task: AgentTask
  readonly inputsHash: string
  /** The tools as they were when the loop began. */
  readonly tools: () => readonly AgentTool[]
  /** Absent before the first turn. */
  readonly loop: () => LoopState | undefined
  /** Usage of tools in this attempt. */
  readonly toolUsage: () => Usage
  /** Usage of the loop over all attempts, with that of the agents it has called. */
  readonly usage: () => Usage
  /** Notes what an agent that is a tool has used in this attempt. */
  readonly noteUsage: (call: CallRef, usage: Usage) => void
  /** Appends facts, with the deferred ones first; they count once they are in the journal. */
  readonly record: (facts: readonly LoopFact[]) => Promise<void>
  /** Applies a fact that is written with the next ones. */
  readonly defer: (fact: LoopFact) => void
}

export function createSession(task: AgentTask): Session {
  const { agentLoop, call, redactor } = task
  const { capabilityId } = call.capability
  const hashes = task.files.map(({ sha256 }) => sha256).join('')
  const inputsHash = sha256Hex(canonicalJson(redactor.value(call.bundle.inputs)) + hashes)
  const earlier = agentLoop.state
  // Another capability or other inputs make it another task.
  const isSame = earlier?.capabilityId === capabilityId && earlier.inputsHash === inputsHash
  let loop = isSame ? earlier : undefined
  let toolUsage: Usage = { calls: 0 }
  const ofAgents = new Map<string, Usage>()
  const nestedUsage = () => [...ofAgents.values()].reduce<Usage>(addUsage, { calls: 0 })
  const report = () => task.onToolUsage(addUsage(toolUsage, nestedUsage()))
  let deferred: LoopFact[] = []
  const apply = (fact: LoopFact) => {
    loop = applyLoopFact(loop, fact, capabilityId)
    if (fact.type !== 'tool_end') return
    toolUsage = addUsage(toolUsage, fact.payload.usage)
    report()
  }
  return {
    task,
    inputsHash,
    loop: () => loop,
    tools: () => (loop ? pinnedTools(loop, getTools(agentLoop, loop)) : agentLoop.tools),
    toolUsage: () => addUsage(toolUsage, nestedUsage()),
    // The facts of agents that were called in this attempt are not in the copy.
    usage: () => addUsage(loopUsage(loop ?? { turns: [] }), nestedUsage()),
    noteUsage({ turn, call: position }, usage) {
      ofAgents.set(`${turn}.${position}`, usage)
      report()
    },
    async record(facts) {
      const all = [...deferred, ...facts]
      deferred = []
      if (all.length === 0) return
      await agentLoop.record(all)
      for (const fact of facts) apply(fact)
    },
    defer(fact) {
      apply(fact)
      deferred.push(fact)
    },
  }
}

/** The tools of the agent that speaks. */
function getTools(agentLoop: AgentLoop, { agent }: LoopState): readonly AgentTool[] {
  return agent === undefined ? agentLoop.tools : (agentLoop.handOff(agent)?.tools ?? [])
}

function pinnedTools({ tools: pinned }: LoopState, tools: readonly AgentTool[]): readonly AgentTool[] {
  return pinned.flatMap((pin) => {
    const tool = tools.find(
      ({ name, capabilityId }) => name === pin.name && capabilityId === pin.capabilityId,
    )
    const isChanged = pin.version !== undefined && tool?.version !== pin.version
    return tool ? [{ ...tool, ...pin, ...(isChanged && { isChanged }) }] : []
  })
}
