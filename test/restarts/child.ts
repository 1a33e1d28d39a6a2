/**
 * The process that is restarted. It opens the store, whose poller claims what the process before has left, and meanwhile
 * starts the runs of its task, as a client does that continues after a crash.
 */
import { writeSync } from 'node:fs'
import { createApp, defineCapability } from '../../src/index.ts'
import type { RestartReport, RestartTask } from './messages.ts'

const task = JSON.parse(process.argv[2] ?? '{}') as RestartTask

/** Writes synchronously, so that a report survives a kill right after it. */
function say(report: RestartReport): void {
  writeSync(1, `${JSON.stringify(report)}\n`)
}

/** Asks again after the deadline of a busy store, as the error says. */
async function untilAnswered<T>(ask: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await ask()
    } catch (cause) {
      if ((cause as { code?: unknown }).code !== 'store/unavailable') throw cause
    }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const step = defineCapability({
  capabilityId: 'step',
  inputContract: { type: 'object' },
  outputContract: text,
  idempotent: true,
  async run(_, { runId }) {
    if (task.endless !== undefined && runId.startsWith(task.endless)) await new Promise(() => {})
    await pause(5)
    return { text: 'done' }
  },
})
/** Every restart repeats the calls that were interrupted. */
const callBudget = 10_000
const draft = {
  nodes: [
    { id: 'one', capabilityId: 'step', callBudget },
    { id: 'two', capabilityId: 'step', callBudget },
  ],
  edges: [{ from: 'one', to: 'two' }],
  output: { node: 'two' },
}
const envelope = { objective: 'One line about tea', outputContract: { schema: text } }

const app = await createApp({
  store: task.store,
  capabilities: [step],
  leaseMs: task.leaseMs,
  pollMs: 50,
  env: {},
})
/** As `engine-settings.ts` promises: the lease and five seconds. */
const deadlineMs = task.leaseMs + 5_000
const tickMs = 1_000
/** Starts without an answer: when they were asked, and how often the timer below found them overdue. */
const unanswered = new Map<number, { asked: number; found: number }>()
// Judged by the process itself, because one that gets no processor time has no chance to answer: when its loop turns again,
// the timer of the deadline is due before the second of these ticks.
setInterval(() => {
  for (const [nth, start] of unanswered) {
    const ms = Math.round(performance.now() - start.asked)
    if (ms <= deadlineMs + tickMs) continue
    start.found += 1
    if (start.found === 3) say({ kind: 'overdue', nth, ms })
  }
}, tickMs).unref()

await Promise.all(
  task.starts.map(async ({ runId, afterMs }, nth) => {
    await pause(afterMs)
    say({ kind: 'asked', nth })
    const asked = performance.now()
    unanswered.set(nth, { asked, found: 0 })
    const answer = await app
      .prepare(envelope, { runId, draft })
      .start()
      .then(
        () => 'started',
        (cause: { code?: unknown }) => String(cause.code ?? cause),
      )
    unanswered.delete(nth)
    say({ kind: 'answered', nth, answer, ms: Math.round(performance.now() - asked) })
  }),
)
if (task.finish)
  await Promise.all(
    [...new Set(task.starts.map(({ runId }) => runId))].map(async (runId) => {
      const { status, ...result } = await untilAnswered(() => app.result(runId))
      // A call that was interrupted more than ten times is given up.
      const isOver = status === 'completed' || result.failure === 'attempt/outcome_unknown'
      say({ kind: 'result', runId, status: isOver ? 'completed' : JSON.stringify({ status, ...result }) })
    }),
  )
// A process that is to be killed waits for it.
else await new Promise((resolve) => setTimeout(resolve, 60_000))
await app.close()
