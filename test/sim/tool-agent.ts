/**
 * Agents with tools: the executor of production code with a scripted model. What the model says is a pure function of the
 * seed and of the conversation, so that a turn that is asked again brings the same calls; the provider's ids repeat from
 * turn to turn, as some servers' do. The observer sees every request that leaves a process.
 */
import { setMaxListeners } from 'node:events'
import { modelDispatcher } from '../../src/adapters/executors/model.ts'
import { canonicalJson } from '../../src/base/canonical.ts'
import type { Json } from '../../src/base/json.ts'
import type { AttemptResult } from '../../src/domain/output.ts'
import type { Dispatch } from '../../src/domain/ports/dispatcher.ts'
import type { AnswerPart, ModelAnswer, ModelMessage, ModelRequest } from '../../src/domain/ports/provider.ts'
import { computeSum } from './answers.ts'
import { createLifeClock, deliver, type Life } from './life.ts'
import type { OutsideContext } from './outside.ts'
import { mix, type Random, randomFor } from './random.ts'
import { firstNestedSeed } from './scenario.ts'

export async function runToolAgent(
  context: OutsideContext,
  life: Life,
  call: Dispatch,
): Promise<AttemptResult> {
  const { world } = context
  // Turns and tools of agents within each other share it.
  setMaxListeners(0, call.signal)
  const provider = {
    name: 'scripted',
    tools: true as const,
    free: true as const,
    generate: (request: ModelRequest) => takeTurn(context, life, call, request),
  }
  const clock = createLifeClock(world, life)
  const dispatcher = modelDispatcher({
    providers: [provider],
    defaultModel: 'scripted/agent',
    clock,
    random: () => world.random.next(),
  })
  const result = await dispatcher.dispatch(call)
  // It has retried by itself.
  const isTurnedAway = result.outcome === 'throttled' || result.outcome === 'unavailable'
  return isTurnedAway ? { ...result, outcome: 'provider_error' } : result
}

/** Tokens of a turn. */
const turnTokens = 5

function takeTurn(
  { seed, world, ledger, rates }: OutsideContext,
  life: Life,
  call: Dispatch,
  request: ModelRequest,
): Promise<ModelAnswer> {
  const { runId, nodeId, attempt } = call
  const { messages = [], system, tools = [], toolChoice = 'auto', idempotencyKey: key } = request
  const text = canonicalJson({ system, messages, tools, toolChoice } as unknown as Json)
  const wrong = unpaired(messages)
  if (wrong !== undefined)
    ledger.faults.push(`"${nodeId}" sends a conversation that providers refuse: ${wrong}`)
  const turn = messages.filter(({ role }) => role === 'assistant').length
  const isLucky = !rates.onceFails || !world.random.chance(rates.failures / 4)
  ledger.asked({ runId, nodeId, attempt, key, text, isGenerated: isLucky })
  if (isLucky) ledger.turnTokens.set(runId, (ledger.turnTokens.get(runId) ?? 0) + turnTokens)
  return new Promise((resolve) => {
    request.signal.addEventListener('abort', () => resolve({ kind: 'cancelled', message: 'Stopped' }))
    deliver(world, life, world.random.pick([1, 20, 300]), () =>
      resolve(
        isLucky
          ? answer(seed, {
              ...{ runId, nodeId, turn, messages, isLast: toolChoice === 'none' },
              tools: tools.map(({ name }) => name),
            })
          : throttled,
      ),
    )
  })
}

const throttled: ModelAnswer = { kind: 'throttled', message: 'Too many', retryAfterMs: 10 }

interface Asked {
  readonly runId: string
  readonly nodeId: string
  readonly turn: number
  readonly messages: readonly ModelMessage[]
  readonly isLast: boolean
  readonly tools: readonly string[]
}

/** Calls for a few turns; then a value that depends on everything that was read. */
function answer(seed: number, { runId, nodeId, turn, messages, isLast, tools }: Asked): ModelAnswer {
  const isNested = seed >= firstNestedSeed
  // Agents that call each other share a node: what they do depends on their tools, too.
  const salt = isNested ? [tools.join()] : []
  const turns = randomFor(seed, 'turns', runId, nodeId, ...salt).between(1, 4)
  const common = {
    kind: 'text',
    finish: 'stop',
    usage: { inputTokens: 0, outputTokens: turnTokens },
  } as const
  if (isLast || turn >= turns) {
    const results = messages.filter(({ role }) => role === 'tool')
    const text = JSON.stringify({ v: mix(seed, canonicalJson(results as unknown as Json)) % 1000 })
    return { ...common, text, parts: [{ type: 'text', text }] }
  }
  const random = randomFor(seed, 'calls', runId, nodeId, turn, ...salt)
  const names = isNested ? [...tools, ...tools.filter((name) => name === 'aide')] : toolNames
  const parts = Array.from({ length: random.between(1, 4) }, (_, position) => toCall(random, names, position))
  return { ...common, text: '', parts }
}

const toolNames = ['look', 'look', 'page', 'mark', 'mark', 'strike', 'strike', 'grant', 'desk'] as const

function toCall(random: Random, names: readonly string[], position: number): AnswerPart {
  const input = JSON.stringify({ a: random.int(5), b: random.int(1000) })
  // Sometimes no tool, or arguments that cannot be read.
  const [toolName, given] = random.chance(0.1)
    ? random.pick([
        ['fly', input],
        ['strike', '{"a": "much"}'],
      ] as const)
    : [random.pick(names), input]
  return { type: 'tool-call', toolCallId: `call_${position}`, toolName, input: given }
}

/** Every result follows its call, in order; as strict as real servers. */
function unpaired(messages: readonly ModelMessage[]): string | undefined {
  let open: readonly string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      const ids = message.results.map(({ toolCallId, toolName }) => `${toolCallId} of ${toolName}`)
      if (String(ids) !== String(open)) return `results ${ids} after calls ${open}`
      open = []
      continue
    }
    if (open.length > 0) return `calls ${open} have no result`
    if (message.role === 'assistant')
      open = message.parts.flatMap((part) =>
        part.type === 'tool-call' ? [`${part.toolCallId} of ${part.toolName}`] : [],
      )
  }
  return open.length > 0 ? `calls ${open} have no result` : undefined
}

/** A tool acts: what it brings depends on its arguments alone, so that a repeated call brings the same. */
export function performTool({ seed, world, ledger, rates }: OutsideContext, life: Life, call: Dispatch) {
  return new Promise<AttemptResult>((resolve, reject) => {
    if (!life.alive) return
    const { runId, nodeId, attempt, idempotencyKey: key, capability, bundle } = call
    const { capabilityId, sideEffect, idempotent, kind } = capability
    const cost = kind === 'local' ? 0 : 1
    const record = { runId, nodeId, capabilityId, attempt, key, at: world.now, cost, tokens: 0 }
    ledger.called(record)
    const random = randomFor(seed, 'tool', runId, nodeId, capabilityId, canonicalJson(bundle.inputs))
    const durationMs = random.pick([0, random.int(20), random.int(500)])
    const fails = random.chance(rates.failures / 2) && (idempotent || rates.onceFails)
    const takeBack = sideEffect
      ? world.after(Math.floor(durationMs * random.next()), () => {
          const effect = ledger.effects.get(key)
          if (effect) effect.times++
          else ledger.effects.set(key, { call: record, times: 1 })
        })
      : () => {}
    if (random.chance(0.7))
      call.signal.addEventListener('abort', () => {
        takeBack()
        reject(new Error('Stopped on request'))
      })
    deliver(world, life, durationMs + 1, () => {
      if (fails) reject(new Error('It broke'))
      else
        resolve({
          outcome: 'ok',
          output: { value: { v: computeSum(seed, capabilityId, bundle.inputs) } },
          issues: [],
          usage: { calls: cost },
        })
    })
  })
}
