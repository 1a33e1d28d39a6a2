/** One turn of an agent's model: the request from the facts, the call, and what it brought as facts. */
import { canonicalJson, sha256Hex } from '../../../base/canonical.ts'
import type { Issue } from '../../../base/errors/issue.ts'
import { isObject } from '../../../base/json.ts'
import { type TakenFile, toReferences } from '../../../domain/content/file-value.ts'
import { findHandoff, type LoopCall, type LoopState } from '../../../domain/loop/loop-state.ts'
import type { FinalReason, LoopFact, PinnedTool, TurnStart } from '../../../domain/loop-facts.ts'
import type { Usage } from '../../../domain/output.ts'
import type { AgentTool, HandedOff } from '../../../domain/ports/agent-loop.ts'
import type { Bundle } from '../../../domain/ports/dispatcher.ts'
import type { ModelAnswer, ModelTool, Provider, ToolChoice } from '../../../domain/ports/provider.ts'
import { raoEnvelopeSchema } from '../../../domain/rao/rao-envelope.ts'
import type { ModelSettings } from '../../../domain/settings/model-settings.ts'
import type { JsonSchema } from '../../../schema/json-schema.ts'
import { type Caller, isEnforced, mostOutputTokens } from '../generate/model-caller.ts'
import { agentWords, taskPrompt, withoutSchema, wordsFor } from '../generate/prompts.ts'
import { refuseTypes } from '../generate/take-files.ts'
import { toMessages } from './messages.ts'
import { proposeCalls } from './propose-calls.ts'
import type { AgentTask, Session } from './session.ts'
import { startFacts } from './tool-calls.ts'
import { watchTurn } from './turn-watch.ts'

/** What a turn is about, besides the results of the one before. */
export interface WantedTurn {
  readonly user?: string
  readonly final?: FinalReason
}

/** The turn would be more than the budget allows. */
interface Refused {
  readonly refused: Issue
}

/** Returns the answer if it is not a turn, such as a refusal or a failure. */
export async function takeTurn(
  session: Session,
  wanted: WantedTurn,
): Promise<ModelAnswer | Refused | 'taken'> {
  const { task } = session
  const { caller, processing, call } = task
  const speaker = findSpeaker(session)
  if (!speaker) return { kind: 'error', message: 'The agent is not there any more', fatal: true }
  const { model, provider } = speaker
  const [refused] = speaker.isNew ? await refuseTypes(task.files, speaker) : []
  if (refused) return { kind: 'error', message: refused.message, fatal: true }
  const settings = settingsOf(session, speaker)
  const start = await toStart(session, wanted, speaker)
  const system = start.system ?? session.loop()?.system ?? ''
  const turns = [...(session.loop()?.turns ?? []).slice(0, start.turn - 1), { start, calls: [] }]
  const tools = (start.tools ?? session.loop()?.tools ?? []).map(toModelTool)
  const request = {
    system,
    messages: toMessages({ turns }, model),
    tools,
    toolChoice: chooseTool(session, start, speaker),
  }
  const requestHash = sha256Hex(canonicalJson({ model, ...request, ...hashFiles(task.files) }))
  await session.record([{ type: 'turn_start', payload: { ...start, requestHash } }])
  const before = caller.spent()
  const called = await callWhole(session, {
    ...request,
    files: task.files,
    // Only its size counts.
    prompt: JSON.stringify(request.messages),
    model,
    provider,
    schema: toSchema(call),
    ...findSpareWords(call, system),
    structured: processing.structuredOutput,
    schemaName: call.nodeId,
    maxOutputTokens: mostOutputTokens(settings, processing),
    settings,
    key: `${start.lineage}:${start.turn}`,
    watchTurn: task.onPartial && getWatcher(task, task.onPartial, { turn: start.turn, tools }),
  })
  if (called.kind === 'refused') return { refused: called.issue }
  const { answer } = called
  if (answer.kind !== 'text' || answer.parts === undefined) return answer
  await recordEnd(session, { start, answer, usage: difference(caller.spent(), before) })
  return 'taken'
}

/** Who takes the turn: the agent itself, or the one that it was handed off to. */
interface Speaker {
  readonly model: string
  readonly provider: Provider
  readonly agent?: HandedOff
  /** It is the first turn of the agent. */
  readonly isNew?: boolean
}

function findSpeaker({ task, loop }: Session): Speaker | undefined {
  const { model, provider, agentLoop, findModel } = task
  const state = loop()
  const next = state && findHandoff(state)
  const id = next ?? state?.agent
  if (id === undefined) return { model, provider }
  const agent = agentLoop.handOff(id)
  const found = agent && findModel(agent.capability)
  return found && { ...found, agent, isNew: next !== undefined }
}

/** Most sendings of a turn whose stream breaks. */
const mostSendings = 3

/** Asks again if the stream breaks: nothing of a turn that was cut off is used, and no tool is called for it. */
async function callWhole(session: Session, options: Parameters<Caller['call']>[0]) {
  const { caller, call } = session.task
  for (let sendings = 1; ; sendings++) {
    const called = await caller.call(options)
    if (called.kind === 'refused' || called.answer.kind !== 'text' || called.answer.finish !== 'cut')
      return called
    if (sendings < mostSendings && !call.signal.aborted) continue
    const message = `The answer of the model broke off ${sendings} times`
    return { kind: 'answer' as const, answer: { kind: 'error' as const, message } }
  }
}

/** Settings of the agent that speaks. */
function settingsOf({ task }: Session, { agent }: Speaker): ModelSettings | undefined {
  return agent ? agent.modelSettings : task.call.modelSettings
}

/** What the agent that speaks wants counts until it has called a tool. */
function chooseTool(session: Session, start: TurnStart, { agent }: Speaker): ToolChoice {
  if (start.final) return 'none'
  const turns = (session.loop()?.turns ?? []).slice(0, start.turn - 1)
  const since = turns.findLastIndex((turn) => turn.start.agent !== undefined)
  // The first turn after a hand-off names the agent, also when it is asked again.
  const own = start.agent === undefined ? turns.slice(Math.max(since, 0)) : []
  const hasCalled = own.some(({ calls }) => calls.length > 0)
  const wanted = agent ? agent.toolChoice : session.task.agentLoop.toolChoice
  return hasCalled ? 'auto' : (wanted ?? 'auto')
}

function getWatcher(
  { call }: AgentTask,
  onPartial: NonNullable<AgentTask['onPartial']>,
  { turn, tools }: { readonly turn: number; readonly tools: readonly ModelTool[] },
) {
  const { linearPatterns = false, bundle } = call
  return () => watchTurn({ turn, tools, schema: bundle.returns, linearPatterns, onPartial })
}

/** The same turn again if it has not ended, else the next one. */
async function toStart(session: Session, wanted: WantedTurn, speaker: Speaker): Promise<TurnStart> {
  const { model, agent, isNew } = speaker
  const { call, redactor, bundleFor, files } = session.task
  const loop = session.loop()
  const { attempt } = call
  const settings = settingsOf(session, speaker)
  const last = loop?.turns.at(-1)
  const made = { attempt, model, ...(settings && { settings }) }
  if (loop && last && !last.end) return { ...last.start, ...made }
  const common = {
    ...{ ...made, requestHash: '' },
    ...(wanted.final && { final: wanted.final }),
    ...(call.rao && { rao: true as const }),
  }
  if (loop)
    return {
      ...common,
      turn: loop.turns.length + 1,
      lineage: loop.lineage,
      ...(agent &&
        isNew && {
          agent: agent.capability.capabilityId,
          ...(await toInstructions(session, speaker, bundleFor(agent.capability))),
          tools: agent.tools.map(toPinned),
        }),
      ...(wanted.user !== undefined && { user: redactor.text(wanted.user) }),
    }
  return {
    ...common,
    turn: 1,
    lineage: call.idempotencyKey,
    inputsHash: session.inputsHash,
    ...(await toInstructions(session, speaker, call.bundle)),
    tools: session.tools().map(toPinned),
    user: redactor.text(taskPrompt({ bundle: call.bundle, redactor })),
    ...(files.length > 0 && { files: toReferences(files) }),
  }
}

/**
 * The instructions of an agent, the same in all of its turns: without the schema of the answer if its provider enforces all
 * of it beside the tools.
 */
async function toInstructions(
  session: Session,
  { model, provider, agent }: Speaker,
  bundle: Bundle,
): Promise<Pick<TurnStart, 'system'>> {
  const { call, redactor, processing } = session.task
  const words = agentWords({ bundle, rao: call.rao, redactor })
  const tools = (agent?.tools ?? session.tools()).map(toModelTool)
  const structured = processing.structuredOutput
  const enforced = await isEnforced({ model, provider, tools, schema: toSchema(call), structured })
  return { system: redactor.text(enforced ? withoutSchema(words) : words.system) }
}

/** The schema in words, if the instructions lack it: for a server that refuses to enforce it. */
function findSpareWords(call: AgentTask['call'], system: string): { readonly spareWords?: string } {
  const { stated } = wordsFor(call)
  return system.endsWith(stated) ? {} : { spareWords: stated }
}

function toSchema({ rao, bundle }: AgentTask['call']): JsonSchema {
  return rao ? raoEnvelopeSchema : bundle.returns
}

/** Files count by their hashes. */
function hashFiles(files: readonly TakenFile[]): { readonly files?: readonly string[] } {
  return files.length > 0 ? { files: files.map(({ sha256 }) => sha256) } : {}
}

interface Ended {
  readonly start: TurnStart
  readonly answer: Extract<ModelAnswer, { kind: 'text' }>
  readonly usage: Usage
}

/** Writes the end together with the starts of calls that are made at once. */
async function recordEnd(session: Session, { start, answer, usage }: Ended): Promise<void> {
  const { agentLoop, processing, parseText, call } = session.task
  const { attempt, turn, final } = start
  const { parts = [], finish, rawFinish, structured, warnings } = answer
  const loop = session.loop() as LoopState
  const calls = await proposeCalls(parts, {
    loop,
    agentLoop: { ...agentLoop, tools: session.tools() },
    isFinal: final !== undefined,
    isCutOff: finish !== 'stop',
    parseText,
    options: { aop: processing.aop, ...processing.reader },
    signal: call.signal,
  })
  const end: LoopFact = {
    type: 'turn_end',
    payload: {
      attempt,
      turn,
      parts,
      calls,
      finish,
      ...(rawFinish !== undefined && { rawFinish }),
      ...(structured && { structured }),
      ...(warnings && warnings.length > 0 && { warnings }),
      ...(call.rao && { rao: true }),
      usage,
    },
  }
  const proposed = calls.map((each): LoopCall => ({ ...each, turn }))
  await session.record([end, ...startFacts(session, proposed)])
}

function toPinned(tool: AgentTool): PinnedTool {
  const { name, capabilityId, description, inputSchema, outputSchema, version, isHandoff } = tool
  return {
    name,
    capabilityId,
    description,
    inputSchema,
    outputSchema,
    ...(version !== undefined && { version }),
    ...(isHandoff && { isHandoff }),
  }
}

function toModelTool({ name, description, inputSchema }: PinnedTool): ModelTool {
  return { name, description, inputSchema: asObject(inputSchema) }
}

/** Providers take objects as arguments. */
function asObject(schema: JsonSchema): JsonSchema {
  return isObject(schema) ? { type: 'object', ...schema } : { type: 'object' }
}

function difference(after: Usage, before: Usage): Usage {
  const minus = (name: 'inputTokens' | 'outputTokens' | 'costUsd') =>
    after[name] !== undefined && { [name]: after[name] - (before[name] ?? 0) }
  return {
    calls: after.calls - before.calls,
    ...minus('inputTokens'),
    ...minus('outputTokens'),
    ...minus('costUsd'),
  }
}
