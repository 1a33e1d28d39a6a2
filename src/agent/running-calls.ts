/**
 * The calls in progress, by idempotency key: a repeated call joins the one in progress or gets the stored answer, so the
 * function runs once per key as long as the store remembers.
 */
import { toErrorMessage } from '../base/errors/error.ts'
import { type AcceptedCall, type CallAnswer, type CallBody, isKept } from './call.ts'
import type { CallStore } from './call-store.ts'
import type { FunctionCall } from './run-function.ts'

interface RunningCallsOptions {
  readonly calls: CallStore
  /** Runs the function. Never rejects. */
  readonly runFunction: (call: FunctionCall) => Promise<CallAnswer>
  /** Posts the answer of an accepted call. Resolves when it was delivered, or can never be. */
  readonly postCallback: (call: AcceptedCall, answer: CallAnswer) => Promise<'delivered' | 'stopped'>
  readonly onError: (cause: Error) => void
}

/** A call in progress, as one or several requests see it. */
export interface RunningCall {
  /** Rejects only if the store cannot be read: then the function was not called. */
  readonly answer: Promise<CallAnswer>
  /** The text so far, if the function streams. */
  readonly chunks: readonly string[]
  /** Calls the listener after every chunk; returns a function that removes it. */
  onChunk(listener: () => void): () => void
  /** Counts a waiting request; returns a function for when it is gone. The last one to leave cancels the call. */
  attach(): () => void
  /** Stores that the answer will be posted, and posts it. False if the function has ended already. */
  accept(target: AnswerTarget): Promise<boolean>
}

/** Where the answer of an accepted call is posted, and the key of the call if it has its own. */
type AnswerTarget = Pick<AcceptedCall, 'callbackUrl' | 'signingKey'>

export interface RunningCalls {
  start(idempotencyKey: string, body: CallBody): RunningCall
  /** Starts a call that a worker took: its answer is always posted. Rejects if the store cannot be read. */
  startTaken(idempotencyKey: string, body: CallBody, target: AnswerTarget): Promise<RunningCall>
  /** Finishes the calls that an earlier process accepted. */
  resumeAccepted(): Promise<void>
  /** Resolves when no call is in progress and every callback is delivered. */
  whenIdle(): Promise<void>
  /** Cancels an accepted call. False if it is not in progress here, or a request waits for it: then the call was repeated. */
  cancel(idempotencyKey: string): boolean
  abortAll(): void
}

export function createRunningCalls(options: RunningCallsOptions): RunningCalls {
  const { calls, postCallback, onError } = options
  const running = new Map<string, ReturnType<typeof createCall>>()
  const pending = new Set<Promise<unknown>>()

  const track = (work: Promise<unknown>) => {
    pending.add(work)
    work.then(
      () => pending.delete(work),
      () => pending.delete(work),
    )
  }
  const report = (what: string) => (cause: unknown) =>
    onError(new Error(`Cannot ${what}: ${toErrorMessage(cause)}`, { cause }))

  /** Posts the answer and records that no callback is due any more. */
  const deliver = async (call: AcceptedCall, answer: CallAnswer) => {
    const key = call.idempotencyKey
    await calls.write(key, { status: 'accepted', call: { ...call, answer } })
    if ((await postCallback(call, answer)) === 'stopped') return
    await (isKept(answer) ? calls.write(key, { status: 'answered', answer }) : calls.remove(key))
  }
  const deliverLater = (call: AcceptedCall, answer: CallAnswer) =>
    track(deliver(call, answer).catch(report('deliver the answer of a call')))

  const start = (key: string, body: CallBody) => {
    const before = running.get(key)
    if (before && !before.isAborted()) return before
    // A cancelled call may take a while to stop: the next one under its key waits for it.
    const call = createCall(key, body, { ...options, deliver: deliverLater, before: before?.answer })
    running.set(key, call)
    const end = () => void (running.get(key) === call && running.delete(key))
    track(call.answer.then(end, end))
    return call
  }

  return {
    start,
    async startTaken(key, body, target) {
      // An answer that is stored must not be replaced by the acceptance.
      const isAnswered = (await calls.read(key))?.status === 'answered'
      const call = start(key, body)
      // Accepted in the same step as it starts; false if it has ended, or the store fails.
      const accepted = isAnswered ? Promise.resolve(false) : call.accept(target)
      const answerHere = async () => {
        if (await accepted) return
        await postCallback({ idempotencyKey: key, body, ...target }, await call.answer)
      }
      track(answerHere().catch(report('deliver the answer of a call')))
      return call
    },
    async resumeAccepted() {
      for (const call of await calls.listAccepted()) {
        const { idempotencyKey, body, callbackUrl, signingKey, answer } = call
        if (answer) deliverLater(call, answer)
        // The server gives a call that a worker took to another worker, or asks a person.
        else if (signingKey !== undefined) await calls.remove(idempotencyKey)
        else await start(idempotencyKey, body).accept({ callbackUrl })
      }
    },
    async whenIdle() {
      while (pending.size > 0) await Promise.allSettled([...pending])
    },
    cancel(key) {
      return running.get(key)?.cancel() ?? false
    },
    abortAll() {
      for (const call of running.values()) call.abort()
    },
  }
}

interface CreateCallOptions extends RunningCallsOptions {
  /** Posts the answer of an accepted call. */
  readonly deliver: (call: AcceptedCall, answer: CallAnswer) => void
  /** The answer of a cancelled call under the same key. */
  readonly before: Promise<unknown> | undefined
}

function createCall(
  key: string,
  body: CallBody,
  { calls, runFunction, onError, deliver, before: cancelled }: CreateCallOptions,
) {
  const controller = new AbortController()
  const chunks: string[] = []
  const listeners = new Set<() => void>()
  let waiting = 0
  let hasEnded = false
  let isCancelled = false
  let isClosing = false
  let accepted: { readonly call: AcceptedCall; readonly stored: Promise<boolean> } | undefined

  const store = async (what: string, write: () => Promise<void>): Promise<boolean> => {
    try {
      await write()
      return true
    } catch (cause) {
      onError(new Error(`Cannot store ${what}: ${toErrorMessage(cause)}`, { cause }))
      return false
    }
  }
  const execute = async (): Promise<CallAnswer> => {
    await cancelled?.catch(() => undefined)
    const stored = await calls.read(key)
    const before = stored?.status === 'accepted' ? stored.call.answer : stored?.answer
    const answer =
      before ??
      (await runFunction({
        body,
        idempotencyKey: key,
        signal: controller.signal,
        onChunk(chunk) {
          chunks.push(chunk)
          for (const listener of listeners) listener()
        },
      }))
    hasEnded = true
    // In this order, so that the answer is not overwritten by the acceptance.
    if (isCancelled && 'error' in answer && !before) {
      // No one waits for the answer, and the failure says nothing about the call: a repetition runs it again.
      if (accepted) await store('a cancelled call', () => calls.remove(key))
    } else if (accepted && (await accepted.stored)) {
      // Interrupted by closing, the call did not fail: it stays accepted, and the next process runs it.
      if (!(isClosing && 'error' in answer && !before)) deliver(accepted.call, answer)
    } else if (!before && isKept(answer))
      await store('an answer', () => calls.write(key, { status: 'answered', answer }))
    return answer
  }
  return {
    answer: execute(),
    chunks,
    onChunk(listener: () => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    attach() {
      waiting++
      let isAttached = true
      return () => {
        if (!isAttached) return
        isAttached = false
        waiting--
        if (waiting === 0 && !accepted) controller.abort(new Error('The caller closed the connection'))
      }
    },
    async accept(target: AnswerTarget) {
      if (hasEnded) return false
      if (!accepted) {
        const call = { idempotencyKey: key, body, ...target }
        const write = () => calls.write(key, { status: 'accepted', call })
        accepted = { call, stored: store('an accepted call', write) }
      }
      const isStored = await accepted.stored
      if (!isStored) accepted = undefined
      return isStored
    },
    cancel() {
      if (waiting > 0) return false
      isCancelled = true
      controller.abort(new Error('The run no longer needs this call'))
      return true
    },
    abort() {
      isClosing = true
      controller.abort(new Error('The agent is closing'))
    },
    isAborted: () => controller.signal.aborted,
  }
}
