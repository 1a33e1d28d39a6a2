/**
 * Collects the capabilities that a pipeline provides: its agents and those of its imports, human-in-the-loop
 * asks, and the functions of generated nodes.
 */
import { sha256Hex } from '../../base/canonical.ts'
import type { Json } from '../../base/json.ts'
import { parseCapability } from '../../domain/capability/parse-capability.ts'
import type { Capability } from '../../domain/capability.ts'
import { handoffPrefix, toToolName } from '../../domain/loop/agent-settings.ts'
import type { Agent, AgentTool, CallStep, Pipeline, Step } from '../parse/pipeline.ts'
import type { SourceIssue } from '../text/source.ts'
import { httpGet, type PipelineCapability, pipelineFunctions } from './functions.ts'

export function agentId({ name }: Pick<Pipeline, 'name'>, agent: string): string {
  return getId(`${name}/agents.${agent}`)
}

/** The capability of an agent that is a tool of another one. */
function agentToolId({ name }: Pick<Pipeline, 'name'>, agent: string): string {
  return getId(`${name}/tools.${agent}`)
}

/** The id of the capability that a tool calls. */
function toolId(pipeline: Pick<Pipeline, 'name'>, { worker }: AgentTool): string {
  if (worker.kind === 'agent') return agentToolId(pipeline, worker.name)
  return worker.kind === 'builtin' ? httpGet.capabilityId : worker.name
}

/** What the model calls a tool: as the file names it, not by an id that is made for it. */
function toolName({ name, worker }: AgentTool, prefix: string): { readonly name?: string } {
  if (name !== undefined) return { name }
  return worker.kind === 'capability' ? {} : { name: toToolName(prefix + worker.name) }
}

/** The `timeout` of an agent holds where it is a tool, too. */
function timeoutAsTool({ agents }: Pick<Pipeline, 'agents'>, { worker }: AgentTool): number | undefined {
  return worker.kind === 'agent' ? agents.get(worker.name)?.timeoutMs : undefined
}

export function hitlId({ name }: Pick<Pipeline, 'name'>): string {
  return getId(`${name}/hitl`)
}

export function extractId({ name }: Pick<Pipeline, 'name'>, { params }: Pick<CallStep, 'params'>): string {
  return getId(`${name}/extract_from_text${typeof params['model'] === 'string' ? `/${params['model']}` : ''}`)
}

const longestId = 200

/**
 * Encodes a name as a capability id: names may use any script and length, ids only few characters and a
 * bounded length.
 */
function getId(words: string): string {
  const plain = words.replace(/[^A-Za-z0-9_.:/-]/gu, (sign) => `:${sign.codePointAt(0)?.toString(16)}:`)
  const id = /^[A-Za-z0-9]/.test(plain) ? plain : `pipeline:${plain}`
  return id.length <= longestId ? id : `${id.slice(0, 120)}:${sha256Hex(words)}`
}

/** The imported pipeline under its qualified name. */
export function importedAs({ name }: Pick<Pipeline, 'name'>, alias: string, imported: Pipeline): Pipeline {
  return { ...imported, name: `${name}/${alias}` }
}

/** All capabilities of a pipeline. They do not depend on the input, so a run can be resumed from the file alone. */
export function listPipelineCapabilities(pipeline: Pipeline): readonly PipelineCapability[] {
  return [...pipelineFunctions, ...getOwn(pipeline)]
}

function getOwn(pipeline: Pipeline): readonly PipelineCapability[] {
  const found = new Map<string, Capability>()
  const add = (capability: Capability) => found.set(capability.capabilityId, capability)
  for (const [name, agent] of pipeline.agents) add(namedAgent(pipeline, name, agent))
  for (const name of listAgentTools(pipeline)) {
    const agent = pipeline.agents.get(name)
    if (agent) add(agentAsTool(pipeline, name, agent))
  }
  for (const step of allSteps(pipeline.steps)) {
    if (step.kind === 'hitl') add(humanCapability(hitlId(pipeline)))
    if (step.kind !== 'step' || step.worker.kind !== 'builtin' || step.worker.name !== 'extract_from_text')
      continue
    const { model } = step.params
    add(modelCapability(extractId(pipeline, step), extracting, typeof model === 'string' ? model : undefined))
  }
  const imported = [...pipeline.imports].flatMap(([alias, { pipeline: inner }]) =>
    inner ? getOwn(importedAs(pipeline, alias, inner)) : [],
  )
  return [...[...found.values()].map((capability) => ({ capability })), ...imported]
}

const extracting = 'You extract structured data from a text. Use only what the text says.'

/** All steps, including nested ones. */
function allSteps(steps: readonly Step[]): readonly Step[] {
  return steps.flatMap((step) => {
    const inside = 'branches' in step ? [...step.branches.values()].flat() : 'body' in step ? step.body : []
    return [step, ...allSteps(inside)]
  })
}

/**
 * What registration would reject about the agents of a pipeline and of its imports, located in their files. Conditions were
 * compiled when the file was parsed.
 */
export function agentIssuesIn(pipeline: Pipeline): readonly SourceIssue[] {
  const own = [...pipeline.agents].flatMap(([name, agent]) => {
    const parsed = parseCapability(namedAgent(pipeline, name, agent))
    if (parsed.ok) return []
    return parsed.issues.map(({ at, message, hint }) =>
      pipeline.issue(locateIn(agent, 'pointer' in at ? at.pointer : ''), {
        code: 'pipeline/tool',
        message,
        ...(hint !== undefined && { hint }),
      }),
    )
  })
  const imported = [...pipeline.imports.values()].flatMap(({ pipeline: inner }) =>
    inner ? agentIssuesIn(inner) : [],
  )
  return [...own, ...imported]
}

/** The place in the file of a setting of an agent's capability. */
function locateIn({ at, tools = [], handoffs = [] }: Agent, pointer: string): string {
  const [, list, index] = /^\/settings\/(tools|handoffs)\/(\d+)/.exec(pointer) ?? []
  if (list !== undefined) return (list === 'tools' ? tools : handoffs)[Number(index)]?.at ?? at
  return pointer.startsWith('/settings/toolChoice') ? `${at}/tool_choice` : at
}

const common = {
  version: '1',
  nodeKind: 'execution',
  inputContract: { type: 'object' },
  outputContract: {},
  sideEffect: false,
  postConditions: [],
} as const

/** The agents that are tools of others, or that others hand off to. */
function listAgentTools({ agents }: Pipeline): ReadonlySet<string> {
  const tools = [...agents.values()].flatMap(({ tools = [], handoffs = [] }) => [...tools, ...handoffs])
  return new Set(tools.flatMap(({ worker }) => (worker.kind === 'agent' ? [worker.name] : [])))
}

function namedAgent(pipeline: Pipeline, name: string, agent: Agent): Capability {
  return { ...agentCapability(pipeline, agentId(pipeline, name), agent), displayName: name }
}

function agentCapability(pipeline: Pipeline, capabilityId: string, agent: Agent): Capability {
  const { systemPrompt, model, tools = [], handoffs = [], limits, toolChoice } = agent
  const made = modelCapability(capabilityId, systemPrompt, model)
  if (tools.length + handoffs.length === 0) return made
  const toUse = (prefix: string) => (tool: AgentTool) => {
    const { at: _, worker: __, ...use } = tool
    const timeoutMs = use.timeoutMs ?? timeoutAsTool(pipeline, tool)
    return {
      ...use,
      ...toolName(tool, prefix),
      ...(timeoutMs !== undefined && { timeoutMs }),
      capabilityId: toolId(pipeline, tool),
    } as Json
  }
  return {
    ...made,
    settings: {
      ...made.settings,
      tools: tools.map(toUse('')),
      ...(handoffs.length > 0 && { handoffs: handoffs.map(toUse(handoffPrefix)) }),
      ...(limits && { limits: limits as Json }),
      ...(toolChoice !== undefined && { toolChoice: toolChoice as Json }),
    },
  }
}

/** As a tool, an agent takes a text and answers by its own schema. */
function agentAsTool(pipeline: Pipeline, name: string, agent: Agent): Capability {
  const { modelSettings } = agent
  const made = agentCapability(pipeline, agentToolId(pipeline, name), agent)
  return {
    ...made,
    displayName: name,
    summary: agent.description ?? '',
    inputContract: {
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
      additionalProperties: false,
    },
    outputContract: agent.outputSchema ?? agent.processing.schema ?? { type: 'string' },
    settings: { ...made.settings, ...(modelSettings && { modelSettings: modelSettings as Json }) },
  }
}

function modelCapability(capabilityId: string, instructions: string, model: string | undefined): Capability {
  return {
    ...common,
    capabilityId,
    displayName: capabilityId,
    summary: '',
    kind: 'model',
    idempotent: true,
    ...(model !== undefined && { preferredModels: [model] }),
    settings: { instructions },
  }
}

function humanCapability(capabilityId: string): Capability {
  return {
    ...common,
    capabilityId,
    displayName: 'A person',
    summary: 'Asks a person and returns the answer.',
    kind: 'human',
    idempotent: false,
  }
}
