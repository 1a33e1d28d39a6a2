/**
 * Restarts a process again and again with SIGKILL. Each new process starts runs that exist while its poller claims them, and
 * every start must be answered: `run/exists` for an id that was acknowledged before.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Random } from '../random.ts'
import type { RestartReport, RestartTask } from './messages.ts'

export interface RestartOptions {
  /** The compiled program. */
  readonly program: string
  readonly store: string
  readonly restarts: number
  readonly seed: number
  readonly leaseMs: number
  readonly onRestart?: (done: number) => void
}

export interface RestartResult {
  readonly restarts: number
  readonly starts: number
  /** How often each answer was given. */
  readonly answers: { readonly [answer: string]: number }
  /** Starts without an answer after their deadline, in a process that ran; each with how to find it again. */
  readonly hangs: readonly string[]
  /** Wrong answers, runs that did not complete, and processes that failed. */
  readonly violations: readonly string[]
  /** Starts whose process was killed before the answer. */
  readonly cutOff: number
  readonly slowestMs: number
  readonly seconds: number
}

/** A process reports starts that are overdue. One that says nothing for so long is stuck, or gets no processor time at all. */
const silenceMs = 180_000
/** Long runs may end after so many restarts: a call whose outcome is unknown is repeated ten times at most. */
const generation = 5

const unavailable = 'store/unavailable'

export async function runRestarts(options: RestartOptions): Promise<RestartResult> {
  const { restarts, seed, leaseMs, store, onRestart } = options
  const began = performance.now()
  const random = new Random(seed)
  const answers = new Map<string, number>()
  const [hangs, violations]: [string[], string[]] = [[], []]
  const known = new Map<string, 'perhaps' | 'acknowledged'>()
  let [starts, cutOff, slowestMs] = [0, 0, 0]
  for (let nth = 1; nth <= restarts; nth++) {
    const endless = `long-${Math.floor(nth / generation)}-`
    const long = [0, 1, 2, 3].map((index) => `${endless}${index}`)
    const short = [0, 1, 2].filter((back) => nth > back).map((back) => `short-${nth - back}`)
    // In the first moments of the process, and around the end of the leases of the one before.
    const spread = random.chance(0.5) ? 20 : 1.3 * leaseMs
    const task: RestartTask = {
      store,
      leaseMs,
      endless,
      finish: false,
      starts: [...long, ...short, ...long].map((runId) => ({ runId, afterMs: random.int(0, spread) })),
    }
    const early = random.chance(0.2)
    const life = await live(options.program, task, {
      // One in five is killed before all of its starts are answered.
      ...(early && { killAfterMs: random.int(250, 400 + spread) }),
      limitMs: silenceMs,
    })
    starts += task.starts.length
    slowestMs = Math.max(slowestMs, life.slowestMs)
    if (life.failure) violations.push(`restart ${nth}: ${life.failure}`)
    const begun = new Set<string>()
    for (const [index, { runId, afterMs }] of task.starts.entries()) {
      const answer = life.answers.get(index)
      if (answer === undefined) {
        if (life.isStuck) hangs.push(`restart ${nth}: start of "${runId}" after ${afterMs} ms`)
        else cutOff++
        continue
      }
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
      // A run begins once; an id that was acknowledged before is refused.
      const isNew = known.get(runId) !== 'acknowledged' && !begun.has(runId)
      // The deadline is an answer too; on a machine that is not busy it does not occur.
      const isRight = answer === 'run/exists' || answer === unavailable || (answer === 'started' && isNew)
      if (answer === 'started') begun.add(runId)
      if (!isRight) violations.push(`restart ${nth}: start of "${runId}" got ${answer}`)
    }
    for (const [index, { runId }] of task.starts.entries())
      if (/^(started|run\/exists)$/.test(life.answers.get(index) ?? '')) known.set(runId, 'acknowledged')
      else known.set(runId, known.get(runId) ?? 'perhaps')
    onRestart?.(nth)
  }
  violations.push(...(await finishAll(options, [...known.keys()])))
  const seconds = Math.round((performance.now() - began) / 1000)
  return {
    restarts,
    starts,
    answers: Object.fromEntries(answers),
    hangs,
    violations,
    cutOff,
    slowestMs,
    seconds,
  }
}

/** The last process carries all runs to their end. */
async function finishAll(
  { program, store, leaseMs }: RestartOptions,
  runIds: readonly string[],
): Promise<string[]> {
  const starts = runIds.map((runId) => ({ runId, afterMs: 0 }))
  const { results, failure } = await live(
    program,
    { store, leaseMs, finish: true, starts },
    { limitMs: silenceMs + 100 * runIds.length },
  )
  const wrong = runIds.flatMap((runId) => {
    const status = results.get(runId) ?? 'no result'
    return status === 'completed' ? [] : [`at the end: "${runId}" ended as ${status}`]
  })
  return [...(failure === undefined ? [] : [`at the end: ${failure}`]), ...wrong]
}

interface Life {
  readonly answers: ReadonlyMap<number, string>
  readonly results: ReadonlyMap<string, string>
  readonly slowestMs: number
  /** Some starts were not answered in time. */
  readonly isStuck: boolean
  /** Why it ended by itself with an error. */
  readonly failure?: string
}

/** One process, until all starts are answered (then it is killed), it is killed early, it ends, or it is stuck. */
function live(
  program: string,
  task: RestartTask,
  { killAfterMs, limitMs }: { readonly killAfterMs?: number; readonly limitMs: number },
): Promise<Life> {
  const answers = new Map<number, string>()
  const results = new Map<string, string>()
  let [slowestMs, isStuck, errors] = [0, false, '']
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = () => void child.kill('SIGKILL')
  const early = killAfterMs === undefined ? undefined : setTimeout(kill, killAfterMs)
  let limit: NodeJS.Timeout | undefined
  createInterface({ input: child.stdout }).on('line', (line) => {
    const report = JSON.parse(line) as RestartReport
    clearTimeout(limit)
    limit = setTimeout(() => {
      isStuck = true
      kill()
    }, limitMs)
    if (report.kind === 'overdue') {
      isStuck = true
      kill()
    }
    if (report.kind === 'result') results.set(report.runId, report.status)
    if (report.kind !== 'answered') return
    answers.set(report.nth, report.answer)
    slowestMs = Math.max(slowestMs, report.ms)
    if (!task.finish && answers.size === task.starts.length) kill()
  })
  child.stderr.on('data', (chunk) => {
    errors += String(chunk)
  })
  return new Promise((resolve) => {
    child.on('close', (code) => {
      clearTimeout(early)
      clearTimeout(limit)
      const failed = code !== null && code !== 0
      resolve({
        answers,
        results,
        slowestMs,
        isStuck,
        ...(failed && { failure: `the process ended with ${code}: ${errors}` }),
      })
    })
  })
}
