/** The executors: calls take time, change the world somewhere on the way, and may ignore a signal to stop. */
import type { AttemptResult } from '../../src/domain/output.ts'
import type { Dispatch, Dispatcher } from '../../src/domain/ports/dispatcher.ts'
import { type AnswerRates, answerTo } from './answers.ts'
import { courierFor } from './courier.ts'
import type { FleetPermits } from './fleet-permits.ts'
import { generate } from './generation.ts'
import type { CallRecord, Ledger } from './ledger.ts'
import { deliver, type Life } from './life.ts'
import { performTool, runToolAgent } from './tool-agent.ts'
import type { World } from './world.ts'

export interface OutsideContext {
  readonly seed: number
  readonly world: World
  readonly ledger: Ledger
  readonly rates: AnswerRates
  /** Answers of agents that answer later, by the key of the call. */
  readonly mailbox: Map<string, AttemptResult>
  readonly permits?: Pick<FleetPermits, 'called'>
}

export function dispatchersFor(context: OutsideContext, life: Life): Dispatcher[] {
  const dispatch = (call: Dispatch) => {
    const answer = make(call)
    if (!context.permits || call.isTool) return answer
    const { capabilityId } = call.capability
    const end = context.permits.called(life, { ...call, capabilityId }, call.signal)
    answer.then(end, end)
    return answer
  }
  const make = (call: Dispatch) => {
    if (call.agentLoop) return runToolAgent(context, life, call)
    if (call.isTool) return performTool(context, life, call)
    switch (call.capability.capabilityId) {
      case 'climber':
        return generate(context, life, call)
      default:
        return perform(context, life, call)
    }
  }
  return [
    ...['local', 'http'].map((kind) => ({ kind, remote: false, dispatch })),
    { kind: 'model', remote: false, plain: true, dispatch },
    courierFor(context, life),
  ]
}

function perform({ seed, world, ledger, rates }: OutsideContext, life: Life, call: Dispatch) {
  return new Promise<never>((resolve, reject) => {
    if (!life.alive) return
    const { runId, nodeId, attempt, idempotencyKey: key } = call
    const { capabilityId } = call.capability
    const answer = answerTo(seed, call, ledger.ends(runId, nodeId, capabilityId), rates)
    // What functions of this process do is no call, whatever they say of it.
    const claimed = typeof answer.result === 'string' ? 1 : answer.result.usage.calls
    const cost = call.capability.kind === 'local' ? 0 : claimed
    const { tokens } = answer
    const record: CallRecord = { runId, nodeId, capabilityId, attempt, key, at: world.now, cost, tokens }
    ledger.called(record)
    // The outside world continues whether or not the caller lives to see it.
    const takeBackEffect =
      answer.effectAt === undefined
        ? () => {}
        : world.after(answer.effectAt, () => {
            const effect = ledger.effects.get(key)
            if (effect) effect.times++
            else ledger.effects.set(key, { call: record, times: 1 })
          })
    if (answer.heedsAbort)
      call.signal.addEventListener('abort', () => {
        takeBackEffect()
        reject(new Error('Stopped on request'))
      })
    if (answer.result === 'hangs') return
    // Whatever it changes is changed before it answers.
    deliver(world, life, answer.durationMs + 1, () => {
      if (answer.result === 'throws') reject(new Error('It broke'))
      else resolve(answer.result as never)
    })
  })
}
