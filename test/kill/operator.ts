/** Simulates people: they answer every ask, as often as they are notified, until it is resolved. */
import type { App, Reply } from '../../src/index.ts'
import { ProvisoError } from '../../src/output/index.ts'
import type { AskRow } from '../../src/types.ts'
import { type Effect, readLog } from './effects.ts'
import type { ChildTask } from './messages.ts'
import { notTwice, paid } from './workload.ts'

/** Starts answering; returns a function that stops it. */
export function answerAsks(app: App, task: ChildTask): () => void {
  let looking = false
  let again = false
  let stopped = false
  const look = async () => {
    again = true
    if (looking) return
    looking = true
    while (again && !stopped) {
      again = false
      const asks = await app.store.asks({ status: 'pending' })
      const answered = await Promise.all(asks.map((ask) => answer(app, task, ask)))
      again ||= answered.includes(false)
    }
    looking = false
  }
  const stop = app.store.onChange(() => void look())
  void look()
  return () => {
    stopped = true
    stop()
  }
}

/** Whether the ask needs no other look: it was answered, here or by another process. */
async function answer(app: App, task: ChildTask, ask: AskRow): Promise<boolean> {
  const { requestId, valueHash } = ask
  try {
    const decision = await decide(app, task, ask)
    await app.reply(ask.runId, { requestId, valueHash, by: 'ann', ...decision })
    return true
  } catch (error) {
    if (!(error instanceof ProvisoError)) throw error
    // The store has not answered in time: the reply may have been taken.
    if (error.code === 'store/unavailable') return false
    // Another reply was faster: expected.
    if (error.code !== 'ask/resolved') throw error
    return true
  }
}

/**
 * Decides about a payment with unknown outcome: half of the people check whether it was made and submit the receipt; the
 * others order a repetition. A payment that was not made is always repeated.
 */
async function decide(app: App, task: ChildTask, ask: AskRow): Promise<Pick<Reply, 'decision' | 'value'>> {
  const looks = ask.kind === 'unknown_outcome' && task.seed % 2 === 0
  if (!looks) return { decision: 'approve' }
  const payment = (await app.state(ask.runId)).nodes.get(notTwice)?.attempt?.idempotencyKey
  const made = readLog<Effect>(task.effects).some(({ key }) => key === payment)
  return made ? { decision: 'answer', value: paid } : { decision: 'approve' }
}
