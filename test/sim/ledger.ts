/**
 * What an observer with eyes everywhere knows: every event as the store took it, every call that left a process and every
 * effect outside. Invariants are asked of this, not of what the engines believe.
 */
import type { JournalEvent } from '../../src/domain/event.ts'

export interface CallRecord {
  readonly runId: string
  readonly nodeId: string
  readonly capabilityId: string
  readonly attempt: number
  readonly key: string
  readonly at: number
  /** What it counts as: nothing where it was turned away, did not arrive, or is local. */
  readonly cost: number
  /** Tokens that it really used. */
  readonly tokens: number
}

/** A request for a turn of an agent, as it left its process. */
export interface TurnRecord {
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
  /** The same whenever this turn is asked. */
  readonly key: string
  /** The whole conversation. */
  readonly text: string
  /** The model answers it; else it turns it away. */
  readonly isGenerated: boolean
}

export interface Ledger {
  readonly journals: Map<string, JournalEvent[]>
  readonly calls: CallRecord[]
  /** Effects outside by idempotency key: how often one took place. */
  readonly effects: Map<string, { readonly call: CallRecord; times: number }>
  readonly faults: string[]
  written(events: readonly JournalEvent[]): void
  called(call: CallRecord): void
  /** By run: tokens of the turns of its agents. */
  readonly turnTokens: Map<string, number>
  /** Requests of agents for a turn, by key of the turn. */
  readonly turns: Map<string, { readonly text: string; generated: number }>
  asked(request: TurnRecord): void
  /** How many attempts of a node with this capability have ended in a recorded way. */
  ends(runId: string, nodeId: string, capabilityId: string): number
  /** Claims of a run since anything was written to it. */
  readonly claims: Map<string, number>
  /** Which life was given each run last. */
  readonly holders: Map<string, number>
  claimed(runId: string, life: number): void
  /** When something was last written, by whomever. */
  lastWrite: number
}

/** A run that is claimed again and again although there is nothing to do keeps every process awake. */
const mostIdleClaims = 25

export function createLedger(now: () => number): Ledger {
  const open = new Map<string, string>()
  /** Every attempt that was ever started: a stalled process makes its call late, when a new plan has other attempts. */
  const started = new Set<string>()
  const ends = new Map<string, number>()
  /** How often a turn was begun in the journal, by its key. */
  const turnStarts = new Map<string, number>()
  const attemptOf = (runId: string, nodeId = '', attempt = 0) => `${runId}\n${nodeId}\n${attempt}`
  const ledger: Ledger = {
    journals: new Map(),
    calls: [],
    effects: new Map(),
    turns: new Map(),
    turnTokens: new Map(),
    faults: [],
    claims: new Map(),
    holders: new Map(),
    lastWrite: now(),
    written(events) {
      ledger.lastWrite = now()
      for (const event of events) {
        const journal = ledger.journals.get(event.runId)
        if (journal) journal.push(event)
        else ledger.journals.set(event.runId, [event])
        ledger.claims.delete(event.runId)
        if (event.type === 'attempt_start') {
          const { attempt, capabilityId, idempotencyKey } = event.payload
          const name = attemptOf(event.runId, event.nodeId, attempt)
          open.set(name, capabilityId)
          started.add(`${name}\n${capabilityId}\n${idempotencyKey}`)
        } else if (event.type === 'tool_start') {
          const { attempt, capabilityId, idempotencyKey } = event.payload
          const name = attemptOf(event.runId, event.nodeId, attempt)
          started.add(`${name}\n${capabilityId}\n${idempotencyKey}`)
        } else if (event.type === 'turn_start') {
          const { attempt, lineage, turn } = event.payload
          const key = `${lineage}:${turn}`
          started.add(`${attemptOf(event.runId, event.nodeId, attempt)}\n${key}`)
          turnStarts.set(key, (turnStarts.get(key) ?? 0) + 1)
        } else if (event.type === 'attempt_end') {
          const capabilityId = open.get(attemptOf(event.runId, event.nodeId, event.payload.attempt))
          if (capabilityId === undefined || unheard.has(event.payload.outcome)) continue
          const ended = `${event.runId}\n${event.nodeId}\n${capabilityId}`
          ends.set(ended, (ends.get(ended) ?? 0) + 1)
        }
      }
    },
    called(call) {
      ledger.calls.push(call)
      const name = attemptOf(call.runId, call.nodeId, call.attempt)
      if (!started.has(`${name}\n${call.capabilityId}\n${call.key}`))
        ledger.faults.push(`attempt ${call.attempt} of "${call.nodeId}" left before it was in the journal`)
    },
    asked({ runId, nodeId, attempt, key, text, isGenerated }) {
      const asked = ledger.turns.get(key) ?? { text, generated: 0 }
      ledger.turns.set(key, asked)
      if (!started.has(`${attemptOf(runId, nodeId, attempt)}\n${key}`))
        ledger.faults.push(`a turn of "${nodeId}" left before it was in the journal`)
      if (asked.text !== text) ledger.faults.push(`a turn of "${nodeId}" was asked again with other words`)
      if (isGenerated && ++asked.generated > (turnStarts.get(key) ?? 0))
        ledger.faults.push(`a turn of "${nodeId}" was paid more often than it was begun`)
    },
    ends: (runId, nodeId, capabilityId) => ends.get(`${runId}\n${nodeId}\n${capabilityId}`) ?? 0,
    claimed(runId, life) {
      ledger.holders.set(runId, life)
      const claims = (ledger.claims.get(runId) ?? 0) + 1
      ledger.claims.set(runId, claims)
      if (claims === mostIdleClaims)
        ledger.faults.push(`${runId} was claimed ${claims} times in a row with nothing to do`)
    },
  }
  return ledger
}

/** The outcomes that say nothing about what the call would have brought. */
const unheard: ReadonlySet<string> = new Set(['outcome_unknown', 'cancelled'])
