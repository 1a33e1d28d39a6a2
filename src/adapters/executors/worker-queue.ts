/**
 * Queue of calls for workers, as documents of the store: any process of the server gives a call to one worker at a time. A
 * worker begins a call after it was taken and renews it while it works, so a reply that got lost on its way has no effect. A
 * worker that falls silent loses the call: an idempotent one is given to another worker under the same key, any other may
 * have taken effect and is ended by the process that waits for its answer.
 */
import { sha256Hex } from '../../base/canonical.ts'
import type { Json } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import { pause } from '../../base/time/retry.ts'
import { deriveCallKey } from '../../domain/capability/call-signature.ts'
import type { CallProgress, TakenCall, WorkerAgent, WorkerCalls } from '../../domain/ports/callbacks.ts'
import type { DocumentKey, DocumentRow, Documents } from '../../domain/ports/documents.ts'

interface WorkerQueueOptions {
  readonly documents: Documents
  readonly clock: Clock
  /** Whether a run still waits for the call. */
  readonly isAwaited: (call: Pick<QueuedCall, 'callId' | 'idempotencyKey'>) => Promise<boolean>
  /** Returns the valid signing secrets of an agent, newest first. */
  readonly getSecrets: (agent: WorkerAgent) => readonly string[]
  /** A worker that does not renew a call for this long has lost it. Default 30 s. */
  readonly leaseMs?: number
  /** How often the store is polled for calls that other processes have added. Default 1 s. */
  readonly pollMs?: number
}

/** A call for workers. */
interface QueuedCall extends WorkerAgent {
  readonly runId: string
  /** Identifies the attempt in the path of the callback. */
  readonly callId: string
  readonly idempotencyKey: string
  readonly isIdempotent: boolean
  readonly body: Json
}

/** Why a call ended without an answer: no worker took it, the worker that began it fell silent, or it is not needed. */
type CallEnd = 'untaken' | 'lost' | 'cancelled'

interface StoredCall extends Pick<QueuedCall, 'callId' | 'idempotencyKey' | 'isIdempotent' | 'body'> {
  readonly delivery: number
  /** A worker has begun: the call may have taken effect. */
  readonly hasBegun: boolean
  /** Kept until the run is deleted, so that a process that resumes the attempt knows it. */
  readonly end?: CallEnd
}

export interface WorkerQueue extends WorkerCalls {
  /** Adds a call. One that is there already, under the same key, stays as it is unless it has ended. */
  add(call: QueuedCall): Promise<void>
  /** Waits until the call ends without an answer; undefined when the signal aborts. */
  waitForEnd(
    call: WorkerCallName,
    given: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<EndedCall | undefined>
  /** Ends a call that is not needed any more; a worker that executes it learns it when it renews. */
  cancel(call: WorkerCallName): Promise<void>
  /** Removes a call that was answered. */
  remove(call: WorkerCallName): Promise<void>
  /** Calls the listener with the text of a stream, as far as it reaches this process; returns a function that removes it. */
  onText(call: WorkerCallName, listener: (text: string) => void): () => void
}

interface WorkerCallName extends WorkerAgent {
  readonly idempotencyKey: string
}

export interface EndedCall {
  readonly end: CallEnd
  readonly hasBegun: boolean
}

/** The text of a call in progress, as far as it reached this process. */
interface Stream {
  delivery: number | undefined
  received: number
  readonly listener: (text: string) => void
}

/** How often a call is given to a worker that begins it: a call that ends every worker must not return for ever. */
const mostDeliveries = 5

export function createWorkerQueue(options: WorkerQueueOptions): WorkerQueue {
  const { documents, clock, leaseMs = 30_000, pollMs = 1_000 } = options
  // A call that was taken is begun at once, or its worker is gone.
  const beginMs = Math.min(leaseMs, 10_000)
  const streams = new Map<string, Stream>()

  const endCall: EndCall = async (row, end) => {
    const { body: _, ...call } = readCall(row)
    return (await documents.replace(toDocument(row, { ...call, body: null, end }), row)) !== undefined
  }
  const takeNext = async (agent: WorkerAgent): Promise<TakenCall | undefined> => {
    const secret = options.getSecrets(agent)[0]
    if (secret === undefined) return undefined
    const within = { tenant: agent.tenant, prefix: toPrefix(agent) }
    for (;;) {
      const [row] = await documents.claimDue({ kind: 'call', limit: 1, leaseMs: beginMs, within })
      if (row === undefined) return undefined
      const call = readCall(row)
      if (!(await options.isAwaited(call))) await documents.remove(row)
      else if (call.hasBegun && call.delivery >= mostDeliveries) await endCall(row, 'lost')
      else {
        const delivery = call.delivery + 1
        const change = { version: row.version, dueInMs: beginMs }
        const taken = await documents.replace(toDocument(row, { ...call, delivery }), change)
        if (taken !== undefined) return toTaken(call, { delivery, leaseMs, secret })
      }
    }
  }
  /** No worker waits any more: the next one need not wait until the time to begin is over. */
  const giveBack = async (agent: WorkerAgent, { idempotencyKey, delivery }: TakenCall) => {
    const row = await documents.find(toKey({ ...agent, idempotencyKey }))
    const call = row && readCall(row)
    if (row && call?.delivery === delivery && !call.hasBegun && call.end === undefined)
      await documents.replace({ ...toDocument(row, call), dueAt: 0 }, row)
  }
  const waiting = createWaitingWorkers({ clock, pollMs, takeNext, giveBack })
  const pushText = ({ idempotencyKey, delivery, text = '', offset = 0 }: CallProgress) => {
    const stream = streams.get(idempotencyKey)
    if (stream === undefined) return
    stream.delivery ??= delivery
    // Parts went to another process, or another worker begins anew: partial values end here. The answer has the whole text.
    if (offset > stream.received || delivery !== stream.delivery) return
    const fresh = text.slice(stream.received - offset)
    stream.received += fresh.length
    if (fresh !== '') stream.listener(fresh)
  }

  return {
    take: (agent, given) => waiting.wait(agent, given),
    async renew(agent, progress) {
      const key = toKey({ ...agent, ...progress })
      for (;;) {
        const row = await documents.find(key)
        const call = row && readCall(row)
        if (row === undefined || call?.delivery !== progress.delivery || call.end !== undefined) return 'over'
        if (!call.hasBegun && !(await options.isAwaited(call))) return 'over'
        // Only an idempotent call is due again: no other worker may begin one that may have taken effect.
        const due = call.isIdempotent && { dueInMs: leaseMs }
        const begun = toDocument(row, { ...call, hasBegun: true })
        if ((await documents.replace(begun, { version: row.version, ...due })) === undefined) continue
        pushText(progress)
        return 'renewed'
      }
    },
    async add(call) {
      await addCall(documents, call)
      waiting.notify(call)
    },
    waitForEnd: (call, given) => watchCall(call, given, { documents, clock, leaseMs, endCall }),
    async cancel(call) {
      for (;;) {
        const row = await documents.find(toKey(call))
        if (row === undefined || readCall(row).end !== undefined || (await endCall(row, 'cancelled'))) return
      }
    },
    async remove(call) {
      await documents.remove(toKey(call))
    },
    onText({ idempotencyKey }, listener) {
      streams.set(idempotencyKey, { delivery: undefined, received: 0, listener })
      return () => void streams.delete(idempotencyKey)
    },
  }
}

/** False if the call has changed meanwhile. */
type EndCall = (row: DocumentRow, end: CallEnd) => Promise<boolean>

async function addCall(documents: Documents, call: QueuedCall): Promise<void> {
  const { callId, idempotencyKey, isIdempotent, body, runId } = call
  const fresh = { callId, idempotencyKey, isIdempotent, body, delivery: 0, hasBegun: false }
  const key = toKey(call)
  for (;;) {
    const document = { ...key, runId, body: fresh as unknown as Json, dueAt: 0 }
    if (await documents.add(document)) return
    const row = await documents.find(key)
    if (row === undefined) continue
    const before = readCall(row)
    if (before.end === undefined) return
    // The next delivery has another number, so that the worker of the last one does not renew it.
    const again = { ...document, body: { ...fresh, delivery: before.delivery } as unknown as Json }
    if (await documents.replace(again, row)) return
  }
}

/** Checks a call until it has ended without an answer; ends one that is silent for too long. */
async function watchCall(
  name: WorkerCallName,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
  {
    documents,
    clock,
    leaseMs,
    endCall,
  }: Pick<WorkerQueueOptions, 'documents' | 'clock'> & {
    readonly leaseMs: number
    readonly endCall: EndCall
  },
): Promise<EndedCall | undefined> {
  const checkMs = Math.max(Math.min(leaseMs, timeoutMs) / 3, 10)
  let seen: { readonly version: number; readonly at: number } | undefined
  const check = async (): Promise<EndedCall | undefined> => {
    const row = await documents.find(toKey(name))
    // Deleted with its run.
    if (row === undefined) return { end: 'lost', hasBegun: true }
    const { hasBegun, isIdempotent, end } = readCall(row)
    if (end !== undefined) return { end, hasBegun }
    const now = clock.now()
    if (seen?.version !== row.version) seen = { version: row.version, at: now }
    // Measured from when this process saw it first, so that clocks need not agree and a restart loses no call.
    const silentMs = now - seen.at
    const isFinal = hasBegun && !isIdempotent
    const allowedMs = (hasBegun ? leaseMs : 0) + (isFinal ? 0 : timeoutMs)
    const reason = isFinal ? 'lost' : 'untaken'
    return silentMs > allowedMs && (await endCall(row, reason)) ? { end: reason, hasBegun } : undefined
  }
  while (!signal.aborted) {
    // If the store does not answer, check again: the deadline of the attempt is the limit.
    const ended = await check().catch(() => undefined)
    if (ended !== undefined) return ended
    await pause(clock, checkMs, signal)
  }
  return undefined
}

interface WaitingOptions {
  readonly clock: Clock
  readonly pollMs: number
  readonly takeNext: (agent: WorkerAgent) => Promise<TakenCall | undefined>
  readonly giveBack: (agent: WorkerAgent, call: TakenCall) => Promise<void>
}

interface Waiting {
  readonly waiters: Set<Waiter>
  /** Ends the pause between two reads of the store. */
  wake: () => void
  /** A call was added since the last read. */
  isNotified: boolean
}

interface Waiter {
  readonly resolve: (call: TakenCall | undefined) => void
  readonly reject: (cause: unknown) => void
}

/** Workers that wait for a call, per agent in the order in which they came: the store is polled once for all of them. */
function createWaitingWorkers({ clock, pollMs, takeNext, giveBack }: WaitingOptions) {
  const agents = new Map<string, Waiting>()
  const toName = ({ tenant, capabilityId }: WorkerAgent) => JSON.stringify([tenant, capabilityId])

  const lookOnce = async (agent: WorkerAgent, queue: Waiting) => {
    queue.isNotified = false
    const call = await takeNext(agent)
    const [first] = queue.waiters
    if (call && first) return first.resolve(call)
    if (call) return giveBack(agent, call)
    if (queue.isNotified || first === undefined) return
    const awake = new AbortController()
    queue.wake = () => awake.abort()
    await pause(clock, pollMs, awake.signal)
  }
  const serve = async (agent: WorkerAgent, queue: Waiting) => {
    while (queue.waiters.size > 0)
      await lookOnce(agent, queue).catch((cause) => {
        for (const waiter of queue.waiters) waiter.reject(cause)
      })
    agents.delete(toName(agent))
  }
  return {
    wait(agent: WorkerAgent, { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal }) {
      const before = agents.get(toName(agent))
      const queue = before ?? { waiters: new Set<Waiter>(), wake: () => {}, isNotified: false }
      agents.set(toName(agent), queue)
      return new Promise<TakenCall | undefined>((resolve, reject) => {
        const leave = () => {
          cancelTimer()
          signal.removeEventListener('abort', giveUp)
          queue.waiters.delete(waiter)
          if (queue.waiters.size === 0) queue.wake()
        }
        const waiter: Waiter = {
          resolve(call) {
            leave()
            resolve(call)
          },
          reject(cause) {
            leave()
            reject(cause)
          },
        }
        const giveUp = () => waiter.resolve(undefined)
        const cancelTimer = clock.timer(clock.now() + waitMs, giveUp)
        signal.addEventListener('abort', giveUp, { once: true })
        queue.waiters.add(waiter)
        if (signal.aborted) giveUp()
        if (before === undefined) void serve(agent, queue)
      })
    },
    notify(agent: WorkerAgent) {
      const queue = agents.get(toName(agent))
      if (queue === undefined) return
      queue.isNotified = true
      queue.wake()
    },
  }
}

function toTaken(
  { idempotencyKey, callId, body }: StoredCall,
  {
    delivery,
    leaseMs,
    secret,
  }: { readonly delivery: number; readonly leaseMs: number; readonly secret: string },
): TakenCall {
  const callbackPath = `/api/v1/flex/callbacks/${callId}`
  const signingKey = deriveCallKey(secret, idempotencyKey)
  return { idempotencyKey, delivery, leaseMs, signingKey, callbackPath, body }
}

function toPrefix({ capabilityId }: WorkerAgent): string {
  return `${sha256Hex(capabilityId).slice(0, 32)}/`
}

function toKey(call: WorkerCallName): DocumentKey {
  return { kind: 'call', tenant: call.tenant, id: `${toPrefix(call)}${call.idempotencyKey}` }
}

/** The document with another state; it is due only if the caller says so. */
function toDocument({ kind, tenant, id, runId }: DocumentRow, call: StoredCall) {
  return { kind, tenant, id, body: call as unknown as Json, ...(runId !== undefined && { runId }) }
}

/** Only this module writes these documents. */
function readCall({ body }: DocumentRow): StoredCall {
  return body as unknown as StoredCall
}
