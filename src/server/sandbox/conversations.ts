/** Conversations about draft envelopes: in memory only, for half an hour, each for whoever began it. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { Draft } from './apply-patches.ts'

export const conversationLimits = {
  /** How long one is kept after its last message. */
  keepMs: 30 * 60_000,
  /** Of both sides together. */
  messages: 24,
  /** Calls of a model for one reply, and the longest answer. */
  calls: 2,
  tokens: 1_600,
  /** Conversations at once; the one that was silent longest makes room. */
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
  /** Nothing if there is none, it is over, or somebody else's. */
  find(owner: string, id: string): Conversation | undefined
  /** What it is now; counts as a sign of life. */
  keep(conversation: Conversation): Conversation
  readonly size: number
}

export function createConversations(clock: Pick<Clock, 'now'>): Conversations {
  const all = new Map<string, Conversation>()
  const clear = () => {
    const now = clock.now()
    // In order of their last message, for whoever speaks is put at the end.
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
