/** Keeps conversations about draft envelopes: in memory only, for half an hour, each for its owner. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../base/time/clock.ts'
import type { Draft } from './apply-patches.ts'

export const conversationLimits = {
  /** How long a conversation is kept after its last message. */
  keepMs: 30 * 60_000,
  /** Maximum messages of both sides together. */
  messages: 24,
  /** Maximum model calls for one reply, and maximum length of an answer. */
  calls: 2,
  tokens: 1_600,
  /** Maximum conversations at once; the one that was silent longest is evicted. */
  conversations: 200,
} as const

export interface Message {
  readonly from: 'operator' | 'assistant'
  readonly text: string
}

export interface Conversation {
  readonly id: string
  readonly owner: string
  readonly draft: Draft
  readonly messages: readonly Message[]
  readonly expiresAt: number
}

export interface Conversations {
  begin(owner: string, draft: Draft): Conversation
  /** Returns `undefined` if it does not exist, has expired or belongs to another owner. */
  find(owner: string, id: string): Conversation | undefined
  /** Stores the new state and restarts the expiry time. */
  keep(conversation: Conversation): Conversation
  readonly size: number
}

export function createConversations(clock: Pick<Clock, 'now'>): Conversations {
  const all = new Map<string, Conversation>()
  const clear = () => {
    const now = clock.now()
    // Ordered by last message, because each message moves its conversation to the end.
    for (const [id, { expiresAt }] of all) {
      if (expiresAt > now && all.size <= conversationLimits.conversations) break
      all.delete(id)
    }
  }
  const keep = (conversation: Conversation): Conversation => {
    const alive = { ...conversation, expiresAt: clock.now() + conversationLimits.keepMs }
    all.delete(alive.id)
    all.set(alive.id, alive)
    clear()
    return alive
  }
  return {
    keep,
    begin: (owner, draft) => keep({ id: randomUUID(), owner, draft, messages: [], expiresAt: 0 }),
    find(owner, id) {
      clear()
      const found = all.get(id)
      return found?.owner === owner ? found : undefined
    },
    get size() {
      return all.size
    },
  }
}
