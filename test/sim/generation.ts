/** An attempt of several calls, one after the other: a process that dies on the way has made some of them. */
import type { AttemptResult } from '../../src/domain/output.ts'
import type { Dispatch } from '../../src/domain/ports/dispatcher.ts'
import { computeSum } from './answers.ts'
import { costlyTokens } from './catalog.ts'
import { deliver, type Life } from './life.ts'
import type { OutsideContext } from './outside.ts'
import { randomFor } from './random.ts'

export function generate(context: OutsideContext, life: Life, call: Dispatch): Promise<AttemptResult> {
  const { seed, world, ledger } = context
  const { runId, nodeId, attempt, idempotencyKey: key } = call
  const { capabilityId } = call.capability
  const random = randomFor(seed, 'climb', runId, nodeId, attempt)
  const steps = random.between(1, call.calls)
  const spent = { calls: 0, outputTokens: 0 }
  return new Promise((resolve, reject) => {
    const next = () => {
      if (!life.alive || call.signal.aborted) return reject(new Error('Stopped on request'))
      const left = (call.tokens ?? Number.POSITIVE_INFINITY) - spent.outputTokens
      if (spent.calls === steps || left < 1)
        return resolve({
          outcome: 'ok',
          output: { value: { v: computeSum(seed, nodeId, call.bundle.inputs) } },
          issues: [],
          usage: spent,
        })
      const tokens = random.int(Math.min(costlyTokens, left) + 1)
      ledger.called({ runId, nodeId, capabilityId, attempt, key, at: world.now, cost: 1, tokens })
      spent.calls++
      spent.outputTokens += tokens
      call.onUsage?.({ ...spent })
      deliver(world, life, random.pick([10, 100, 500]), next)
    }
    next()
  })
}
