/** Threads: conversations of a tenant, one run per message. Runs of a thread follow one another, however they are started. */
import type { AppOptions } from '../../app-options.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json, pick } from '../../base/json.ts'
import { must, object, type Rows, refuseOptions } from '../../base/option-rows.ts'
import type { Clock } from '../../base/time/clock.ts'
import {
  type DraftInput,
  type MessageEnvelope,
  translateEnvelope,
} from '../../domain/envelope/envelope-input.ts'
import type { SubscribeToLifecycle } from '../../domain/event/lifecycle.ts'
import type { Store, ThreadQuery, ThreadRow } from '../../domain/ports/store.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { activeStatuses, waitingStatuses } from '../../domain/status.ts'
import type { ThreadTurn } from '../../domain/thread/thread-context.ts'
import type { Engine } from '../../engine/engine.ts'
import { readTurn, type ThreadKey } from '../../engine/threads/read-thread.ts'
import { readDraft, readEnvelope } from '../parse-given.ts'
import { createMessageQueue, type MessageQueue, type QueuedRun } from './message-queue.ts'
import { findDifference, otherRequestError } from './same-request.ts'

/** What happens to a further run while a run of the thread is not over. */
export type WhenBusy = (typeof whenBusyRules)[number]

const whenBusyRules = ['queue', 'interrupt', 'reject'] as const

interface ThreadMessage {
  readonly message: string
  /** Default: the envelope of the last run of the thread; the first message needs one. Its `objective` defaults to the message. */
  readonly envelope?: MessageEnvelope
  /** Default: the draft of the last run of the thread, if `envelope` is not given either. */
  readonly draft?: DraftInput
  /** Default: `threads.whenBusy` of the app, else `queue`. */
  readonly whenBusy?: WhenBusy
  /** The run of the message; the same id again is the same message. Default: a new one. */
  readonly runId?: string
  /** Who cancels the current run, with `interrupt`. Default `library`. */
  readonly by?: string
  /** Models of its run stream from the first call. Default: only if something reads them. */
  readonly partials?: boolean
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
  /** Sets the quota that runs which have waited are subject to when they start; without one, all start. */
  limit(admit: AdmitRun): void
}

/** Why a tenant cannot start another run now; nothing if it can. */
type AdmitRun = (tenant: string) => Promise<string | undefined>

interface ThreadParts {
  /** Without the heads of runs that wait. */
  readonly store: Store
  /** The same rows with sealed secrets. */
  readonly shown: Store
  readonly queue: MessageQueue
  readonly clock: Clock
  readonly redactor: Redactor
  readonly newId: () => string
  /** Checks an envelope and a draft; throws if they are invalid. */
  readonly prepare: (envelope: unknown, options: { readonly draft?: unknown }) => Pick<QueuedRun, 'warnings'>
  /** Starts a run whose turn it is. */
  readonly begin: (run: QueuedRun) => Promise<string>
  readonly cancel: (runId: string, given: { by: string; reason?: string }) => Promise<void>
  readonly subscribe: SubscribeToLifecycle
  /** Which waiting runs this process starts by itself: all, or the runs that were added here. */
  readonly starts: 'all' | 'own' | 'none'
  readonly onError: (cause: unknown) => void
  readonly whenBusy: WhenBusy
}

const mostTurns = 200
/** How often queued messages are read besides the ends of runs in this process. */
const pollMs = 2_000

/** Wires the threads of an app: what a process does about messages that wait depends on which runs it executes. */
export async function wireThreads(
  { threads: given = {}, claim = 'all' }: Pick<AppOptions, 'threads' | 'claim'>,
  engine: Engine,
  parts: Omit<ThreadParts, 'cancel' | 'subscribe' | 'starts' | 'onError' | 'whenBusy'> & {
    readonly onCrash: (runId: string, cause: unknown) => void
  },
) {
  const threads = createThreads({
    ...pick(parts, ['store', 'shown', 'queue', 'clock', 'redactor', 'newId', 'prepare', 'begin']),
    cancel: engine.cancel,
    subscribe: engine.subscribeToLifecycle,
    // A process that executes its own runs alone may lack the capabilities that other messages need.
    starts: claim,
    onError: (cause) => parts.onCrash('', cause),
    whenBusy: given.whenBusy ?? 'queue',
  })
  await threads.open()
  return threads
}

/** How a run of a thread is added: every way of starting one follows the same rule. */
export interface AddToThread {
  readonly whenBusy?: WhenBusy | undefined
  /** Who cancels the current run, with `interrupt`. Default `library`. */
  readonly by?: string | undefined
}

interface WiredThreads extends Threads {
  /** Starts a run, or queues it behind those of its thread. Throws `thread/busy` where it is to be rejected. */
  add(run: QueuedRun, given: AddToThread): Promise<SaidMessage['status']>
  open(): Promise<void>
  close(): void
}

function createThreads(parts: ThreadParts): WiredThreads {
  const { store, shown, queue, newId } = parts
  const own = new Set<string>()
  const mayStart = ({ runId }: QueuedRun) =>
    parts.starts === 'all' || (parts.starts === 'own' && own.has(runId))
  let admit: AdmitRun = async () => undefined
  const startNext = createStarter(parts, async ({ tenant }) => {
    const isAdmitted = (await admit(tenant)) === undefined
    // It stays in the queue, and is tried again.
    if (!isAdmitted) poll.start()
    return isAdmitted
  })
  const unsubscribe = parts.subscribe(
    async (notice) => {
      if (notice.kind === 'appended' && notice.thread) await startNext(notice.thread, mayStart)
    },
    { types: ['complete'], ofThreads: true },
  )
  const poll = createPoll(parts, async () => {
    const waiting = (await queue.all()).map(({ body }) => body).filter(mayStart)
    const keys = new Map(waiting.map((run) => [`${run.tenant}\n${run.threadId}`, run]))
    for (const key of keys.values()) await startNext(key, mayStart)
    return waiting.length > 0
  })

  const add: WiredThreads['add'] = async (run, { whenBusy = parts.whenBusy, by = 'library' }) => {
    const { runId } = run
    const before = await queue.list(run)
    const same = before.find(({ body }) => body.runId === runId)
    // Deprecations and the trace may differ.
    const difference = same && findDifference(toRequest(parts.redactor.known(run)), toRequest(same.body))
    if (difference !== undefined) throw otherRequestError(runId, difference)
    if (same) return 'queued'
    if (await store.head(runId)) throw new ProvisoError('run/exists', `There is a run "${runId}" already`)
    if (whenBusy === 'reject' && before.length + (await findBusy(store, run)).length > 0) throw busyError(run)
    if (before.length >= mostWaiting) throw fullError(run)
    own.add(runId)
    const row = await queue.add(parts.redactor.known(run), { isFirst: whenBusy === 'interrupt' })
    // From here on it is the next one: what is busy now was started before.
    if (whenBusy === 'interrupt')
      for (const each of await findBusy(store, run))
        await parts.cancel(each.runId, { by, reason: 'interrupted by a message' })
    await startNext(run, mayStart, runId).catch(async (cause: unknown) => {
      const [first] = await queue.list(run)
      if (first?.body.runId !== runId) return parts.onError(cause)
      await queue.remove(row)
      throw cause
    })
    const isStarted = !(await queue.has(row))
    // Another message came first.
    if (!isStarted && whenBusy === 'reject' && (await queue.remove(row))) throw busyError(run)
    if (isStarted) own.delete(runId)
    else poll.start()
    return isStarted ? 'started' : 'queued'
  }

  return {
    list: (query) => shown.threads(query),
    get: (key) => readThread(shown, key),
    startNext: (key) => startNext(key, () => true),
    limit(check) {
      admit = check
    },
    add,
    async say(key, message) {
      const given = readMessage(message)
      const runId = given.runId ?? newId()
      const said = given.runId === undefined ? undefined : await findSaid(parts, key, { ...given, runId })
      if (said) return said
      const work = await complete(store, key, given)
      // Refuses what is invalid before anything is stored.
      const { warnings = [] } = parts.prepare(work.envelope, pick(work, ['draft']))
      const run = { ...key, runId, message: given.message, ...work, warnings, ...pick(given, ['partials']) }
      return { runId, status: await add(run, given) }
    },
    async open() {
      if (parts.starts === 'all' && (await queue.all()).length > 0) poll.start(0)
    },
    close() {
      unsubscribe()
      poll.stop()
    },
  }
}

/** A message with its envelope in the names of the wire format. */
type ReadMessage = Omit<ThreadMessage, 'envelope'> & { readonly envelope?: unknown }

const isText = must((value) => typeof value === 'string', 'a text')
/** Checked where they are read. */
const known = () => []
const messageRows: Rows = {
  message: isText,
  envelope: object,
  draft: known,
  whenBusy: must((value) => whenBusyRules.includes(value as WhenBusy), `one of ${whenBusyRules.join(', ')}`),
  runId: isText,
  by: isText,
  partials: must((value) => typeof value === 'boolean', 'true or false'),
}

function readMessage(given: ThreadMessage): ReadMessage {
  refuseOptions('the message', given, messageRows)
  if (given.envelope === undefined) return given
  return { ...given, envelope: translateEnvelope(given.envelope).envelope }
}

/** Repeats the work while it returns true. */
function createPoll(
  { clock, onError }: Pick<ThreadParts, 'clock' | 'onError'>,
  work: () => Promise<boolean>,
) {
  let cancel: (() => void) | undefined
  let isStopped = false
  const run = () => {
    cancel = undefined
    work().then(
      (isOpen) => isOpen && start(),
      (cause: unknown) => {
        onError(cause)
        start()
      },
    )
  }
  const start = (ms = pollMs) => {
    if (!isStopped) cancel ??= clock.timer(clock.now() + ms, run)
  }
  return {
    start,
    stop() {
      isStopped = true
      cancel?.()
    },
  }
}

/** Reads a thread; undefined if it has neither runs nor messages. */
export async function readThread(store: Store, key: ThreadKey): Promise<ThreadView | undefined> {
  const heads = (await store.runs({ ...key, limit: mostTurns })).reverse()
  const started = new Set(heads.map(({ runId }) => runId))
  const waiting = await createMessageQueue(store).list(key)
  // One whose process died right after its start is still in the queue.
  const queued = waiting.filter(({ body }) => !started.has(body.runId))
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

/** `admitted` is the run of a request, which has passed the quotas. */
type StartNext = (key: ThreadKey, mayStart: (run: QueuedRun) => boolean, admitted?: string) => Promise<void>

/** Starts the first message of a thread that is not busy. One at a time in a process; processes may race for the same run id. */
function createStarter(
  { store, queue, begin }: ThreadParts,
  isAdmitted: (run: QueuedRun) => Promise<boolean>,
): StartNext {
  const running = new Map<string, Promise<void>>()
  const startFirst: StartNext = async ({ tenant, threadId }, mayStart, admitted) => {
    const key = { tenant, threadId }
    // The queue is read before the runs: a message leaves it only after its run exists.
    const [first] = await queue.list(key)
    if (first === undefined || !mayStart(first.body)) return
    const { runId } = first.body
    const busy = await findBusy(store, key)
    if (busy.some((head) => head.runId !== runId)) return
    const isNew = (await store.head(runId)) === undefined
    if (isNew && runId !== admitted && !(await isAdmitted(first.body))) return
    if (isNew)
      await begin(first.body).catch((cause: unknown) => {
        // Another process has started it.
        if (!(ProvisoError.is(cause) && cause.code === 'run/exists')) throw cause
      })
    await queue.remove(first)
  }
  return (key, mayStart, admitted) => {
    const name = `${key.tenant}\n${key.threadId}`
    const next = (running.get(name) ?? Promise.resolve())
      .catch(() => {})
      .then(() => startFirst(key, mayStart, admitted))
    running.set(name, next)
    return next.finally(() => {
      if (running.get(name) === next) running.delete(name)
    })
  }
}

/** What identifies the request of a run, with all defaults. */
function toRequest({ runId, threadId, envelope, draft, correlationId = runId }: QueuedRun) {
  const parsed = readEnvelope(envelope).value
  return { threadId, ...parsed, draft: draft === undefined ? undefined : readDraft(draft), correlationId }
}

/** The message that has the run id already. Throws `run/exists`, with the difference, if it is another message. */
async function findSaid(
  { store, queue, redactor }: Pick<ThreadParts, 'store' | 'queue' | 'redactor'>,
  key: ThreadKey,
  given: ReadMessage & { readonly runId: string },
): Promise<SaidMessage | undefined> {
  const { runId, message } = given
  const [start] = await store.read(runId, 0, 1)
  const started = start?.type === 'start' ? start.payload : undefined
  const queued = started ? undefined : (await queue.find(runId))?.body
  const recorded = started ?? queued
  if (!recorded) return undefined
  const { tenant = 'default', threadId, envelope, draft } = recorded
  // What another tenant has started stays unknown.
  if (tenant !== key.tenant) throw new ProvisoError('run/exists', `There is a run "${runId}" already`)
  const before = readEnvelope(envelope).value
  const work = given.envelope === undefined ? undefined : await complete(store, key, given)
  // Without an envelope it was that of the run before it, which may be another one by now.
  const request = {
    threadId: key.threadId,
    message,
    ...(work && { ...readEnvelope(work.envelope).value, draft: undefined }),
    ...(given.draft !== undefined && { draft: readDraft(given.draft) }),
  }
  const said = (before.inputs as { readonly [key: string]: Json } | undefined)?.['message']
  const difference = findDifference(redactor.known(request), { ...before, threadId, message: said, draft })
  if (difference !== undefined) throw otherRequestError(runId, difference)
  return { runId, status: started ? 'started' : 'queued' }
}

function findBusy(store: Pick<Store, 'runs'>, { tenant, threadId }: ThreadKey) {
  return store.runs({ tenant, threadId, status: [...activeStatuses, ...waitingStatuses] })
}

/** A message without an envelope is answered like the one before it. */
async function complete(
  store: Store,
  key: ThreadKey,
  { message, envelope, draft }: ReadMessage,
): Promise<Pick<QueuedRun, 'envelope' | 'draft'>> {
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

/** Most runs of a thread that wait. */
const mostWaiting = 20

function fullError({ threadId }: ThreadKey): ProvisoError {
  const message = `Cannot queue the run: ${mostWaiting} runs of thread "${threadId}" wait already`
  return new ProvisoError('thread/busy', message, { hint: 'Wait until some of them have run' })
}

function busyError({ threadId }: ThreadKey): ProvisoError {
  return new ProvisoError('thread/busy', `Cannot start the run: a run of thread "${threadId}" is not over`, {
    hint: 'Wait for it, or set whenBusy to queue or interrupt',
  })
}
