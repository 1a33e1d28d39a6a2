/** Questions that servers up to 2025-11-25 ask during calls: which call each belongs to, and the answers that are known. */
import type { Json } from '../../base/json.ts'
import type { ElicitedAnswer } from '../../domain/output.ts'
import { type AskedRound, findAnswer, questionKey } from './elicitation.ts'

/** A call in flight, which a question of the server may belong to. */
export interface CallInFlight {
  readonly idempotencyKey?: string
  readonly answers: readonly ElicitedAnswer[]
  /** Ends the call with a question. */
  ask(round: AskedRound): void
  /** Ends the call although the server has not answered. */
  lose(lost: LostCall): void
}

/** Why a call is over: its stream ended or was too long, or a question may belong to it or to another call. */
export type LostCall =
  | { readonly why: 'ended' | 'unattributed' }
  | { readonly why: 'long'; readonly message: string }

export type Questions = ReturnType<typeof createQuestions>

type Reply =
  | { action: 'accept'; content: { [key: string]: string | number | boolean | string[] } }
  | { action: 'cancel' }

/** Ends a call; `isAbandoned`: the server has not answered it, and may still ask for it. */
export type LeaveCall = (isAbandoned: boolean) => void

interface WaitingCall {
  readonly admit: () => void
}

interface HeldQuestion {
  readonly params: Json
  readonly reply: (reply: Reply) => void
}

/**
 * Assigns questions to calls: a question is shown to, and answered for, the run whose call caused it, and no other.
 *
 * A question in the stream of a call belongs to that call. Any other question (stdio, the stream beside the calls) does not
 * name its call: it is held until one call is left in flight that it can belong to. If every call in flight may wait for an
 * answer, or a call was abandoned that the server may still ask for, the question is cancelled and the calls end as lost.
 * After the first such question the calls of the connection are serialized, and `renew` replaces a connection with an
 * abandoned call before the next one.
 */
export function createQuestions({ renew }: { readonly renew: () => Promise<void> }) {
  const calls = new Set<CallInFlight>()
  const waiting: WaitingCall[] = []
  /** Ids of questions in streams of calls, with the key of the call; without, if two streams had the same id. */
  const askedBy = new Map<string | number, string | undefined>()
  let held: HeldQuestion[] = []
  let isSerial = false
  let hasAbandoned = false

  const find = (key: string) => [...calls].find(({ idempotencyKey }) => idempotencyKey === key)
  const replyFor = (call: CallInFlight | undefined, params: Json): Reply => {
    if (!call) return { action: 'cancel' }
    const key = questionKey(params)
    const content = findAnswer(call.answers, key)
    // People's answers satisfy the schema of the question, which has these types only.
    if (content) return { action: 'accept', content: content as never }
    call.ask({ requests: { [key]: params as { readonly [name: string]: Json } } })
    return { action: 'cancel' }
  }
  const assign = () => {
    const [only] = calls
    const isKnown = calls.size === 0 || (calls.size === 1 && !hasAbandoned)
    if (held.length === 0 || (!isKnown && held.length < calls.size)) return
    const asked = held
    held = []
    if (!isKnown) for (const call of calls) call.lose({ why: 'unattributed' })
    for (const { params, reply } of asked) reply(replyFor(isKnown ? only : undefined, params))
  }
  const leave = (call: CallInFlight): LeaveCall => {
    let isOver = false
    return (isAbandoned) => {
      if (isOver) return
      isOver = true
      calls.delete(call)
      hasAbandoned ||= isAbandoned
      for (const [id, key] of askedBy) if (key === call.idempotencyKey) askedBy.delete(id)
      assign()
      if (calls.size === 0) waiting.shift()?.admit()
    }
  }
  return {
    /** Registers a call before it is sent, alone if the calls are serialized. Throws when the signal aborts. */
    async enter(
      call: CallInFlight,
      { signal, isAlone }: { readonly signal?: AbortSignal; readonly isAlone: boolean },
    ): Promise<LeaveCall> {
      signal?.throwIfAborted()
      isSerial ||= isAlone
      if (isSerial && calls.size + waiting.length > 0) await waitForTurn(waiting, calls, call, signal)
      else calls.add(call)
      const done = leave(call)
      if (!isSerial || !hasAbandoned || calls.size > 1) return done
      try {
        await renew()
        hasAbandoned = false
        return done
      } catch (cause) {
        done(false)
        throw cause
      }
    },
    /** The connection is a new one, whose server knows nothing of earlier calls. */
    restart() {
      hasAbandoned = false
    },
    lose(idempotencyKey: string, lost: LostCall) {
      find(idempotencyKey)?.lose(lost)
    },
    /** Notes that a question arrives in the stream of a call. */
    note(idempotencyKey: string, id: string | number) {
      const isKnown = !askedBy.has(id) || askedBy.get(id) === idempotencyKey
      askedBy.set(id, isKnown ? idempotencyKey : undefined)
    },
    take(params: Json, id: string | number): Promise<Reply> {
      const key = askedBy.get(id)
      askedBy.delete(id)
      if (key !== undefined) return Promise.resolve(replyFor(find(key), params))
      isSerial = true
      return new Promise((reply) => {
        held.push({ params, reply })
        assign()
      })
    },
  }
}

/** Resolves when the call is the only one in flight; calls take their turns in order. */
function waitForTurn(
  waiting: WaitingCall[],
  calls: Set<CallInFlight>,
  call: CallInFlight,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const turn: WaitingCall = {
      admit() {
        signal?.removeEventListener('abort', cancel)
        calls.add(call)
        resolve()
      },
    }
    const cancel = () => {
      waiting.splice(waiting.indexOf(turn), 1)
      reject(signal?.reason)
    }
    waiting.push(turn)
    signal?.addEventListener('abort', cancel, { once: true })
  })
}
