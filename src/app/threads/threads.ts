/**
 * Threads: conversations of a tenant, one run per message. Messages of a thread run one after another. A message that waits
 * is a document of the store, so that it survives the process; its run id is chosen when it is accepted, so that starting it
 * twice starts one run.
 */
import type { AppOptions } from '../../app-options.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json, jsonEqual, pick } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { SubscribeToLifecycle } from '../../domain/event/lifecycle.ts'
import type { DocumentRow, Documents } from '../../domain/ports/documents.ts'
import type { Store, ThreadQuery, ThreadRow } from '../../domain/ports/store.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { activeStatuses, waitingStatuses } from '../../domain/status.ts'
import type { ThreadTurn } from '../../domain/thread/thread-context.ts'
import type { Engine } from '../../engine/engine.ts'
import { readTurn, type ThreadKey } from '../../engine/threads/read-thread.ts'

/** What happens to a message while a run of the thread is not over. */
type WhenBusy = 'queue' | 'interrupt' | 'reject'

interface ThreadMessage {
  readonly message: string
  /** Default: the envelope of the last run of the thread; the first message needs one. Its `objective` defaults to the message. */
  readonly envelope?: unknown
  /** Default: the draft of the last run of the thread, if `envelope` is not given either. */
  readonly draft?: unknown
  /** Default: `threads.whenBusy` of the app, else `queue`. */
  readonly whenBusy?: WhenBusy
  /** The run of the message; the same id again is the same message. Default: a new one. */
  readonly runId?: string
  /** Who cancels the current run, with `interrupt`. Default `library`. */
  readonly by?: string
}

interface SaidMessage {
  readonly runId: string
  /** `queued`: its run starts when those before it are over. */
  readonly status: 'started' | 'queued'
}

export interface ThreadView extends ThreadKey {
  /** Its runs, oldest first; the newest 200. */
  readonly turns: readonly (ThreadTurn & { readonly createdAt: number; readonly updatedAt: number })[]
  /** Messages that wait, in the order in which they will run. */
  readonly queued: readonly { readonly runId: string; readonly message: string; readonly createdAt: number }[]
}

export interface Threads {
  list(query: ThreadQuery): Promise<readonly ThreadRow[]>
  /** Undefined if the thread has neither runs nor messages. */
  get(key: ThreadKey): Promise<ThreadView | undefined>
  /** Adds a message and starts its run, or queues it. Throws `thread/busy` where it is to be rejected. */
  say(key: ThreadKey, message: ThreadMessage): Promise<SaidMessage>
  /** Starts the first message that waits, if no run of the thread is under way; for processes that execute their own runs alone. */
  startNext(key: ThreadKey): Promise<void>
}

interface ThreadParts {
  readonly store: Store
  /** The same rows with sealed secrets. */
  readonly shown: Store
  readonly clock: Clock
  readonly redactor: Redactor
  readonly newId: () => string
  readonly prepare: (
    envelope: unknown,
    options: {
      readonly runId: string
      readonly tenant: string
      readonly threadId: string
      readonly draft?: unknown
    },
  ) => { start(): Promise<string> }
  readonly cancel: (runId: string, given: { by: string; reason?: string }) => Promise<void>
  /** Reports the ends of runs. Absent: other processes start the messages that wait. */
  readonly subscribe?: SubscribeToLifecycle
  readonly onError: (cause: unknown) => void
  readonly whenBusy: WhenBusy
}

const kind = 'message'
const mostTurns = 200
/** How often queued messages are read besides the ends of runs in this process. */
const pollMs = 2_000

/** Wires the threads of an app: what a process does about messages that wait depends on which runs it executes. */
export async function wireThreads(
  { threads: given = {}, claim = 'all' }: Pick<AppOptions, 'threads' | 'claim'>,
  engine: Engine,
  parts: Omit<ThreadParts, 'cancel' | 'subscribe' | 'onError' | 'whenBusy'> & {
    readonly onCrash: (runId: string, cause: unknown) => void
  },
) {
  // A process that executes its own runs alone may lack the capabilities that queued messages need.
  const canStartAll = claim === 'all'
  const threads = createThreads({
    ...pick(parts, ['store', 'shown', 'clock', 'redactor', 'newId', 'prepare']),
    cancel: engine.cancel,
    ...(canStartAll && { subscribe: engine.subscribeToLifecycle }),
    onError: (cause) => parts.onCrash('', cause),
    whenBusy: given.whenBusy ?? 'queue',
  })
  if (canStartAll) await threads.open()
  return threads
}

function createThreads(parts: ThreadParts): Threads & { open(): Promise<void>; close(): void } {
  const { store, shown, clock, newId } = parts
  const { documents } = store.records
  const startNext = createStarter(parts)
  const unsubscribe = parts.subscribe?.(
    async (notice) => {
      if (notice.kind === 'appended' && notice.thread) await startNext(notice.thread)
    },
    { types: ['complete'], ofThreads: true },
  )
  const poll = createPoll(parts, startNext)
  return {
    list: (query) => shown.threads(query),
    get: (key) => readThread(shown, key),
    startNext,
    async say(key, given) {
      const { whenBusy = parts.whenBusy } = given
      const runId = given.runId ?? newId()
      const known = given.runId === undefined ? undefined : await store.head(runId)
      if (known?.tenant === key.tenant && known.threadId === key.threadId) return { runId, status: 'started' }
      const started = await complete(store, key, given)
      // Refuses what is invalid before anything is stored.
      parts.prepare(started.envelope, { ...key, runId, ...pickDraft(started) })
      const body = { ...key, runId, message: given.message, ...started }
      refuseSecrets(parts.redactor, body)
      const busy = await findBusy(store, key)
      if (whenBusy === 'reject' && (busy.length > 0 || (await listQueued(documents, key)).length > 0))
        throw busyError(key)
      const row = {
        kind,
        tenant: key.tenant,
        id: toId(key, { runId, isFirst: whenBusy === 'interrupt' }),
      } as const
      await documents.add({ ...row, body: body as unknown as Json })
      if (whenBusy === 'interrupt')
        for (const each of busy)
          await parts.cancel(each.runId, { by: given.by ?? 'library', reason: 'interrupted by a message' })
      await startNext(key)
      const isStarted = (await documents.find(row)) === undefined
      // Another message came first.
      if (!isStarted && whenBusy === 'reject' && (await documents.remove(row))) throw busyError(key)
      if (parts.subscribe) poll.start()
      return { runId, status: isStarted ? 'started' : 'queued' }
    },
    async open() {
      if ((await documents.list({ kind, limit: 1 })).length > 0) poll.start()
    },
    close() {
      unsubscribe?.()
      poll.stop()
    },
  }

  function createPoll({ onError }: ThreadParts, next: (key: ThreadKey) => Promise<void>) {
    let cancel: (() => void) | undefined
    let isStopped = false
    const look = async () => {
      const rows = await documents.list({ kind })
      const keys = new Map(rows.map((row) => [`${row.tenant}\n${toBody(row).threadId}`, toBody(row)]))
      for (const { tenant, threadId } of keys.values()) await next({ tenant, threadId })
      return rows.length > 0
    }
    const run = () => {
      cancel = undefined
      look().then(
        (isOpen) => isOpen && start(),
        (cause: unknown) => {
          onError(cause)
          start()
        },
      )
    }
    const start = () => {
      if (!isStopped) cancel ??= clock.timer(clock.now() + pollMs, run)
    }
    return {
      start,
      stop() {
        isStopped = true
        cancel?.()
      },
    }
  }
}

/** Reads a thread; undefined if it has neither runs nor messages. */
export async function readThread(store: Store, key: ThreadKey): Promise<ThreadView | undefined> {
  const heads = (await store.runs({ ...key, limit: mostTurns })).reverse()
  const queued = await listQueued(store.records.documents, key)
  if (heads.length + queued.length === 0) return undefined
  const turns = []
  for (const head of heads) {
    const { createdAt, updatedAt } = head
    turns.push({ ...(await readTurn(store, head)), createdAt, updatedAt })
  }
  return {
    ...key,
    turns,
    queued: queued.map(({ body: { runId, message }, createdAt }) => ({ runId, message, createdAt })),
  }
}

/** Starts the first message of a thread that is not busy. One at a time in a process; processes may race for the same run id. */
function createStarter({ store, prepare }: ThreadParts): (key: ThreadKey) => Promise<void> {
  const { documents } = store.records
  const running = new Map<string, Promise<void>>()
  const startFirst = async (key: ThreadKey) => {
    // The queue is read before the runs: a message leaves it only after its run exists.
    const [first] = await listQueued(documents, key)
    if (first === undefined) return
    const { runId, envelope, draft } = first.body
    const busy = await findBusy(store, key)
    if (busy.some((head) => head.runId !== runId)) return
    if ((await store.head(runId)) === undefined)
      await prepare(envelope, { ...key, runId, ...(draft !== undefined && { draft }) })
        .start()
        .catch((cause: unknown) => {
          // Another process has started it.
          if (!(ProvisoError.is(cause) && cause.code === 'run/exists')) throw cause
        })
    await documents.remove({ kind, tenant: key.tenant, id: first.id })
  }
  return (key) => {
    const name = `${key.tenant}\n${key.threadId}`
    const next = (running.get(name) ?? Promise.resolve()).catch(() => {}).then(() => startFirst(key))
    running.set(name, next)
    return next.finally(() => {
      if (running.get(name) === next) running.delete(name)
    })
  }
}

interface MessageBody extends ThreadKey {
  readonly runId: string
  readonly message: string
  readonly envelope: Json
  readonly draft?: Json
}

function toBody({ body }: DocumentRow): MessageBody {
  // Written by `say` alone.
  return body as unknown as MessageBody
}

/** `0` goes before `1`; within them, by creation. */
function toId({ threadId }: ThreadKey, { runId, isFirst }: { runId: string; isFirst: boolean }): string {
  return `${encodeURIComponent(threadId)}/${isFirst ? 0 : 1}/${runId}`
}

async function listQueued(
  documents: Documents,
  { tenant, threadId }: ThreadKey,
): Promise<(Omit<DocumentRow, 'body'> & { readonly body: MessageBody })[]> {
  const rows = await documents.list({ kind, tenant, prefix: `${encodeURIComponent(threadId)}/` })
  const lane = ({ id }: DocumentRow) => id.split('/')[1] ?? ''
  return rows
    .sort((a, b) => lane(a).localeCompare(lane(b)) || a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    .map((row) => ({ ...row, body: toBody(row) }))
}

function findBusy(store: Pick<Store, 'runs'>, key: ThreadKey) {
  return store.runs({ ...key, status: [...activeStatuses, ...waitingStatuses] })
}

/** A message without an envelope is answered like the one before it. */
async function complete(
  store: Store,
  key: ThreadKey,
  { message, envelope, draft }: ThreadMessage,
): Promise<{ readonly envelope: Json; readonly draft?: Json }> {
  const given = envelope === undefined ? await readLast(store, key) : { envelope, draft }
  const base = isObject(given.envelope) ? (given.envelope as { readonly [key: string]: Json }) : {}
  const inputs = isObject(base['inputs']) ? (base['inputs'] as { readonly [key: string]: Json }) : {}
  const used = draft ?? given.draft
  return {
    envelope: { objective: message, ...base, inputs: { ...inputs, message } },
    ...(used !== undefined && { draft: used as Json }),
  }
}

async function readLast(store: Store, key: ThreadKey): Promise<{ envelope: unknown; draft?: unknown }> {
  const [last] = await store.runs({ ...key, limit: 1 })
  const [start] = last ? await store.read(last.runId, 0, 1) : []
  if (start?.type !== 'start')
    throw new ProvisoError(
      'thread/missing',
      `Cannot add the message: thread "${key.threadId}" has no run whose contract it could use`,
      { hint: 'Pass the envelope with the first message: `envelope`, or --file of `proviso thread say`' },
    )
  const { envelope, draft } = start.payload
  const { objective, inputs } = envelope
  // Where the objective was the message before, it is the message now.
  const said = (inputs as { readonly [key: string]: Json } | undefined)?.['message']
  const { objective: _, ...rest } = envelope
  return { envelope: said === objective ? rest : envelope, ...(draft && { draft }) }
}

function busyError({ threadId }: ThreadKey): ProvisoError {
  return new ProvisoError(
    'thread/busy',
    `Cannot add the message: a run of thread "${threadId}" is not over`,
    {
      hint: 'Wait for it, or set whenBusy to queue or interrupt',
    },
  )
}

function pickDraft({ draft }: { readonly draft?: Json }) {
  return draft === undefined ? {} : { draft }
}

/** Documents are not sealed, unlike journals. */
function refuseSecrets(redactor: Redactor, body: object): void {
  if (jsonEqual(redactor.value(body), body)) return
  throw new ProvisoError('thread/secret', 'Cannot add the message: it holds a secret', {
    hint: 'Start a run with this threadId instead: its journal seals secrets',
  })
}
