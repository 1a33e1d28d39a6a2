/** Defines an agent in code: a model capability with tools, which are capabilities of the catalog or defined in place. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Capability } from '../capability.ts'
import type { Condition } from '../contract.ts'
import type { AgentLimits, ToolChoice, ToolUse } from '../loop/agent-settings.ts'
import type { ModelSettings } from '../settings/model-settings.ts'
import {
  type CapabilityDefinition,
  type CapabilitySchema,
  type DefinedCapability,
  defineCapability,
  type FittingReturn,
  type ReturnValue,
  type ToolDefinition,
} from './define-capability.ts'

type ToolOptions = Omit<ToolUse, 'capabilityId'>

/** A tool of an agent, as `tool` makes it. */
export interface Tool {
  readonly use: ToolUse
  /** What to call, where it is defined in code. */
  readonly defined?: DefinedCapability
}

/** A tool, a capability that is one without further options, or the id of a capability of the catalog. */
export type AgentToolInput = Tool | DefinedCapability | string

/** The fields of an agent. Everything but the id, the schemas and the tools has a default. */
export interface AgentDefinition<
  I extends CapabilitySchema = CapabilitySchema,
  O extends CapabilitySchema = CapabilitySchema,
> extends Partial<
    Omit<Capability, 'capabilityId' | 'kind' | 'inputContract' | 'outputContract' | 'preferredModels'>
  > {
  readonly id: string
  /** `provider/model`, or several in the order of preference. Default: the default model of the app. */
  readonly model?: string | readonly string[]
  readonly instructions?: string
  readonly input: I
  readonly output: O
  /** Agents are tools, too: each works in a loop of its own and returns its answer. */
  readonly tools?: readonly AgentToolInput[]
  /** Agents that the model may hand the conversation off to: they continue it, under the contract of the node. */
  readonly handoffs?: readonly AgentToolInput[]
  readonly limits?: AgentLimits
  /** Which tool the model must call first, if any. Default `auto`. */
  readonly toolChoice?: ToolChoice
  /** From when on no tool is called any more: a condition over `turns`, `tokens`, `costUsd` and `calls.NAME`. */
  readonly stopWhen?: Condition
  /** Temperature, reasoning effort and others. Envelopes and nodes may replace them. */
  readonly modelSettings?: ModelSettings
}

/**
 * Makes a tool of an agent: of a definition in place, or of a capability with an approval, a limit or another name.
 *
 * @example
 * tool({ id: 'send', input, output, sideEffect: true, approval: 'always', run: (mail) => post(mail) })
 * tool('crm.lookup', { maxCalls: 3 })
 */
export function tool(capability: DefinedCapability | string, options?: ToolOptions): Tool
// The last one, because compilers report the mistakes of the last overload.
export function tool<
  const I extends CapabilitySchema,
  const O extends CapabilitySchema = true,
  const R = ReturnValue<O> | Promise<ReturnValue<O>>,
>(definition: ToolDefinition<I, O, FittingReturn<R, ReturnValue<NoInfer<O>>>> & ToolOptions): Tool
export function tool(given: object | string, options: ToolOptions = {}): Tool {
  if (typeof given === 'string') return { use: { ...options, capabilityId: given } }
  if (isDefined(given))
    return { use: { ...options, capabilityId: given.capability.capabilityId }, defined: given }
  const { name, description, approval, maxCalls, timeoutMs, ...definition } = given as CapabilityDefinition &
    ToolOptions
  const summary = description === undefined ? {} : { summary: description }
  const open = 'outputContract' in definition ? {} : { output: {} }
  const defined = defineCapability({ ...open, ...summary, ...definition } as CapabilityDefinition)
  return {
    use: {
      capabilityId: defined.capability.capabilityId,
      ...(name !== undefined && { name }),
      ...(approval !== undefined && { approval }),
      ...(maxCalls !== undefined && { maxCalls }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    },
    defined,
  }
}

/**
 * Checks an agent and fills its defaults; throws `option/invalid` with every issue. An app that gets it has its tools, too.
 *
 * @example
 * const researcher = defineAgent({
 *   id: 'researcher',
 *   instructions: 'Find out and cite.',
 *   input: z.object({ question: z.string() }),
 *   output: z.object({ answer: z.string(), sources: z.array(z.string()) }),
 *   tools: [search, tool({ id: 'send', …, approval: 'always' })],
 *   limits: { turns: 8 },
 * })
 */
export function defineAgent<const I extends CapabilitySchema, const O extends CapabilitySchema>(
  definition: AgentDefinition<I, O>,
): DefinedCapability {
  const {
    id,
    model,
    instructions,
    tools = [],
    handoffs = [],
    limits,
    toolChoice,
    stopWhen,
    modelSettings,
    settings,
    input,
    output,
    ...rest
  } = definition as AgentDefinition
  if (!Array.isArray(tools) || !Array.isArray(handoffs) || tools.length + handoffs.length === 0)
    throw new ProvisoError('option/invalid', `Cannot use the agent "${id}": it has no tools`, {
      hint: 'List `tools` or `handoffs`, or use defineCapability with kind "model"',
    })
  const [uses, others] = [tools, handoffs].map((list) => (list as readonly AgentToolInput[]).map(toTool)) as [
    Tool[],
    Tool[],
  ]
  const agent = defineCapability({
    ...rest,
    id,
    input,
    output,
    kind: 'model',
    ...(model !== undefined && { preferredModels: typeof model === 'string' ? [model] : [...model] }),
    settings: {
      ...settings,
      ...(instructions !== undefined && { instructions }),
      // Plain data; parsing checks it.
      tools: uses.map(({ use }) => use as never),
      ...(others.length > 0 && { handoffs: others.map(({ use }) => use as never) }),
      ...(limits && { limits: limits as never }),
      ...(toolChoice !== undefined && { toolChoice: toolChoice as never }),
      ...(stopWhen !== undefined && { stopWhen: stopWhen as never }),
      ...(modelSettings && { modelSettings: modelSettings as never }),
    },
  } as CapabilityDefinition)
  // An agent brings its own tools.
  const defined = [...uses, ...others].flatMap((each) =>
    each.defined ? [each.defined, ...(each.defined.tools ?? [])] : [],
  )
  return { ...agent, ...(defined.length > 0 && { tools: defined }) }
}

function toTool(given: AgentToolInput): Tool {
  if (typeof given === 'object' && 'use' in given) return given
  return tool(given)
}

function isDefined(given: object): given is DefinedCapability {
  return 'capability' in given
}
