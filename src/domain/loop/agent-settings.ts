/** The settings of a model capability that uses tools: which ones, under which approval, and the limits of its loop. */
import { closest } from '../../base/closest.ts'
import { isObject, type Json } from '../../base/json.ts'
import type { Capability } from '../capability.ts'
import type { Condition } from '../contract.ts'
import type { ParseIssue } from '../parse/issue-table.ts'
import { below, checkCondition, checkNoun, type ParseNounOptions, repeatIssues } from '../parse/parsed.ts'
import { closed, condition, count, text, toolSchema } from '../schemas/parts.ts'

/** Whether a person decides before a call is made; `when` is a condition over its arguments. */
export type Approval = 'never' | 'always' | { readonly when: Condition }

/** A capability as a tool of an agent. */
export interface ToolUse {
  readonly capabilityId: string
  /** As the model calls it. Default: the id, with `_` for what a name cannot have. */
  readonly name?: string
  /** What the model reads about it. Default: the summary of the capability. */
  readonly description?: string
  /** Default `never`; a side effect after untrusted content needs an approval anyway. */
  readonly approval?: Approval
  /** Most calls in one loop. Default: no limit of its own. */
  readonly maxCalls?: number
  /** Most time of one call; the model reads that it took too long. Default: the time of the agent. */
  readonly timeoutMs?: number
}

export interface AgentLimits {
  /** Most turns of the model over all attempts of the node, answers included. Default 20. */
  readonly turns?: number
  /** Most tokens over all turns. */
  readonly tokens?: number
  readonly costUsd?: number
  /** Most characters of a result that the model reads; the middle of a longer one is left out. Default 20000. */
  readonly resultCharacters?: number
}

/** A tool with its defaults. */
export interface NamedTool extends ToolUse {
  readonly name: string
  readonly approval: Approval
  /** Its call hands the conversation off to the capability. */
  readonly isHandoff?: true
}

/**
 * Whether the model must call a tool before it answers: any (`required`), the one with this name, or none at all. It counts
 * until a tool was called.
 */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string }

export interface AgentSettings {
  /** The tools, and one for each hand-off. */
  readonly tools: readonly NamedTool[]
  readonly limits: AgentLimits & Required<Pick<AgentLimits, 'turns' | 'resultCharacters'>>
  readonly toolChoice?: ToolChoice
  /** From when on no tool is called any more, and the answer is requested: a condition over `LoopProgress`. */
  readonly stopWhen?: Condition
}

/** What a loop has done so far, for `stopWhen`. */
export interface LoopProgress {
  /** Turns that have ended. */
  readonly turns: number
  readonly tokens: number
  readonly costUsd: number
  /** Number of calls that were made, by the name of the tool. */
  readonly calls: { readonly [tool: string]: number }
}

const agentSchema = closed({
  tools: { type: 'array', items: toolSchema },
  handoffs: { type: 'array', items: toolSchema },
  toolChoice: { anyOf: [{ enum: ['auto', 'none', 'required'] }, closed({ tool: text }, ['tool'])] },
  stopWhen: condition,
  limits: closed({
    turns: { ...count, minimum: 2 },
    tokens: count,
    costUsd: { type: 'number', exclusiveMinimum: 0 },
    resultCharacters: { ...count, minimum: 200 },
  }),
})

/** Names of hand-offs begin with it. */
export const handoffPrefix = 'transfer_to_'

/** Limits of agents that name none. */
export const defaultLimits = { turns: 20, resultCharacters: 20_000 } as const

/** Whether a capability is an agent: a model with tools, or with agents to hand off to. */
export function isAgent({ kind, settings }: Pick<Capability, 'kind' | 'settings'>): boolean {
  const lists = [settings?.['tools'], settings?.['handoffs']]
  return kind === 'model' && lists.some((list) => Array.isArray(list) && list.length > 0)
}

/** The capability at a node: a model is an agent with the tools that the node lists, instead of its own. */
export function withNodeTools<C extends Pick<Capability, 'kind' | 'settings'>>(
  capability: C,
  { tools }: { readonly tools?: readonly (string | ToolUse)[] },
): C {
  if (tools === undefined || capability.kind !== 'model') return capability
  const { handoffs: _, toolChoice: __, ...settings } = capability.settings ?? {}
  return { ...capability, settings: { ...settings, tools: tools as unknown as Json } }
}

/** What is wrong with the settings of an agent; empty for all other capabilities. */
export function agentIssues(
  capability: Partial<Pick<Capability, 'kind' | 'settings'>>,
  options: ParseNounOptions = {},
): ParseIssue[] {
  const { kind = 'local', settings } = capability
  const given = agentPart(settings)
  if (kind !== 'model' || given === undefined) return []
  const hint = 'See docs/reference/tools.md'
  const wrong = checkNoun(agentSchema, given, hint)
  if (wrong.length > 0) return wrong.map((issue) => below('/settings', issue))
  const tools = listTools(settings)
  const own = tools.filter(({ isHandoff }) => !isHandoff).length
  const pointer = (index: number) =>
    index < own ? `/settings/tools/${index}` : `/settings/handoffs/${index - own}`
  return [
    ...(settings?.['stopWhen'] === undefined
      ? []
      : checkCondition(settings['stopWhen'], '/settings/stopWhen', options)),
    ...unknownChoice(settings?.['toolChoice'], tools),
    ...repeatIssues(
      tools.map(({ name }) => name),
      'tool',
      { code: 'capability/duplicate', pointer },
    ),
    ...tools.flatMap(({ approval }, index) =>
      isObject(approval)
        ? checkCondition(approval.when as Json, `${pointer(index)}/approval/when`, options)
        : [],
    ),
  ]
}

function unknownChoice(choice: Json | undefined, tools: AgentSettings['tools']): ParseIssue[] {
  if (!isObject(choice) || tools.some(({ name }) => name === choice['tool'])) return []
  const names = tools.map(({ name }) => name)
  const meant = closest(String(choice['tool']), names)
  return [
    {
      code: 'capability/tool-choice',
      at: { pointer: '/settings/toolChoice/tool' },
      message: `the agent has no tool "${choice['tool']}"`,
      hint: meant === undefined ? `The tools are ${names.join(', ')}` : `Did you mean "${meant}"?`,
    },
  ]
}

/** The settings with their defaults. The capability was checked when it was parsed. */
export function agentSettings({ settings }: Pick<Capability, 'settings'>): AgentSettings {
  const limits = (settings?.['limits'] ?? {}) as AgentLimits
  const choice = settings?.['toolChoice'] as ToolChoice | undefined
  const stopWhen = settings?.['stopWhen']
  return {
    tools: listTools(settings),
    limits: { ...defaultLimits, ...limits },
    ...(choice !== undefined && { toolChoice: choice }),
    ...(stopWhen !== undefined && { stopWhen: stopWhen as Condition }),
  }
}

/** Most calls of models that an agent makes, with each agent among its tools called as often as its limit says, or once. */
export function mostModelCalls(
  capability: Pick<Capability, 'capabilityId' | 'settings'>,
  find: (capabilityId: string) => Capability | undefined,
  callers: readonly string[] = [],
): number {
  const { tools, limits } = agentSettings(capability)
  const chain = [...callers, capability.capabilityId]
  return tools.reduce((sum, { capabilityId, maxCalls = 1, isHandoff }) => {
    const called = find(capabilityId)
    if (isHandoff || !called || !isAgent(called) || chain.includes(capabilityId)) return sum
    return sum + maxCalls * mostModelCalls(called, find, chain)
  }, limits.turns)
}

function agentPart(settings: Capability['settings']): Json | undefined {
  const { tools, handoffs, limits, toolChoice, stopWhen } = settings ?? {}
  if (tools === undefined && handoffs === undefined) return undefined
  return {
    ...(tools !== undefined && { tools }),
    ...(handoffs !== undefined && { handoffs }),
    ...(limits !== undefined && { limits }),
    ...(toolChoice !== undefined && { toolChoice }),
    ...(stopWhen !== undefined && { stopWhen }),
  }
}

function listTools(settings: Capability['settings']): readonly NamedTool[] {
  type Given = readonly (string | (ToolUse & { readonly [key: string]: Json }))[]
  const read = (name: 'tools' | 'handoffs', prefix: string) =>
    ((settings?.[name] ?? []) as Given).map((each): NamedTool => {
      const use: ToolUse = typeof each === 'string' ? { capabilityId: each } : each
      return { approval: 'never', ...use, name: use.name ?? toToolName(prefix + use.capabilityId) }
    })
  const handoffs = read('handoffs', handoffPrefix).map((use) => ({ ...use, isHandoff: true as const }))
  return [...read('tools', ''), ...handoffs]
}

/** Models take letters, digits, `_` and `-`, at most 64, and some of them no digit or `-` at the start. */
export function toToolName(words: string): string {
  return words
    .replace(/[^A-Za-z0-9_-]+/g, '_')
    .replace(/^(?=[0-9-])/, '_')
    .slice(0, 64)
}
