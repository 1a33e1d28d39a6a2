/** Starts a run: parses the input, once, and opens its trace. The same run started again is found, not repeated. */
import type { Tracing } from '../adapters/telemetry/tracing.ts'
import { checkRunOptions, type PrepareOptions, type RunOptions } from '../app-options.ts'
import { ProvisoError } from '../base/errors/error.ts'
import { type Json, pick } from '../base/json.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { ParseIssue } from '../domain/parse/issue-table.ts'
import type { Draft } from '../domain/plan.ts'
import type { Store } from '../domain/ports/store.ts'
import type { Redactor } from '../domain/redaction/redact.ts'
import { isTerminal } from '../domain/status.ts'
import type { ThreadContext } from '../domain/thread/thread-context.ts'
import type { Engine } from '../engine/engine.ts'
import type { ThreadKey } from '../engine/threads/read-thread.ts'
import type { StandardSchemaV1 } from '../schema/standard.ts'
import type { AnswerValidators } from './answer-validators.ts'
import { type ReadEnvelope, readDraft, readEnvelope, readTypedEnvelope } from './parse-given.ts'
import type { PartialBroker } from './partial-broker.ts'
import type { QueuedRun } from './threads/message-queue.ts'
import { findDifference, otherRequestError } from './threads/same-request.ts'
import type { AddToThread } from './threads/threads.ts'

export interface StartParts {
  readonly engine: Pick<Engine, 'start' | 'settled'>
  readonly tracing: Pick<Tracing, 'runs'> | undefined
  readonly newId: () => string
  readonly partials: Pick<PartialBroker, 'keep'>
  /** Starts a run of a thread, or queues it. Absent: this process starts no runs. */
  readonly addToThread?: (run: QueuedRun, given: AddToThread) => Promise<unknown>
  /** What a run of a thread knows of the runs before it. */
  readonly readThread: (key: ThreadKey, runId: string | undefined) => Promise<ThreadContext | undefined>
}

/** A run whose envelope and draft are parsed. */
export interface PreparedRun {
  /** Deprecations in the envelope, and what to write instead. */
  readonly warnings: readonly ParseIssue[]
  /** Starts it and returns its id. The run continues whether or not the caller waits. An existing id is `run/exists`. */
  start(): Promise<string>
}

/** Parses what a run is started with. Throws one error with every issue if it is invalid. */
export function prepareRun(parts: StartParts, given: unknown, options: PrepareOptions = {}): PreparedRun {
  checkRunOptions(options)
  // An aborted caller does not want the run to start.
  options.signal?.throwIfAborted()
  const read = readEnvelope(given)
  const draft = options.draft === undefined ? undefined : readDraft(options.draft)
  return { warnings: read.warnings, start: () => startRead(parts, { ...read, draft }, options) }
}

interface Read extends ReadEnvelope {
  readonly draft: Draft | undefined
}

async function startRead(parts: StartParts, read: Read, options: PrepareOptions): Promise<string> {
  const { draft: _, signal, whenBusy, by, partials, ...rest } = options
  const { tenant = 'default', threadId, runId = parts.newId() } = rest
  if (threadId === undefined || !parts.addToThread)
    return partials
      ? keepPartials(parts, runId, () => startNow(parts, read, { ...rest, runId }))
      : startNow(parts, read, rest)
  const { value: envelope, warnings, draft } = read
  const run = {
    ...{ tenant, threadId, runId, message: envelope.objective },
    ...pick(rest, ['correlationId', 'traceparent']),
    // Both are JSON: they were parsed.
    envelope: envelope as unknown as Json,
    ...(draft && { draft: draft as unknown as Json }),
    ...(warnings.length > 0 && { warnings }),
    ...(partials && { partials }),
  }
  await parts.addToThread(run, { whenBusy, by })
  return runId
}

/** Lets models stream from before the run begins or continues, also for readers that come later. */
export async function keepPartials<T>(
  { engine, partials }: Pick<StartParts, 'partials'> & { readonly engine: Pick<Engine, 'settled'> },
  runId: string,
  begin: () => Promise<T>,
): Promise<T> {
  const drop = partials.keep(runId)
  try {
    const begun = await begin()
    void engine.settled(runId).then(
      ({ status }) => drop({ isOver: isTerminal(status) }),
      () => drop({ isOver: true }),
    )
    return begun
  } catch (cause) {
    drop({ isOver: true })
    throw cause
  }
}

/** Starts a run of a thread whose turn it is. */
export async function startQueued(parts: StartParts, run: QueuedRun): Promise<string> {
  const { envelope, draft, warnings = [], partials } = run
  const read = {
    ...readEnvelope(envelope),
    warnings: warnings as readonly ParseIssue[],
    draft: draft === undefined ? undefined : readDraft(draft),
  }
  const begin = () =>
    startNow(parts, read, pick(run, ['tenant', 'threadId', 'runId', 'correlationId', 'traceparent']))
  return partials ? keepPartials(parts, run.runId, begin) : begin()
}

async function startNow(
  { engine, tracing, newId, readThread }: StartParts,
  { value: envelope, warnings, draft }: Read,
  rest: Omit<PrepareOptions, 'partials' | 'draft' | 'signal' | 'whenBusy' | 'by'>,
): Promise<string> {
  const { tenant = 'default', threadId } = rest
  const thread = threadId === undefined ? undefined : await readThread({ tenant, threadId }, rest.runId)
  const work = { warnings, ...rest, ...(draft !== undefined && { draft }), ...(thread && { thread }) }
  if (!tracing) return engine.start(envelope, work)
  const runId = rest.runId ?? newId()
  const { trace, abandon } = tracing.runs.begin(runId, rest.traceparent)
  return engine
    .start(envelope, { runId, ...work, ...(trace && { traceparent: trace.traceparent }) })
    .catch((cause: unknown) => {
      abandon(cause instanceof ProvisoError ? cause.code : 'internal')
      throw cause
    })
}

interface TypedParts extends StartParts {
  readonly store: Pick<Store, 'read' | 'head'>
  readonly redactor: Redactor
  readonly validators: Pick<AnswerValidators, 'add'>
}

interface StartedRun {
  readonly runId: string
  readonly validator?: StandardSchemaV1
}

/** Starts a run of a program, or finds the run that was started with the same id and the same request. */
export async function startTyped(
  parts: TypedParts,
  given: unknown,
  options: RunOptions = {},
): Promise<StartedRun> {
  checkRunOptions(options)
  options.signal?.throwIfAborted()
  const { validator, ...read } = readTypedEnvelope(given)
  const draft = options.draft === undefined ? undefined : readDraft(options.draft)
  const runId = options.runId ?? (validator ? parts.newId() : undefined)
  const forget = validator && runId !== undefined ? parts.validators.add(runId, validator) : undefined
  const started = await startRead(
    parts,
    { ...read, draft },
    { ...options, ...(runId !== undefined && { runId }) },
  ).catch(async (cause: unknown) => {
    try {
      const { runId: wanted } = options
      if (wanted === undefined || !(ProvisoError.is(cause) && cause.code === 'run/exists')) throw cause
      await requireSameRun(parts, { runId: wanted, envelope: read.value, draft, options, cause })
      if (isTerminal((await parts.store.head(wanted))?.status ?? 'failed')) forget?.()
      return wanted
    } catch (refused) {
      forget?.()
      throw refused
    }
  })
  return { runId: started, ...(validator && { validator }) }
}

interface SecondStart {
  readonly runId: string
  readonly envelope: Envelope
  readonly draft: Draft | undefined
  readonly options: RunOptions
  /** The refusal of the start. */
  readonly cause: unknown
}

/** Throws `run/exists` and names the difference unless the run in the store was started with the same request. */
async function requireSameRun(
  { store, redactor }: TypedParts,
  { runId, envelope, draft, options, cause }: SecondStart,
): Promise<void> {
  const [first] = await store.read(runId, 0, 1)
  // It waits in the queue of its thread, which has named the difference.
  if (first?.type !== 'start') throw cause
  const { payload: recorded } = first
  const { tenant = 'default', threadId, correlationId = runId } = options
  // The journal has the request without its secrets.
  const request = redactor.known({ ...envelope, draft, tenant, threadId, correlationId })
  const difference = findDifference(request, {
    ...recorded.envelope,
    ...{ draft: recorded.draft, threadId: recorded.threadId, correlationId: recorded.correlationId },
    tenant: recorded.tenant ?? 'default',
  })
  if (difference !== undefined) throw otherRequestError(runId, difference)
}
