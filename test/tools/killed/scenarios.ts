/** What is killed: an agent of five turns, and one that calls another agent and hands its conversation off to a third. */
import type { Seen } from '../../models/model-server.ts'
import { messagesOf, type Turn } from '../chat-server.ts'

export type ScenarioName = 'loop' | 'agents'

/** The agent of the node, or the one that is its tool; they have conversations of their own. */
export type Speaker = 'outer' | 'inner'

interface Scenario {
  readonly script: Readonly<Record<Speaker, readonly Turn[]>>
  /** What happens in the world, each once. */
  readonly effects: readonly string[]
  /** What the person says about transfers that were not made, by transfer. */
  readonly decisions: Readonly<Record<string, object>>
}

const call = (name: string, query: string) => ({ name, input: { query } })
const answer: Turn = { text: JSON.stringify({ answer: 'Done', sources: [] }) }

export const scenarios: Readonly<Record<ScenarioName, Scenario>> = {
  /**
   * Two searches at once; a search beside a payment and a message; three transfers that need approvals, beside a search;
   * another payment and search; the answer. The transfer `h` is rejected, and `j` changed to `m`.
   */
  loop: {
    script: {
      outer: [
        { calls: [call('search', 'a'), call('search', 'b')] },
        { calls: [call('search', 'c'), call('pay', 'd'), call('send', 'e')] },
        { calls: [call('wire', 'g'), call('wire', 'h'), call('search', 'i'), call('wire', 'j')] },
        { calls: [call('pay', 'k'), call('search', 'l')] },
        answer,
      ],
      inner: [],
    },
    effects: [
      ...['search a', 'search b', 'search c', 'search i', 'search l'],
      ...['pay d', 'pay k', 'send e', 'wire g', 'wire m'],
    ],
    decisions: {
      g: { decision: 'approve' },
      h: { decision: 'reject', note: 'Not to h' },
      j: { decision: 'edit', value: { query: 'm' } },
    },
  },
  /**
   * The agent `helper` beside a search; it searches and pays, sends and wires, and answers. Then the conversation is handed
   * off to `closer`, which pays, wires and answers. What the helper answered is untrusted, so the payment needs an approval,
   * too; the transfer `d` is changed to `t`.
   */
  agents: {
    script: {
      outer: [
        { calls: [call('search', 'a'), call('helper', 'b')] },
        { calls: [{ name: 'transfer_to_closer', input: { reason: 'It is about money' } }] },
        { calls: [call('pay', 'c'), call('wire', 'd')] },
        answer,
      ],
      inner: [
        { calls: [call('search', 'p'), call('pay', 'q')] },
        { calls: [call('send', 'r'), call('wire', 's')] },
        { text: JSON.stringify({ done: 'helped' }) },
      ],
    },
    effects: [...['search a', 'search p', 'pay q', 'send r', 'wire s', 'pay c', 'wire t']],
    decisions: {
      s: { decision: 'approve' },
      c: { decision: 'approve' },
      d: { decision: 'edit', value: { query: 't' } },
    },
  },
}

export function findSpeaker(seen: Seen): Speaker {
  const [first] = messagesOf(seen)
  return String(first?.content).includes('You are the helper.') ? 'inner' : 'outer'
}
