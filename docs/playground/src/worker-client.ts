/** Asks the worker, one request at a time: of several that wait, the latest of each kind counts. Stops it at a deadline. */
import { limits } from './limits.ts'
import type { Answer, Request } from './messages.ts'

type Listener = (answer: Answer) => void

export interface WorkerClient {
  send(request: Request, listener: Listener): void
}

export function createWorkerClient(start: () => Worker): WorkerClient {
  const waiting = new Map<Request['kind'], { readonly request: Request; readonly listener: Listener }>()
  let worker: Worker | undefined
  let running = false

  function next(): void {
    const [first] = waiting
    if (running || first === undefined) return
    const [kind, { request, listener }] = first
    waiting.delete(kind)
    running = true
    worker ??= start()
    const current = worker
    const settle = (answer: Answer) => {
      clearTimeout(deadline)
      running = false
      if (answer.kind === 'stopped') {
        current.terminate()
        worker = undefined
      }
      listener(answer)
      next()
    }
    const deadline = setTimeout(() => {
      settle({ kind: 'stopped', message: `Stopped: reading took longer than ${limits.deadlineMs} ms.` })
    }, limits.deadlineMs)
    current.onmessage = ({ data }) => settle(data as Answer)
    current.onerror = () => settle({ kind: 'stopped', message: 'Stopped: the reader did not answer.' })
    current.postMessage(request)
  }

  return {
    send(request, listener) {
      waiting.set(request.kind, { request, listener })
      next()
    },
  }
}
