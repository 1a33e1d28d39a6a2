/** Reads the tool calls of a turn: their arguments against the schemas of the tools, and what is done about each. */
import { canonicalJson } from '../../../base/canonical.ts'
import type { Issue } from '../../../base/errors/issue.ts'
import { isObject, type Json } from '../../../base/json.ts'
import type { LoopCall, LoopState } from '../../../domain/loop/loop-state.ts'
import { type AskCause, isGrantable, type ProposedCall, type ToolGrant } from '../../../domain/loop-facts.ts'
import { type Outcome, repairNotes } from '../../../domain/output.ts'
import type { AgentLoop, AgentTool } from '../../../domain/ports/agent-loop.ts'
import type { ParseText } from '../../../domain/ports/parse-text.ts'
import type { AnswerPart } from '../../../domain/ports/provider.ts'
import { feedback, type ParseOptions } from '../../../output/index.ts'
import {
  conditionVars,
  describeCondition,
  evaluate,
  parseCondition,
} from '../../../schema/condition/condition.ts'

interface Proposing {
  readonly loop: Pick<LoopState, 'turns'>
  readonly agentLoop: Pick<AgentLoop, 'tools' | 'mayActUnasked' | 'isTainted' | 'grants'>
  /** The tools are off in this turn. */
  readonly isFinal: boolean
  readonly isCutOff: boolean
  readonly parseText: ParseText
  readonly options: ParseOptions
  readonly signal: AbortSignal
}

type ToolCallPart = Extract<AnswerPart, { type: 'tool-call' }>

export async function proposeCalls(
  parts: readonly AnswerPart[],
  proposing: Proposing,
): Promise<ProposedCall[]> {
  const proposed: ProposedCall[] = []
  for (const part of parts) {
    if (part.type !== 'tool-call') continue
    proposed.push(await proposeCall(part, proposed, proposing))
  }
  return proposed
}

async function proposeCall(
  { toolCallId, toolName, input }: ToolCallPart,
  before: readonly ProposedCall[],
  proposing: Proposing,
): Promise<ProposedCall> {
  const { agentLoop, isFinal, isCutOff, parseText, options, signal } = proposing
  const tool = agentLoop.tools.find(({ name }) => name === toolName)
  const named = { call: before.length + 1, toolCallId, tool: toolName }
  const refuse = (reason: string): ProposedCall => ({ ...named, verdict: 'refuse', reason })
  if (tool === undefined) {
    const names = agentLoop.tools.map(({ name }) => name).join(', ')
    return refuse(`Not run: there is no tool "${toolName}". The tools are: ${names}`)
  }
  if (tool.isChanged) return refuse(changedWords(toolName))
  if (isFinal) return refuse('Not run: no tool can be called any more. Give the answer')
  if (isCutOff)
    return refuse('Not run: the answer was cut off, and the arguments may be incomplete. Call again, shorter')
  const read = await parseText(input.trim() === '' ? '{}' : input, tool.inputSchema, options, signal)
  if (!read.ok)
    return refuse(`Not run: the arguments are invalid. ${describeIssues(read.issues)}\nCall the tool again.`)
  if (read.truncated) return refuse('Not run: the arguments are incomplete. Call again with all of them')
  const repairs = repairNotes(read.repairs)
  const call = {
    ...named,
    capabilityId: tool.capabilityId,
    input: read.value as Json,
    ...(repairs.length > 0 && { repairs }),
  }
  return { ...call, ...judgeCall(tool, call.input, { ...proposing, before }) }
}

/** Without its last line, which asks for an answer in JSON. */
function describeIssues(issues: readonly Issue[]): string {
  return feedback(issues).split('\n').slice(0, -1).join('\n')
}

/** What the model reads instead of the result of a tool whose server has changed it. */
export function changedWords(name: string): string {
  return `Not run: the definition of "${name}" changed after this conversation began. Do without it`
}

/** Number of equal calls with equal results from which on a call is not made, and the loop is ended. */
const [tooOften, farTooOften] = [3, 5]

/** Outcomes of a call with a side effect that may have taken effect nevertheless. */
const doubtful: ReadonlySet<Outcome> = new Set([
  // Its result is not what its contract says, so it may have done anything.
  'invalid',
  'timed_out',
  'unavailable',
  'provider_error',
  'outcome_unknown',
])

function judgeCall(
  tool: AgentTool,
  input: Json,
  { loop, agentLoop, before }: Proposing & { readonly before: readonly ProposedCall[] },
): Pick<ProposedCall, 'verdict' | 'reason' | 'causes' | 'grants'> {
  const { name, maxCalls, sideEffect, idempotent } = tool
  const transfers = agentLoop.tools.flatMap((each) => (each.isHandoff ? [each.name] : []))
  if (tool.isHandoff && before.some((call) => transfers.includes(call.tool) && isMade(call)))
    return { verdict: 'refuse', reason: 'Not run: the conversation is handed off already' }
  const earlier = loop.turns.flatMap(({ calls }) => calls).filter((call) => call.tool === name)
  const made = [...earlier, ...before.filter((call) => call.tool === name)].filter(isMade)
  if (maxCalls !== undefined && made.length >= maxCalls)
    return { verdict: 'refuse', reason: `Not run: the limit of ${maxCalls} calls of "${name}" is reached` }
  if (countRepeats(loop, { tool: name, input }) + 1 >= tooOften)
    return {
      verdict: 'refuse',
      reason:
        'Not run: the same call has brought the same result before. Use that result, or do something else',
    }
  const tainted = isTainted(loop, agentLoop)
  const isInDoubt = earlier.some(isDoubtful)
  const reasons: { readonly [Cause in AskCause]?: string | undefined } = {
    approval: approvalReason(tool, input),
    untrusted:
      sideEffect && tainted && !agentLoop.mayActUnasked
        ? 'it has a side effect, after content that no person has checked'
        : undefined,
    doubt:
      sideEffect && !idempotent && isInDoubt
        ? 'an earlier call of it failed, and may have taken effect'
        : undefined,
    person: tool.kind === 'human' ? 'a person does it' : undefined,
  }
  const causes = (Object.keys(reasons) as AskCause[]).filter((cause) => reasons[cause] !== undefined)
  if (causes.length === 0) return { verdict: 'run' }
  const grants = findGrants(agentLoop.grants, tool, causes)
  if (grants) return { verdict: 'run', causes, grants }
  return { verdict: 'ask', reason: causes.map((cause) => reasons[cause]).join('; '), causes }
}

/** Whether a call was made, failed, and may have taken effect nevertheless. */
export function isDoubtful({ start, end }: Pick<LoopCall, 'start' | 'end'>): boolean {
  return start !== undefined && end !== undefined && doubtful.has(end.outcome)
}

/** Whether the agent has read content that no person has checked. */
export function isTainted(
  { turns }: Pick<LoopState, 'turns'>,
  agentLoop: Pick<AgentLoop, 'isTainted'>,
): boolean {
  return agentLoop.isTainted || turns.some(({ calls }) => calls.some(({ end }) => end?.untrusted))
}

/** The grants that cover all causes together; each covers the causes that its person was shown. */
function findGrants(
  granted: readonly ToolGrant[],
  { capabilityId }: AgentTool,
  causes: readonly AskCause[],
): readonly string[] | undefined {
  const own = granted.filter((grant) => grant.capabilityId === capabilityId)
  const found = causes.map((cause) => isGrantable(cause) && own.find((grant) => grant.causes.includes(cause)))
  return found.every((grant) => grant !== undefined && grant !== false)
    ? [...new Set(found.map(({ requestId }) => requestId))]
    : undefined
}

function isMade({ verdict }: Pick<ProposedCall, 'verdict'>): boolean {
  return verdict !== 'refuse'
}

/** Fails closed: what cannot be evaluated needs an approval. */
function approvalReason({ approval, inputSchema }: AgentTool, input: Json): string | undefined {
  if (approval === 'never') return undefined
  if (!isObject(approval)) return 'it always needs an approval'
  const parsed = parseCondition(approval.when)
  if (!parsed.ok) return 'the condition of its approval cannot be read'
  const unknown = conditionVars(parsed.condition).find((path) => !mayHave(inputSchema, path.split('.')))
  if (unknown !== undefined)
    return `the condition of its approval reads "${unknown}", which its arguments do not have`
  const { kind } = evaluate(parsed.condition, fillDefaults(input, inputSchema))
  return kind === 'false' ? undefined : `it needs an approval when ${describeCondition(parsed.condition)}`
}

/** Whether a path may exist in the arguments. Only plain objects are followed: what a schema says otherwise may have it. */
function mayHave(schema: unknown, [first, ...rest]: readonly string[]): boolean {
  if (first === undefined || !isObject(schema) || !isObject(schema['properties'])) return true
  if (Object.hasOwn(schema['properties'], first)) return mayHave(schema['properties'][first], rest)
  const hasMore = 'patternProperties' in schema || (schema['additionalProperties'] ?? false) !== false
  return hasMore || combinators.some((keyword) => keyword in schema)
}

const combinators = ['$ref', 'allOf', 'anyOf', 'oneOf', 'if']

/** A copy with the defaults of the schema: the tool itself may fill them in, and act on them. */
function fillDefaults(input: Json, schema: unknown): Json {
  if (!isObject(input) || !isObject(schema) || !isObject(schema['properties'])) return input
  const filled: { [key: string]: Json } = { ...input }
  for (const [key, property] of Object.entries(schema['properties'])) {
    const isGiven = Object.hasOwn(filled, key)
    if (isGiven) filled[key] = fillDefaults(filled[key] ?? null, property)
    else if (isObject(property) && 'default' in property) filled[key] = property['default'] as Json
  }
  return filled
}

/** Counts the last calls of a tool with these arguments, if all of them brought the same. */
function countRepeats(
  { turns }: Pick<LoopState, 'turns'>,
  { tool, input }: { readonly tool: string; readonly input: Json },
): number {
  const wanted = canonicalJson(input)
  const same = turns
    .flatMap(({ calls }) => calls)
    .filter((call) => call.tool === tool && call.input !== undefined && canonicalJson(call.input) === wanted)
  const results = new Set(same.flatMap(({ end }) => (end ? [end.content] : [])))
  return results.size === 1 ? same.length : 0
}

/** Whether the last turn made a call once too often: from then on no tool is called. */
export function isStuck({ turns }: Pick<LoopState, 'turns'>): boolean {
  const last = turns.at(-1)
  if (last?.start.final === 'repeated') return true
  return (last?.calls ?? []).some(
    ({ tool, input }) => input !== undefined && countRepeats({ turns }, { tool, input }) >= farTooOften,
  )
}
