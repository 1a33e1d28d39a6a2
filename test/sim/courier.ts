/**
 * An agent that accepts a call and answers later, into a mailbox that outlives every process. Like the dispatcher of agents
 * over HTTP, it finds an answer that came while no process listened, and waits for one without calling again.
 */
import type { AttemptResult } from '../../src/domain/output.ts'
import type { AcceptedCall, Dispatch, Dispatcher } from '../../src/domain/ports/dispatcher.ts'
import { answerTo } from './answers.ts'
import { deliver, type Life } from './life.ts'
import type { OutsideContext } from './outside.ts'

/** How long an answer is waited for. */
const patienceMs = 30_000
const pollMs = 20

export function courierFor(context: OutsideContext, life: Life): Dispatcher {
  return {
    kind: 'agent',
    remote: true,
    // One call an attempt, so that calls can be counted by attempts.
    retries: true,
    dispatch: (call) => send(context, life, call),
    resume: (call) => wait(context, life, call),
  }
}

async function send(context: OutsideContext, life: Life, call: Dispatch): Promise<AttemptResult> {
  const { seed, world, ledger, rates, mailbox } = context
  const { runId, nodeId, attempt, idempotencyKey: key } = call
  const { capabilityId } = call.capability
  const earlier = mailbox.get(key)
  if (earlier?.outcome === 'ok') return earlier
  mailbox.delete(key)
  const answer = answerTo(seed, call, ledger.ends(runId, nodeId, capabilityId), rates)
  const { result, durationMs, tokens } = answer
  const cost = typeof result === 'string' ? 1 : result.usage.calls
  ledger.called({ runId, nodeId, capabilityId, attempt, key, at: world.now, cost, tokens })
  if (result !== 'hangs')
    world.after(durationMs + 1, () => mailbox.set(key, result === 'throws' ? broken : result))
  await new Promise<void>((resolve) => deliver(world, life, world.random.int(30), resolve))
  const deadlineAt = world.now + life.skewMs + patienceMs
  call.onAccepted?.({ deadlineAt })
  return (await wait(context, life, { ...call, capabilityId, deadlineAt })) ?? silent
}

/** The answer in the mailbox; nothing when the time is over. */
function wait({ world, mailbox }: OutsideContext, life: Life, call: AcceptedCall) {
  return new Promise<AttemptResult | undefined>((resolve) => {
    const look = () => {
      const found = mailbox.get(call.idempotencyKey)
      const over = call.signal.aborted || world.now + life.skewMs >= call.deadlineAt
      if (found !== undefined || over) resolve(found)
      else deliver(world, life, pollMs, look)
    }
    look()
  })
}

const broken: AttemptResult = {
  outcome: 'provider_error',
  issues: [{ code: 'attempt/provider_error', at: { pointer: '' }, message: 'It broke' }],
  usage: { calls: 1 },
}
const silent: AttemptResult = {
  outcome: 'timed_out',
  issues: [{ code: 'attempt/timed_out', at: { pointer: '' }, message: 'No answer came' }],
  usage: { calls: 1 },
}
