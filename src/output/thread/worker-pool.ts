/**
 * A small pool of warm threads, each doing one request at a time under a deadline and a memory limit.
 *
 * A thread is `starting` until it reports ready, then `idle`, then `busy` with one job, then `idle` again. A job waits
 * in the queue until a thread is idle; its deadline runs only while a thread is busy with it. A thread that exceeds a
 * limit (deadline, memory) or whose job is aborted is terminated and replaced, so no state survives. A thread that dies
 * for another reason fails its job; one that cannot start fails one queued job, so that a broken installation shows as
 * errors instead of an endless wait.
 */
import type { Worker, WorkerOptions } from 'node:worker_threads'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Answer, Request } from './off-thread-messages.ts'

interface PoolOptions {
  startWorker(options: WorkerOptions): Worker
  readonly workers: number
  readonly deadlineMs: number
  readonly memoryMb: number
  readonly waiting: number
  readonly idleMs: number
}

/** The outcome of a request: the answer, or the limit that stopped it. */
export type Outcome = Answer | { readonly kind: 'deadline' } | { readonly kind: 'memory' }

interface Pool {
  run(request: Request, signal?: AbortSignal): Promise<Outcome>
  close(): Promise<void>
}

/** Load of the pools of this process. */
export interface PoolStats {
  readonly threads: number
  readonly busy: number
  readonly queued: number
}

const pools = new Set<() => PoolStats>()

/** Adds up the load of all open pools of this process, for metrics. */
export function getPoolStats(): PoolStats {
  const all = [...pools].map((read) => read())
  const sum = (key: keyof PoolStats) => all.reduce((total, stats) => total + stats[key], 0)
  return { threads: sum('threads'), busy: sum('busy'), queued: sum('queued') }
}

interface Job {
  readonly request: Request
  settle(outcome: Outcome | ProvisoError): void
}

interface Thread {
  readonly worker: Worker
  state: 'starting' | 'idle' | 'busy'
  job: Job | undefined
  timer: NodeJS.Timeout | undefined
}

export function createPool(options: PoolOptions): Pool {
  const threads = createThreads(options)
  let closed = false
  pools.add(threads.stats)
  return {
    run(request, signal) {
      if (closed) return Promise.reject(new ProvisoError('pool/closed', 'The reader is closed'))
      if (signal?.aborted) return Promise.reject(aborted(signal))
      if (threads.queued() >= options.waiting) {
        const message = `The reader is busy: ${options.waiting} requests are waiting already`
        return Promise.reject(new ProvisoError('pool/full', message))
      }
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          threads.cancel(job)
          job.settle(aborted(signal as AbortSignal))
        }
        const job: Job = {
          request,
          settle(outcome) {
            signal?.removeEventListener('abort', onAbort)
            if (outcome instanceof ProvisoError) reject(outcome)
            else resolve(outcome)
          },
        }
        signal?.addEventListener('abort', onAbort, { once: true })
        threads.submit(job)
      })
    },
    async close() {
      closed = true
      pools.delete(threads.stats)
      await threads.close(new ProvisoError('pool/closed', 'The reader was closed before it answered'))
    },
  }
}

interface Threads {
  /** Number of jobs that wait for a thread. */
  queued(): number
  stats(): PoolStats
  submit(job: Job): void
  /** Takes a job out of the queue, or terminates the thread that is busy with it. */
  cancel(job: Job): void
  /** Fails all jobs with the error and terminates all threads. */
  close(error: ProvisoError): Promise<void>
}

/** The state machine described above. */
function createThreads(options: PoolOptions): Threads {
  const threads = new Set<Thread>()
  const queue: Job[] = []
  let closed = false

  function spawn(): void {
    const thread = startThread(options, {
      onMessage(answer) {
        if (answer.kind !== 'ready') finish(thread, answer)
        else if (threads.has(thread)) rest(thread)
        pump()
      },
      onOutOfMemory() {
        if (thread.state === 'busy') stop(thread, { kind: 'memory' })
      },
      onExit(broken) {
        if (!threads.delete(thread)) return
        clearTimeout(thread.timer)
        if (thread.state === 'starting') queue.shift()?.settle(broken)
        else thread.job?.settle(broken)
        pump()
      },
    })
    threads.add(thread)
  }

  /** Assigns queued jobs to idle threads, and starts threads while jobs remain queued. */
  function pump(): void {
    for (const thread of threads) {
      if (thread.state !== 'idle') continue
      const job = queue.shift()
      if (job === undefined) break
      start(thread, job)
    }
    const starting = [...threads].filter((thread) => thread.state === 'starting').length
    const wanted = Math.min(queue.length - starting, options.workers - threads.size)
    for (let i = 0; i < wanted; i++) spawn()
    keepProcessAlive(threads, queue.length > 0)
  }

  function start(thread: Thread, job: Job): void {
    clearTimeout(thread.timer)
    thread.state = 'busy'
    thread.job = job
    thread.timer = setTimeout(() => stop(thread, { kind: 'deadline' }), options.deadlineMs)
    thread.worker.postMessage(job.request)
  }

  function finish(thread: Thread, answer: Answer): void {
    const { job } = thread
    if (!threads.has(thread) || job === undefined) return
    rest(thread)
    job.settle(answer)
  }

  function stop(thread: Thread, outcome: Outcome): void {
    const { job } = thread
    end(thread)
    job?.settle(outcome)
  }

  function rest(thread: Thread): void {
    clearTimeout(thread.timer)
    thread.state = 'idle'
    thread.job = undefined
    if (options.idleMs > 0) thread.timer = setTimeout(() => end(thread, false), options.idleMs).unref()
  }

  function end(thread: Thread, replace = true): void {
    threads.delete(thread)
    clearTimeout(thread.timer)
    void thread.worker.terminate()
    if (replace && !closed) spawn()
    pump()
  }

  for (let i = 0; i < options.workers; i++) spawn()
  pump()

  return {
    queued: () => queue.length,
    stats: () => countThreads(threads, queue),
    submit(job) {
      queue.push(job)
      pump()
    },
    cancel(job) {
      const index = queue.indexOf(job)
      if (index >= 0) queue.splice(index, 1)
      for (const thread of threads) if (thread.job === job) end(thread)
    },
    async close(error) {
      closed = true
      for (const job of queue.splice(0)) job.settle(error)
      const ending = [...threads]
      threads.clear()
      await Promise.all(ending.map((thread) => terminate(thread, error)))
    },
  }
}

function countThreads(threads: ReadonlySet<Thread>, queue: readonly Job[]): PoolStats {
  const busy = [...threads].filter(({ state }) => state === 'busy').length
  return { threads: threads.size, busy, queued: queue.length }
}

interface ThreadEvents {
  onMessage(answer: Answer): void
  onOutOfMemory(): void
  /** Called once at the end, with the error for the job of a thread that was not terminated on purpose. */
  onExit(broken: ProvisoError): void
}

function startThread({ startWorker, memoryMb }: PoolOptions, events: ThreadEvents): Thread {
  const worker = startWorker({ resourceLimits: { maxOldGenerationSizeMb: memoryMb } })
  let failure: unknown
  worker.on('message', events.onMessage)
  worker.on('error', (error: NodeJS.ErrnoException) => {
    failure = error
    if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') events.onOutOfMemory()
  })
  worker.on('exit', () =>
    events.onExit(new ProvisoError('pool/broken', 'A reader thread ended unexpectedly', { cause: failure })),
  )
  return { worker, state: 'starting', job: undefined, timer: undefined }
}

/** Lets the process exit unless a thread works, or starts for a queued job. */
function keepProcessAlive(threads: Iterable<Thread>, hasQueue: boolean): void {
  for (const { state, worker } of threads) {
    if (state === 'busy' || (state === 'starting' && hasQueue)) worker.ref()
    else worker.unref()
  }
}

async function terminate({ worker, job, timer }: Thread, error: ProvisoError): Promise<void> {
  clearTimeout(timer)
  job?.settle(error)
  await worker.terminate()
}

function aborted(signal: AbortSignal): ProvisoError {
  return new ProvisoError('aborted', 'The reading was aborted', { cause: signal.reason })
}
