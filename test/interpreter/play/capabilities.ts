/** The capabilities of a case: functions, agents that answer at once or later, models. They answer as their scripts say. */
import { type DefinedCapability, defineCapability } from '../../../src/app.ts'
import { ProvisoError } from '../../../src/base/errors/error.ts'
import type { Json } from '../../../src/base/json.ts'
import type { Feedback } from '../../../src/domain/feedback.ts'
import type { AttemptResult } from '../../../src/domain/output.ts'
import type { AcceptedCall, Dispatch, Dispatcher } from '../../../src/domain/ports/dispatcher.ts'
import type { ModelAnswer, Provider } from '../../../src/domain/ports/provider.ts'
import type { Life } from '../../sim/life.ts'
import { randomFor } from '../../sim/random.ts'
import { type Answer, allNodes, type Case, type CaseNode, type Executor } from '../case.ts'
import { getRaoOwner, inputSchema, outputSchema, ownConditions, replanned } from '../draft.ts'
import { answerAt, capabilityId, computeOutput, type Values } from '../values.ts'
import { note, runId, type Stage } from './stage.ts'

export function listNodes(given: Case): CaseNode[] {
  return [...allNodes(given), given.extra]
}

/** With the nodes that a new plan gives to other capabilities. */
function calledNodes(given: Case): CaseNode[] {
  const others = allNodes(replanned(given)).filter(({ variant }) => variant !== undefined)
  return [...listNodes(given), ...others]
}

export function defineCapabilities(stage: Stage, life: Life): DefinedCapability[] {
  return calledNodes(stage.given).flatMap((node) =>
    node.scripts.map((_, candidate) => capabilityOf(stage, life, { node, candidate })),
  )
}

/** Agents are of an untrusted kind: a side effect that depends on their words needs a person. */
function kindOf(executor: Executor): string {
  return executor === 'agent' ? 'mcp' : executor
}

function capabilityOf(
  stage: Stage,
  life: Life,
  { node, candidate }: { node: CaseNode; candidate: number },
): DefinedCapability {
  const id = capabilityId(node, candidate)
  const { executor } = node
  const { unlike } = node.scripts[candidate] ?? {}
  const conditions = ownConditions(node, unlike)
  return defineCapability({
    capabilityId: id,
    kind: kindOf(executor),
    inputContract: inputSchema(node.inputs, unlike),
    outputContract: outputSchema(node, unlike),
    ...(conditions.length > 0 && { postConditions: conditions }),
    idempotent: node.idempotent,
    sideEffect: node.sideEffect,
    ...(getRaoOwner(node) === 'capability' && { rao: {} }),
    ...(executor === 'model' && { preferredModels: [`case/${id}`] }),
    ...(executor === 'local' && {
      run: async (given: Json, { signal, nodeId, feedback, idempotencyKey: key }: LocalContext) => {
        const inputs = given as Values
        const asked = { node, candidate, address: nodeId, inputs, key, signal, noted: isNoted(feedback) }
        const answer = await perform(stage, life, asked)
        if (answer.kind === 'error') throw new Error('It broke')
        if (answer.kind === 'unclear') throw new ProvisoError('capability/unclear', 'How much?')
        if (answer.kind === 'final-error')
          throw new ProvisoError('capability/refused', 'Not with these inputs')
        return valueFor(stage, asked, answer)
      },
    }),
  })
}

interface LocalContext {
  readonly signal: AbortSignal
  readonly nodeId: string
  readonly idempotencyKey: string
  readonly feedback?: readonly Feedback[]
}

export function createDispatchers(stage: Stage, life: Life): Dispatcher[] {
  return [
    {
      kind: kindOf('agent'),
      remote: true,
      async dispatch(call) {
        const asked = askedBy(stage, call)
        return resultOf(stage, asked, await perform(stage, life, asked), call.rao)
      },
    },
    {
      kind: 'courier',
      remote: true,
      dispatch: (call) => accept(stage, life, call),
      resume: (call) => waitForMail(stage, life, call),
    },
  ]
}

interface Asked {
  readonly node: CaseNode
  readonly candidate: number
  readonly address: string
  readonly inputs: Values
  /** The idempotency key; models get none. */
  readonly key?: string
  readonly noted: boolean
  readonly signal: AbortSignal
}

function askedBy(
  { given }: Stage,
  { nodeId, capability, bundle, signal, idempotencyKey: key }: Dispatch,
): Asked {
  return {
    ...nodeFor(given, capability.capabilityId),
    address: nodeId,
    inputs: bundle.inputs as Values,
    key,
    noted: isNoted(bundle.feedback),
    signal,
  }
}

function nodeFor(given: Case, id: string): { node: CaseNode; candidate: number } {
  const candidate = Number(id.split('.c')[1])
  return { node: calledNodes(given).find((node) => capabilityId(node, candidate) === id)!, candidate }
}

function isNoted(feedback: readonly Feedback[] = []): boolean {
  return feedback.some((entry) => entry.note === note)
}

/** One try: what the script says for the attempt that it belongs to, after a while of virtual time. */
function perform(stage: Stage, life: Life, asked: Asked): Promise<Answer> {
  const { world } = stage
  const { address, signal } = asked
  const { answer, nth } = nextAnswer(stage, asked)
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error('Stopped on request'))
    signal.addEventListener('abort', stop)
    if (answer.kind === 'hang' || answer.kind === 'stall') return
    world.after(1 + randomFor(stage.given.seed, 'pace', address, nth).pick([0, 5, 50, 400]), () => {
      if (!life.alive) return
      // All tries of an attempt have one signal: a throttled one would collect listeners.
      signal.removeEventListener('abort', stop)
      resolve(answer)
    })
  })
}

/** What this try brings; a throttled attempt gets through in the end, a stalled one when it is called again. */
function nextAnswer(stage: Stage, { node, candidate, address, inputs, noted, key }: Asked) {
  const id = capabilityId(node, candidate)
  const nth = stage.ledger.ends(runId, address, id)
  const answer = answerAt(node, candidate, { address, nth })
  stage.calls.push({ capabilityId: id, nodeId: address, inputs, noted, at: stage.world.now })
  if (key !== undefined && !stage.keyed.has(key)) stage.keyed.set(key, inputs)
  const turn = `${id} ${address} ${nth}`
  const before = stage.tries.get(turn) ?? 0
  stage.tries.set(turn, before + 1)
  const through =
    (answer.kind === 'throttled' && before >= answer.times) || (answer.kind === 'stall' && before > 0)
  const shown: Answer = through ? { kind: 'ok', confidence: 1 } : answer
  return { answer: shown, nth }
}

function resultOf(stage: Stage, asked: Asked, answer: Answer, rao: boolean): AttemptResult {
  const usage = { calls: 1 }
  const issues = [{ code: 'case/failed', at: { pointer: '' }, message: `It ended as ${answer.kind}` }]
  switch (answer.kind) {
    case 'error':
      return { outcome: 'provider_error', issues, usage }
    case 'not-applied':
      return { outcome: 'provider_error', issues, usage, notApplied: true }
    case 'final-error':
      return { outcome: 'provider_error', issues, usage, final: true }
    case 'refused':
      return { outcome: 'refused', issues, usage }
    case 'unclear':
      return { outcome: 'unclear', question: { text: 'How much?' }, issues: [], usage }
    case 'throttled': {
      const { retryAfterMs, unreachable } = answer
      if (unreachable) return { outcome: 'unavailable', issues, usage: { calls: 0 }, notApplied: true }
      const wait = retryAfterMs !== undefined && { retryAfterMs }
      return { outcome: 'throttled', issues, usage: { calls: 0 }, ...wait }
    }
    default: {
      const value = valueFor(stage, asked, answer)
      return { outcome: 'ok', output: { value: rao ? envelopeFor(answer, value) : value }, issues: [], usage }
    }
  }
}

/** What was done under a key is not done again: a call under it brings what the first one was for. */
function valueFor({ keyed }: Stage, { node, candidate, inputs, key = '' }: Asked, answer: Answer): Json {
  const meant = keyed.get(key) ?? inputs
  const value = computeOutput(node, capabilityId(node, candidate), meant) as { [name: string]: Json }
  return answer.kind === 'bad-value' ? { ...value, [`s${node.key}`]: 'a lot' } : value
}

function envelopeFor(answer: Answer, value: Json): Json {
  const { confidence = 1, escalate = false } = answer.kind === 'ok' ? answer : {}
  return {
    primary_output: JSON.stringify(value),
    confidence,
    confidence_type: 'verbalized',
    escalate,
    reasoning: 'Because',
  }
}

/** An agent that accepts a call and answers later, once for each key. */
async function accept(stage: Stage, life: Life, call: Dispatch): Promise<AttemptResult> {
  const { world, mailbox } = stage
  const { idempotencyKey: key } = call
  const asked = askedBy(stage, call)
  const { answer, nth } = nextAnswer(stage, asked)
  mailbox.delete(key)
  const later = 1 + randomFor(stage.given.seed, 'later', asked.address, nth).pick([20, 600, 4_000])
  world.after(later, () => mailbox.set(key, resultOf(stage, asked, answer, call.rao)))
  await new Promise<void>((resolve) => world.after(5, () => life.alive && resolve()))
  const deadlineAt = world.now + 60_000
  call.onAccepted?.({ deadlineAt })
  return (await waitForMail(stage, life, {
    ...call,
    capabilityId: call.capability.capabilityId,
    deadlineAt,
  }))!
}

function waitForMail({ world, mailbox }: Stage, life: Life, call: AcceptedCall) {
  return new Promise<AttemptResult | undefined>((resolve) => {
    const look = () => {
      if (!life.alive) return
      const found = mailbox.get(call.idempotencyKey)
      if (found !== undefined || call.signal.aborted || world.now >= call.deadlineAt) resolve(found)
      else world.after(25, look)
    }
    look()
  })
}

const apology = "I'm sorry, but I can't help with that."

/** The models of a case: what they write is read as any other model's text. */
export function createProvider(stage: Stage, life: Life): Provider {
  return {
    name: 'case',
    free: true,
    async generate({ model, signal, prompt }): Promise<ModelAnswer> {
      const found = nodeFor(stage.given, model)
      const noted = prompt.includes(note)
      const asked = { ...found, address: found.node.id, inputs: {}, noted, signal }
      const answer = await perform(stage, life, asked)
      const usage = { inputTokens: 1, outputTokens: 1 }
      if (answer.kind === 'error') return { kind: 'error', message: 'It broke', usage }
      if (answer.kind === 'throttled') {
        const { retryAfterMs, unreachable } = answer
        if (unreachable) return { kind: 'unavailable', message: 'Connection refused' }
        return { kind: 'throttled', message: 'Too many', ...(retryAfterMs !== undefined && { retryAfterMs }) }
      }
      const text =
        answer.kind === 'refused'
          ? apology
          : answer.kind === 'babble'
            ? 'Let me think about this for a while.'
            : JSON.stringify(valueFor(stage, asked, answer))
      return { kind: 'text', text, finish: 'stop', usage }
    },
  }
}
