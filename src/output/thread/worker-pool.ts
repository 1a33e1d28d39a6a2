/**
 * A small pool of warm threads, each doing one request at a time under a deadline and a memory limit.
 *
 * A thread is `starting` until it reports ready, then `idle`, then `busy` with one job, then `idle` again. A job waits
 * in the queue until a thread is idle; its deadline runs only while a thread is busy with it. A thread that exceeds a
 * limit (deadline, memory) or whose job is aborted is terminated and replaced, so no state survives. A thread that dies
 * for another reason fails its job; one that cannot start fails one queued job, so that a broken installation shows as
 * errors instead of an endless wait.
 */
import { Worker } from 'node:worker_threads'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Answer, Request } from './off-thread-messages.ts'

export interface PoolOptions {
  readonly url: URL
  readonly workers: number
  readonly deadlineMs: number
  readonly memoryMb: number
  readonly waiting: number
  readonly idleMs: number
}

/** The outcome of a request: the answer, or the limit that stopped it. */
export type Outcome = Answer | { readonly kind: 'deadline' } | { readonly kind: 'memory' }

export interface Pool {
  run(request: Request, signal?: AbortSignal): Promise<Outcome>
  close(): Promise<void>
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
  const threads = new Set<Thread>()
  const queue: Job[] = []
  let closed = false

  function spawn(): void {
    const limits = { maxOldGenerationSizeMb: options.memoryMb }
    const worker = new Worker(options.url, { resourceLimits: limits })
    const thread: Thread = { worker, state: 'starting', job: undefined, timer: undefined }
    threads.add(thread)
    let failure: unknown
    worker.on('message', (answer: Answer) => {
      if (answer.kind !== 'ready') finish(thread, answer)
      else if (threads.has(thread)) rest(thread)
      pump()
    })
    worker.on('error', (error: NodeJS.ErrnoException) => {
      failure = error
      const outOfMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      if (outOfMemory && thread.state === 'busy') stop(thread, { kind: 'memory' })
    })
    worker.on('exit', () => {
      if (!threads.delete(thread)) return
      clearTimeout(thread.timer)
      const broken = new ProvisoError('pool/broken', 'A reader thread ended unexpectedly', { cause: failure })
      if (thread.state === 'starting') queue.shift()?.settle(broken)
      else thread.job?.settle(broken)
      pump()
    })
  }

  /**
   * Assigns queued jobs to idle threads, starts threads while jobs remain queued, and lets the process exit when none
   * does.
   */
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
    for (const thread of threads) {
      if (thread.state === 'busy' || (thread.state === 'starting' && queue.length > 0)) thread.worker.ref()
      else thread.worker.unref()
    }
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

  function cancel(job: Job): void {
    const place = queue.indexOf(job)
    if (place >= 0) queue.splice(place, 1)
    for (const thread of threads) if (thread.job === job) end(thread)
  }

  for (let i = 0; i < options.workers; i++) spawn()
  pump()

  return {
    run(request, signal) {
      if (closed) return Promise.reject(new ProvisoError('pool/closed', 'The reader is closed'))
      if (signal?.aborted) return Promise.reject(aborted(signal))
      if (queue.length >= options.waiting) {
        const message = `The reader is busy: ${options.waiting} requests are waiting already`
        return Promise.reject(new ProvisoError('pool/full', message))
      }
      return new Promise((resolve, reject) => {
        const onAbort = () => {
          cancel(job)
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
        queue.push(job)
        pump()
      })
    },
    async close() {
      closed = true
      const error = new ProvisoError('pool/closed', 'The reader was closed before it answered')
      for (const job of queue.splice(0)) job.settle(error)
      const ending = [...threads]
      threads.clear()
      for (const thread of ending) {
        clearTimeout(thread.timer)
        thread.job?.settle(error)
      }
      await Promise.all(ending.map((thread) => thread.worker.terminate()))
    },
  }
}

function aborted(signal: AbortSignal): ProvisoError {
  return new ProvisoError('aborted', 'The reading was aborted', { cause: signal.reason })
}
