/**
 * What an executor of agents gets from the engine: the facts of the loop so far, a way to add to them, and its tools. Tools
 * are capabilities of the catalog, called through the executors of their kinds, under contract like any attempt.
 */
import type { Issue } from '../../base/errors/issue.ts'
import { copyJson, isObject, type Json, pick } from '../../base/json.ts'
import type { Capability, ContractSide } from '../../domain/capability.ts'
import { agentSettings, isAgent, mostModelCalls } from '../../domain/loop/agent-settings.ts'
import type { LoopState } from '../../domain/loop/loop-state.ts'
import type { AgentCall, LoopFact } from '../../domain/loop-facts.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { AgentLoop, AgentTool, HandedOff, ToolCall } from '../../domain/ports/agent-loop.ts'
import type { Catalog } from '../../domain/ports/catalog.ts'
import type { Dispatcher } from '../../domain/ports/dispatcher.ts'
import { type Redactor, secretsIn } from '../../domain/redaction/redact.ts'
import { redactResult } from '../../domain/redaction/redact-result.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import { modelSettingsFor, modelSettingsIn } from '../../domain/settings/model-settings.ts'
import { compileContract } from '../../plan/index.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { defaultCallBudget } from '../decide/after-failure.ts'
import { needsApproval } from '../decide/start-nodes.ts'
import type { DecisionContext } from '../events.ts'
import type { Work } from '../run-loop/run-actor-context.ts'
import { type AttemptCall, failed, runAttempt } from './attempt.ts'

interface LoopContext {
  readonly state: RunState
  readonly node: NodeState
  readonly capability: Capability
  readonly catalog: Catalog
  readonly dispatchers: ReadonlyMap<string, Dispatcher>
  readonly know: DecisionContext['capability']
  readonly work: Pick<Work, 'record' | 'log'>
  readonly redactor: Redactor
  readonly storeRaw: boolean
  /** The attempt of the agent, whose time and signal its tools share. */
  readonly attempt: Omit<AttemptCall, 'returns' | 'rao' | 'dispatcher' | 'onLateResult'>
  /** Of an agent that another one has called: its place, and the facts of its loop. */
  readonly nested?: {
    readonly within: readonly AgentCall[]
    readonly state: LoopState | undefined
    readonly isTainted: boolean
    /** Whether the call has ended, such as by its time: nothing is added to the facts of the loop any more. */
    readonly isOver: () => boolean
  }
}

export function createAgentLoop(context: LoopContext): AgentLoop {
  const { state, node, capability, know, work, nested } = context
  const { limits, toolChoice, stopWhen } = agentSettings(capability)
  const allow = state.envelope.policies.planner.directives?.sideEffects === 'allow'
  const earlier = nested ? nested.state : node.loop
  const within = nested && { within: nested.within }
  return {
    state: earlier && structuredClone(earlier),
    limits,
    ...(toolChoice !== undefined && { toolChoice }),
    ...(stopWhen !== undefined && { stopWhen }),
    ...findTools(context, capability),
    handOff(capabilityId) {
      const other = context.catalog.capability(capabilityId)
      return other && describeHandedOff(context, other)
    },
    mayActUnasked: allow,
    isLimited: state.reserved.has(node.node.id),
    grants: [...(state.grants ?? [])],
    isTainted: !allow && (nested?.isTainted || needsApproval(state, node, { capability: know })),
    async record(facts) {
      if (nested?.isOver()) throw new Error('The call of the agent has ended')
      await work.record(
        facts.map(({ type, payload }) =>
          context.redactor.known({ type, payload: { ...payload, ...within } } as LoopFact),
        ),
      )
    },
    callTool: (call) => callTool(context, call),
  }
}

/** The agent that continues a conversation, with its own settings. */
function describeHandedOff(context: LoopContext, capability: Capability): HandedOff {
  const { state, node, nested } = context
  const { toolChoice } = agentSettings(capability)
  const modelSettings = modelSettingsFor({
    own: modelSettingsIn(capability.settings),
    envelope: state.envelope,
    ...(!nested && { data: node.node.data }),
  })
  return {
    capability,
    ...(modelSettings && { modelSettings }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...findTools(context, capability),
  }
}

/** The tools of an agent, and the ids of the capabilities that this process lacks. */
function findTools({ catalog, know }: LoopContext, agent: Capability): Pick<AgentLoop, 'tools' | 'missing'> {
  const found = agentSettings(agent).tools.map((use) => ({
    use,
    capability: catalog.capability(use.capabilityId),
  }))
  return {
    missing: found.flatMap(({ use, capability }) => (capability ? [] : [use.capabilityId])),
    tools: found.flatMap(({ use, capability }): AgentTool[] => {
      if (!capability) return []
      const common = {
        ...pick(use, ['name', 'capabilityId', 'approval', 'maxCalls', 'timeoutMs']),
        description: use.description ?? (capability.summary || capability.displayName),
      } as Pick<AgentTool, 'name' | 'capabilityId' | 'approval' | 'maxCalls' | 'timeoutMs' | 'description'>
      if (use.isHandoff) return [{ ...common, ...handoff, description: handoffWords(common.description) }]
      return [
        {
          ...common,
          ...pick(capability, ['kind', 'sideEffect']),
          inputSchema: toSchema(capability.inputContract, catalog, 'input'),
          outputSchema: toSchema(capability.outputContract, catalog, 'output'),
          isUntrusted: know(use.capabilityId)?.untrusted ?? true,
          ...(capability.kind === 'mcp' && { version: capability.version }),
          // The loop of an agent continues from its facts, so that its call can be made again.
          ...(isAgent(capability)
            ? { isAgent: true as const, idempotent: true }
            : { idempotent: capability.idempotent }),
          ...(mayAct(capability, catalog) && { mayAct: true as const }),
        } as AgentTool,
      ]
    }),
  }
}

/** A tool that does nothing but say who continues. */
const handoff = {
  kind: 'local',
  idempotent: true,
  sideEffect: false,
  isUntrusted: false,
  isHandoff: true,
  inputSchema: { type: 'object', properties: { reason: { type: 'string' } } },
  outputSchema: true,
} as const

function handoffWords(about: string): string {
  return `Hands the conversation off to another agent, which gives the answer. ${about}`.trim()
}

/** Whether a call can have side effects: by itself, or through tools of the agent that it is. */
function mayAct(capability: Capability, catalog: Catalog, callers: readonly string[] = []): boolean {
  if (capability.sideEffect) return true
  if (!isAgent(capability) || callers.includes(capability.capabilityId)) return false
  return agentSettings(capability).tools.some(({ capabilityId }) => {
    const tool = catalog.capability(capabilityId)
    return tool !== undefined && mayAct(tool, catalog, [...callers, capability.capabilityId])
  })
}

function toSchema(side: ContractSide, catalog: Catalog, direction: 'input' | 'output'): JsonSchema {
  if (!Array.isArray(side)) return side as JsonSchema
  return compileContract({ facets: side, catalog: catalog.facets(), direction }).schema
}

/** Most calls of agents within each other. */
const deepest = 4

/** Calls a tool and validates its result against its own contract; never throws. */
async function callTool(context: LoopContext, given: ToolCall) {
  const { tool, inputs, idempotencyKey, isRepeated, answers = [], budget, agent } = given
  const { catalog, dispatchers, redactor, attempt, work, node } = context
  const capability = catalog.capability(tool.capabilityId)
  const within = [...(context.nested?.within ?? []), ...(agent ? [agent.at] : [])]
  if (within.length > deepest)
    return failed('refused', `Agents can call each other at most ${deepest} deep`, {
      usage: { calls: 0 },
      notApplied: true,
    })
  const most = capability && agent ? mostModelCalls(capability, catalog.capability) : defaultCallBudget
  const evidence = redactor.with([...secretsIn(inputs), ...secretsIn(capability?.settings)])
  const { repeated: _, agentLoop: __, data: ___, modelSettings: ____, ...call } = attempt.call
  const modelSettings = modelSettingsFor({
    own: modelSettingsIn(capability?.settings),
    envelope: context.state.envelope,
  })
  const { timeoutMs } = tool
  const ownDeadline = timeoutMs === undefined ? undefined : attempt.clock.now() + timeoutMs
  const isOwn = ownDeadline !== undefined && ownDeadline < (attempt.deadlineAt ?? Number.POSITIVE_INFINITY)
  let isOver = false
  const result = await runAttempt({
    ...attempt,
    // A moment after the agent's: its attempt ends at the deadline, whichever timer was set first.
    deadlineAt: isOwn ? ownDeadline : attempt.deadlineAt && attempt.deadlineAt + 1,
    // Issues of the tool are not about facets of the node.
    node: { ...node.node, facetProvenance: { input: [], output: [] } },
    returns: tool.outputSchema,
    rao: undefined,
    capability,
    dispatcher: capability && dispatchers.get(capability.kind),
    call: {
      ...call,
      ...(isOwn && { deadlineAt: ownDeadline }),
      idempotencyKey,
      ...(isRepeated && { repeated: true }),
      isTool: true,
      ...(modelSettings && { modelSettings }),
      ...budget,
      calls: Math.min(most, budget?.calls ?? most),
      ...(capability &&
        agent && {
          agentLoop: createAgentLoop({
            ...context,
            capability,
            nested: { ...agent, within, isOver: () => isOver },
          }),
        }),
      rao: false,
      constrained: false,
      bundle: {
        objective: call.bundle.objective,
        inputs: copyJson(inputs),
        instructions: '',
        specialInstructions: [],
        returns: tool.outputSchema,
        clarifications: answers.map(({ value }) => copyJson(value)),
        elicited: answers.flatMap(({ value, state }) => (state === undefined ? [] : [{ value, state }])),
      },
      onUsage: agent?.onUsage ?? (() => {}),
      onAccepted: () => {},
      onEvent: (event, payload) => {
        const shown = payload && evidence.value(payload)
        work.log(event, isObject(shown) ? (shown as { readonly [key: string]: Json }) : undefined)
      },
    },
    onLateResult: () => {},
  })
  isOver = true
  const isLate = isOwn && result.outcome === 'timed_out'
  return redactResult(isLate ? { ...result, issues: [tooLate(timeoutMs)] } : result, {
    redactor,
    evidence,
    raw: context.storeRaw,
    cut: true,
  }) satisfies AttemptResult
}

/** What the model reads of a call that its own time has ended. */
function tooLate(timeoutMs: number | undefined): Issue {
  const message = `it did not end within its time of ${timeoutMs} ms, and was stopped`
  return { code: 'attempt/timed_out', at: { pointer: '' }, message }
}
