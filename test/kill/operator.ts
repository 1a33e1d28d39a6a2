/** The people of the runs: they answer whatever is asked, as often as they hear of it, until it is answered. */
import type { App } from '../../src/app.ts'
import { ProvisoError } from '../../src/base/error.ts'
import type { Reply } from '../../src/domain/ask.ts'
import type { AskRow } from '../../src/domain/ports/store.ts'
import { type Effect, readLog } from './effects.ts'
import type { ChildTask } from './messages.ts'
import { notTwice, paid } from './workload.ts'

/** Starts answering; returns the way to stop. */
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
      await Promise.all(asks.map((ask) => answer(app, task, ask)))
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

async function answer(app: App, task: ChildTask, ask: AskRow): Promise<void> {
  const { requestId, valueHash } = ask
  try {
    const decision = await decide(app, task, ask)
    await app.reply(ask.runId, { requestId, valueHash, by: 'ann', ...decision })
  } catch (error) {
    // A person is told that somebody was faster, and that is all.
    if (!(error instanceof ProvisoError && error.code === 'ask/resolved')) throw error
  }
}

/**
 * A payment with unknown outcome: half of the people look whether it was made, and say so; the others have it done again.
 * Where it was not made, everybody has it done.
 */
async function decide(app: App, task: ChildTask, ask: AskRow): Promise<Pick<Reply, 'decision' | 'value'>> {
  const looks = ask.kind === 'unknown_outcome' && task.seed % 2 === 0
  if (!looks) return { decision: 'approve' }
  const payment = (await app.state(ask.runId)).nodes.get(notTwice)?.attempt?.idempotencyKey
  const made = readLog<Effect>(task.effects).some(({ key }) => key === payment)
  return made ? { decision: 'answer', value: paid } : { decision: 'approve' }
}
