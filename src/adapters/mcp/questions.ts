/** Questions that servers up to 2025-11-25 ask during calls: which call each belongs to, and the answers that are known. */
import type { Json } from '../../base/json.ts'
import type { ElicitedAnswer } from '../../domain/output.ts'
import { type AskedRound, findAnswer, questionKey } from './elicitation.ts'

/** A call in flight, which a question of the server may belong to. */
export interface CallInFlight {
  readonly idempotencyKey: string
  readonly answers: readonly ElicitedAnswer[]
  /** Ends the call with a question. */
  ask(round: AskedRound): void
  /** Ends the call because its stream is over without an answer, or with one that is too long. */
  lose(tooLong?: string): void
}

export type Questions = ReturnType<typeof createQuestions>

type Reply =
  | { action: 'accept'; content: { [key: string]: string | number | boolean | string[] } }
  | { action: 'cancel' }

/**
 * Assigns questions that arrive during calls. A question does not name its call: it is held until every call in flight
 * waits for one, and then ends them. An answer is given to exactly the question it was given for, so that a wrong
 * assignment costs another question and never gives a wrong answer.
 */
export function createQuestions() {
  const calls = new Set<CallInFlight>()
  let held: { readonly params: Json; readonly reply: (reply: Reply) => void }[] = []
  const assign = () => {
    if (held.length === 0 || held.length < calls.size) return
    const asked = held
    held = []
    const open = [...calls]
    for (const [index, { params, reply }] of asked.entries()) {
      const requests = { [questionKey(params)]: params as { readonly [name: string]: Json } }
      // The call is cancelled before the server learns that there is no answer now.
      open[index]?.ask({ requests })
      reply({ action: 'cancel' })
    }
  }
  return {
    track(call: CallInFlight) {
      calls.add(call)
      return () => {
        calls.delete(call)
        assign()
      }
    },
    lose(idempotencyKey: string, tooLong?: string) {
      for (const call of calls) if (call.idempotencyKey === idempotencyKey) call.lose(tooLong)
    },
    take(params: Json): Promise<Reply> {
      const key = questionKey(params)
      for (const { answers } of calls) {
        const content = findAnswer(answers, key)
        // People's answers satisfy the schema of the question, which has these types only.
        if (content) return Promise.resolve({ action: 'accept', content: content as never })
      }
      return new Promise((reply) => {
        held.push({ params, reply })
        assign()
      })
    },
  }
}
