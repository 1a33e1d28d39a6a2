/**
 * Prepares a started attempt and performs it: deep copies of its data, its dispatcher, and the limits of its node. If an
 * agent has accepted the call already, waits for its answer.
 */
import { ProvisoError, toErrorMessage } from '../../base/errors/error.ts'
import { copyJson, type Json } from '../../base/json.ts'
import { createStop } from '../../base/stop.ts'
import type { Clock } from '../../base/time/clock.ts'
import { callInDoubt, type DoubtfulCall } from '../../domain/attempt/call-key.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Feedback } from '../../domain/feedback.ts'
import { isAgent, mostModelCalls, withNodeTools } from '../../domain/loop/agent-settings.ts'
import type { AttemptResult } from '../../domain/output.ts'
import { plainCopy } from '../../domain/parse/plain-copy.ts'
import { outputContractFor } from '../../domain/plan.ts'
import type { Catalog } from '../../domain/ports/catalog.ts'
import type { Bundle, Dispatcher } from '../../domain/ports/dispatcher.ts'
import type { ParseText } from '../../domain/ports/parse-text.ts'
import { findRaoContract, isRaoError } from '../../domain/rao/rao-contract.ts'
import { type Redactor, secretsIn } from '../../domain/redaction/redact.ts'
import { redactResult } from '../../domain/redaction/redact-result.ts'
import { around } from '../../domain/run/iterations.ts'
import type { NodeState, RunState } from '../../domain/run.ts'
import { modelSettingsFor, modelSettingsIn } from '../../domain/settings/model-settings.ts'
import type { ThreadContext } from '../../domain/thread/thread-context.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { defaultCallBudget } from '../decide/after-failure.ts'
import { feedbackFor } from '../decide/ask/feedback.ts'
import { deadlineTimer } from '../decide/budget.ts'
import type { Start } from '../decide/start-nodes.ts'
import type { DecisionContext } from '../events.ts'
import type { Work } from '../run-loop/run-actor-context.ts'
import { createAgentLoop } from './agent-loop.ts'
import { type AttemptCall, answerGraceMs, failed, readResult, runAttempt } from './attempt.ts'

interface Performance {
  readonly catalog: Catalog
  readonly dispatchers: ReadonlyMap<string, Dispatcher>
  readonly clock: Clock
  readonly random: (() => number) | undefined
  readonly state: RunState
  readonly start: Start
  readonly work: Work
  readonly redactor: Redactor
  /** Keep the redacted raw output of models as evidence. */
  readonly storeRaw: boolean
  readonly parseText: ParseText
  /** Properties of capabilities. */
  readonly know: DecisionContext['capability']
}

export async function performAttempt(performance: Performance): Promise<AttemptResult> {
  const { state, start, dispatchers } = performance
  const { attempt, clean } = prepare(performance)
  const accepted = state.nodes.get(start.nodeId)?.attempt?.accepted
  if (accepted === undefined) return clean(await runAttempt(attempt))
  const dispatcher = attempt.dispatcher ?? anyWithResume(dispatchers)
  const { capabilityId } = start
  return clean(await awaitAnswer({ ...attempt, dispatcher }, { capabilityId, ...accepted }))
}

/**
 * Finds the answer to a call that a node waits for, if it is in the store; nothing if its dispatcher does not support late
 * answers.
 */
export async function lookForAnswer(
  given: Omit<Performance, 'start' | 'work'> & { readonly nodeId: string; readonly call: DoubtfulCall },
): Promise<AttemptResult | undefined> {
  const { nodeId, call, dispatchers, clock } = given
  const { capabilityId, inputs } = call
  const node = given.state.nodes.get(nodeId)
  if (node === undefined) return undefined
  // The call may belong to an earlier plan.
  const nodes = new Map(given.state.nodes).set(nodeId, { ...node, attempt: call })
  const ignore = () => {}
  const { attempt, clean } = prepare({
    ...given,
    state: { ...given.state, nodes },
    start: { nodeId, capabilityId, inputs, events: [] },
    work: {
      stop: createStop(),
      log: ignore,
      onUsage: ignore,
      onAccepted: ignore,
      record: async () => {},
      onLateResult: ignore,
    },
  })
  const dispatcher = attempt.capability ? attempt.dispatcher : anyWithResume(dispatchers)
  if (!dispatcher?.resume) return undefined
  const found = await findAnswer({ ...attempt, dispatcher }, { capabilityId, deadlineAt: clock.now() })
  return found && clean(found)
}

/** Builds the call, and the function that redacts its result. */
function prepare(performance: Performance) {
  const { catalog, dispatchers, clock, state, start, work, redactor } = performance
  const node = state.nodes.get(start.nodeId)
  if (!node?.attempt) throw new Error(`"${start.nodeId}" was not started`)
  const known = catalog.capability(start.capabilityId)
  const capability = known && node.node.tools ? withNodeTools(known, node.node) : known
  const contract = findRaoContract(node.node, start.capabilityId)
  const rao = isRaoError(contract) ? undefined : contract
  // Evidence of the call must not contain the secrets it was called with.
  const evidence = redactor.with([...secretsIn(start.inputs), ...secretsIn(capability?.settings)])
  const clean = (result: AttemptResult) =>
    redactResult(result, { redactor, evidence, raw: performance.storeRaw, cut: true })
  const returns = outputContractFor(node.node, start.capabilityId)
  const { data } = node.node
  const modelSettings = modelSettingsFor({
    own: modelSettingsIn(capability?.settings),
    envelope: state.envelope,
    data,
  })
  const attempt: AttemptCall = {
    node: node.node,
    returns,
    rao,
    compileOptions: state.compileOptions,
    capability,
    dispatcher: capability && dispatchers.get(capability.kind),
    call: {
      tenant: state.tenant,
      runId: state.runId,
      nodeId: start.nodeId,
      attempt: node.attempt.attempt,
      idempotencyKey: node.attempt.idempotencyKey,
      ...(callInDoubt(node.key, start.capabilityId) && { repeated: true }),
      bundle: toBundle(state, node, { inputs: start.inputs, returns, redactor }),
      rao: rao !== undefined,
      constraints: { ...node.node.constraints },
      calls: callsFor(state, node, capability && { capability, catalog }),
      ...limitsFor(state, node),
      ...getDeadline(state, node),
      ...(data && { data: copyJson(data) as typeof data }),
      ...(modelSettings && { modelSettings }),
      constrained: isConstrained(state, node),
      ...(state.compileOptions?.linearPatterns && { linearPatterns: true }),
      ...(state.traceparent !== undefined && { trace: { traceparent: state.traceparent } }),
      onUsage: work.onUsage,
      onAccepted: ({ deadlineAt }) => work.onAccepted(deadlineAt),
      onEvent: (event, payload) =>
        work.log(String(event), payload && (evidence.value(plainPayload(payload)) as typeof payload)),
    },
    clock,
    parseText: performance.parseText,
    random: performance.random,
    deadlineAt: node.attempt.deadlineAt,
    stop: work.stop,
    onLateResult: (late) => work.onLateResult(clean(late)),
  }
  if (capability?.kind !== 'model' || !isAgent(capability)) return { attempt, clean }
  const loop = { ...performance, node, capability, attempt }
  return { attempt: { ...attempt, call: { ...attempt.call, agentLoop: createAgentLoop(loop) } }, clean }
}

/** Returns a dispatcher that can wait for the answer of an agent that this process does not know. */
function anyWithResume(dispatchers: ReadonlyMap<string, Dispatcher>): Dispatcher | undefined {
  return [...dispatchers.values()].find(({ resume }) => resume !== undefined)
}

/** Progress events go into the journal like results; throws at once for data that JSON cannot represent. */
function plainPayload(payload: unknown): Json {
  const copy = plainCopy(payload)
  if (copy.ok) return copy.value
  throw new ProvisoError('json/unrepresentable', copy.issue.message, { at: copy.issue.at })
}

/** The call budget of one attempt; if the run has limits, its reservation. */
function callsFor(
  state: RunState,
  { node }: NodeState,
  called: { readonly capability: Capability; readonly catalog: Catalog } | undefined,
): number {
  const { capability, catalog } = called ?? {}
  const turns =
    catalog && capability?.kind === 'model' && isAgent(capability)
      ? mostModelCalls(capability, catalog.capability)
      : undefined
  const { callBudget = turns ?? defaultCallBudget } = node
  return Math.min(callBudget, state.reserved.get(node.id)?.calls ?? callBudget)
}

/** The deadline of the attempt or of the run, whichever is earlier. */
function getDeadline(state: RunState, node: NodeState): { deadlineAt?: number } {
  const deadlineAt = least(node.attempt?.deadlineAt, state.timers.get(deadlineTimer)?.dueAt)
  return deadlineAt === undefined ? {} : { deadlineAt }
}

/** The smaller of the node's remaining limits and the reservation of this attempt. */
function limitsFor(state: RunState, node: NodeState): { tokens?: number; costUsd?: number } {
  const { maxTokens } = state.plan?.limits ?? {}
  const { tokenBudget, costBudgetUsd } = node.node
  const held = state.reserved.get(node.node.id)
  const tokens = least(
    maxTokens === undefined ? undefined : held?.tokens || undefined,
    tokenBudget === undefined ? undefined : tokenBudget - node.tokens,
  )
  const costUsd = least(held?.costUsd, costBudgetUsd === undefined ? undefined : costBudgetUsd - node.costUsd)
  return { ...(tokens !== undefined && { tokens }), ...(costUsd !== undefined && { costUsd }) }
}

function least(...limits: readonly (number | undefined)[]): number | undefined {
  const given = limits.filter((limit) => limit !== undefined)
  return given.length > 0 ? Math.min(...given) : undefined
}

/** Whether a constraint of any level applies to the output of this node: then no fallback text may replace it (C18, C55). */
function isConstrained(state: RunState, { node }: NodeState): boolean {
  const { postConditions, enforces, guards } = node
  return [postConditions, enforces, guards, state.envelope.outputContract.constraints].some(
    (conditions) => conditions.length > 0,
  )
}

/** Knowledge snippets that the author of the plan attached to the node: one text or several. */
function getKnowledge(data: NodeState['node']['data'], redactor: Redactor): readonly string[] {
  const given = data?.['knowledge']
  const snippets = Array.isArray(given) ? given : given === undefined ? [] : [given]
  return snippets.map((snippet) =>
    redactor.text(typeof snippet === 'string' ? snippet : JSON.stringify(snippet)),
  )
}

/** A copy without secrets: it may hold what earlier runs were given. */
function toConversation(
  { grants: _, ...shown }: ThreadContext,
  redactor: Redactor,
): Omit<ThreadContext, 'grants'> {
  return redactor.value(structuredClone(shown)) as Omit<ThreadContext, 'grants'>
}

/** A deep copy: changes by an attempt never reach the run or another attempt. */
function toBundle(
  state: RunState,
  node: NodeState,
  given: { readonly inputs: Json; readonly returns: JsonSchema; readonly redactor: Redactor },
): Bundle {
  const { instructions = '', constraints } = node.node
  const inputs = copyJson(given.inputs)
  const knowledge = getKnowledge(node.node.data, given.redactor)
  const said = state.feedback.length > 0 ? feedbackFor(state, node.node.id, ...around(state, node)) : []
  const feedback = copyJson(said as unknown as Json)
  return {
    objective: state.envelope.objective,
    inputs: constraints?.no_credential_access ? (given.redactor.value(inputs) as Json) : inputs,
    instructions,
    specialInstructions: [...state.envelope.specialInstructions],
    returns: copyJson(given.returns as Json) as JsonSchema,
    clarifications: node.clarifications.map(copyJson),
    ...(node.elicited && { elicited: structuredClone(node.elicited) }),
    ...(knowledge.length > 0 && { knowledge }),
    ...(state.thread && { conversation: toConversation(state.thread, given.redactor) }),
    // The redactor keeps the shape.
    feedback: given.redactor.value(feedback) as unknown as readonly Feedback[],
  }
}

// Waits for the answer to a call that an agent has accepted, without making the call again. Never throws.

interface AcceptedBy {
  readonly capabilityId: string
  readonly deadlineAt: number
}

async function awaitAnswer(attempt: AttemptCall, accepted: AcceptedBy): Promise<AttemptResult> {
  const result = await findAnswer(attempt, accepted)
  if (result !== undefined) return result
  const usage = { calls: 1 }
  return attempt.stop.aborted
    ? failed('cancelled', 'The attempt was cancelled', { usage })
    : failed('timed_out', 'The agent did not call back in time', { usage })
}

/** Returns the answer, validated against the node's contract; nothing if none arrived by the deadline. */
async function findAnswer(
  { node, returns, rao, compileOptions, parseText, dispatcher, call, clock, stop: given }: AttemptCall,
  { capabilityId, deadlineAt }: AcceptedBy,
): Promise<AttemptResult | undefined> {
  const stop = createStop()
  const end = () => stop.abort(given.reason)
  const over = new Promise<undefined>((resolve) => stop.listen(() => resolve(undefined)))
  const leave = given.listen(end)
  // The dispatcher ends at the deadline after a last check; this timer is for one that does not, or for a node without a dispatcher.
  const graceMs = dispatcher?.resume ? answerGraceMs : 0
  const cancelTimer = clock.timer(Math.max(deadlineAt, clock.now()) + graceMs, end)
  const { deadlineAt: _, onAccepted: __, ...rest } = call
  try {
    const answer = dispatcher?.resume?.({ ...rest, capabilityId, deadlineAt, signal: stop.signal })
    answer?.catch(() => {})
    const result = await (answer === undefined ? over : Promise.race([answer, over]))
    return (
      result &&
      dispatcher &&
      (await readResult(result, {
        node,
        returns,
        rao,
        compileOptions,
        parseText,
        dispatcher,
        spent: { calls: 1 },
        countCalls: (usage) => usage,
      }))
    )
  } catch (cause) {
    return failed('provider_error', toErrorMessage(cause), { usage: { calls: 1 } })
  } finally {
    cancelTimer()
    leave()
  }
}
