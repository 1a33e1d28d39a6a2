/**
 * The permits of this process: what it has leased from the store of each limit, asked for and returned in the background. A
 * limit is one document; processes change it one after another by its version (compare and set).
 */
import type { Json } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { Documents } from '../../domain/ports/documents.ts'
import { type Counted, type FleetRules, findLimits, type NamedLimit } from './limit-rules.ts'
import { type Shared, sharePermits } from './share-permits.ts'

export interface PermitsParts {
  readonly documents: Documents
  readonly clock: Clock
  readonly owner: string
  readonly leaseMs: number
  readonly onError: (cause: unknown) => void
}

export interface Permits {
  /** Whether there is a permit of each limit; if not, they are asked for, for this run. */
  canTake(call: Counted, runId: string): boolean
  /** Takes them, also beyond the limits. */
  take(call: Counted, runId: string): void
  occupy(call: Counted): void
  release(call: Counted): void
  /** The run does not wait any more. */
  leave(runId: string): void
  /** Renews and returns permits; to be called every `tickMs` while it returns true. */
  tick(): boolean
  readonly isHolding: boolean
  close(): Promise<void>
}

/** A limit as this process knows it. */
interface Counter extends NamedLimit {
  inUse: number
  held: number
  tokens: number
  readonly waiting: Set<string>
  isContended: boolean
  /** The store has an entry of this process. */
  isListed: boolean
  isSyncing: boolean
  /** When the store was last read and written, and since when a permit is unused; by the clock of this process. */
  readAt: number
  writtenAt: number
  spareSince: number
}

/** While attempts wait for permits, the store is asked this often. */
export const tickMs = 100
/** How long unused permits are kept for the next attempt, while no other process waits for them. */
const spareMs = 1_000
/** How often a process with permits looks whether others wait for them. */
const lookMs = 500
const mostConflicts = 5

/** `onFree`: called when runs that wait may find what they need. */
export function createPermits(fleet: FleetRules, parts: PermitsParts, onFree: () => void): Permits {
  const { clock } = parts
  const counters = new Map<string, Counter>()
  const store = createLimitStore(parts)
  let isClosed = false

  const countersOf = (call: Counted): readonly Counter[] =>
    findLimits(fleet, call).map((limit) => {
      const counter = counters.get(limit.name) ?? createCounter(limit)
      counters.set(limit.name, counter)
      return counter
    })

  const sync = async (counter: Counter): Promise<void> => {
    if (counter.isSyncing) return
    counter.isSyncing = true
    try {
      for (let tries = 0; tries < mostConflicts && !(await store.sync(counter, isClosed)); ) tries++
    } catch (cause) {
      parts.onError(cause)
    } finally {
      counter.isSyncing = false
      counter.readAt = clock.now()
    }
    if (!isClosed && counter.waiting.size > 0) onFree()
  }

  return {
    canTake(call, runId) {
      const lacking = countersOf(call).filter((counter) => !hasPermit(counter))
      for (const counter of lacking) {
        counter.waiting.add(runId)
        if (clock.now() - counter.readAt >= tickMs) void sync(counter)
      }
      return lacking.length === 0
    },
    take(call, runId) {
      for (const counter of countersOf(call)) {
        counter.inUse++
        counter.waiting.delete(runId)
        if (counter.rule.rate) counter.tokens--
      }
    },
    occupy(call) {
      for (const counter of countersOf(call)) {
        counter.inUse++
        void sync(counter)
      }
    },
    release(call) {
      for (const counter of countersOf(call)) {
        counter.inUse = Math.max(0, counter.inUse - 1)
        // Another process may be next.
        if (counter.isContended && !isClosed) void sync(counter)
      }
    },
    leave(runId) {
      for (const { waiting } of counters.values()) waiting.delete(runId)
    },
    tick() {
      const now = clock.now()
      for (const counter of counters.values()) {
        if (isSyncDue(counter, now)) void sync(counter)
        if (!isActive(counter)) counters.delete(counter.name)
      }
      return counters.size > 0
    },
    get isHolding() {
      return counters.size > 0
    },
    async close() {
      isClosed = true
      const held = [...counters.values()].filter(isActive)
      for (const counter of held) counter.inUse = 0
      await Promise.all(held.map(sync))
    },
  }
}

function createCounter({ name, rule }: NamedLimit): Counter {
  const times = { readAt: 0, writtenAt: 0, spareSince: 0 }
  const flags = { isContended: false, isListed: false, isSyncing: false }
  return { name, rule, inUse: 0, held: 0, tokens: 0, ...flags, ...times, waiting: new Set() }
}

function isActive({ inUse, held, waiting, tokens, isSyncing, isListed }: Counter): boolean {
  return isSyncing || isListed || inUse > 0 || held > 0 || waiting.size > 0 || tokens > 0
}

/** Notes since when permits are unused, and returns whether the store has to be asked. */
function isSyncDue(counter: Counter, now: number): boolean {
  const { inUse, held, waiting, readAt, isListed } = counter
  if (held > inUse && waiting.size === 0) counter.spareSince ||= now
  else counter.spareSince = 0
  // What is left of a rate is not kept: the store would give it to the next process.
  if (waiting.size === 0) counter.tokens = 0
  const isDone = isListed && inUse === 0 && held === 0
  return waiting.size > 0 || isDone || isSpareOver(counter, now) || now - readAt >= lookMs
}

/** Reads and writes the documents of limits. */
function createLimitStore({ documents, clock, owner, leaseMs }: PermitsParts) {
  /** The store's clock minus the one of this process, learned from what it writes. */
  let offset: number | undefined
  /** False: another process wrote at the same time, or the time of the store was not known yet. */
  const sync = async (counter: Counter, isClosed: boolean): Promise<boolean> => {
    const { name, rule, inUse, waiting } = counter
    const key = { kind: 'limit', tenant: '', id: name } as const
    const row = await documents.find(key)
    // Only this module writes these documents.
    const before = row?.body as unknown as Shared | undefined
    const now = clock.now()
    const storeTime = offset === undefined ? undefined : now + offset
    const ask = (spare: number) =>
      sharePermits(before, rule, {
        ...{ owner, inUse, leaseMs },
        waiting: isClosed ? 0 : Math.max(waiting.size, spare),
        waitingForRate: isClosed ? 0 : Math.max(0, waiting.size - counter.tokens),
        now: storeTime,
      })
    const spare = isClosed || isSpareOver(counter, now) ? 0 : Math.max(0, counter.held - inUse)
    const kept = ask(spare)
    // Permits are kept for the next attempt only while no other process waits for them.
    const share = spare > 0 && kept.isContended ? ask(0) : kept
    counter.isListed = Object.hasOwn(share.shared.holders, owner)
    const isRenewal = now - counter.writtenAt >= leaseMs / 3
    if (isRenewal || share.tokens > 0 || !isSame(before, share.shared)) {
      const body = share.shared as unknown as Json
      const written = row
        ? await documents.replace({ ...key, body }, { version: row.version })
        : await documents.add({ ...key, body })
      if (written === undefined) return false
      offset = written.updatedAt - clock.now()
      counter.tokens += share.tokens
      // Without the time, no lease was written: other processes take these permits for expired.
      if (storeTime === undefined) return false
      counter.writtenAt = clock.now()
      counter.held = share.held
      counter.isContended = share.isContended
      return true
    }
    counter.held = share.held
    counter.isContended = share.isContended
    return true
  }

  return { sync }
}

function hasPermit({ rule, inUse, held, tokens, isSyncing }: Counter): boolean {
  // While the store decides what is left, nothing more is taken of it.
  if (isSyncing) return false
  return (rule.concurrency === undefined || inUse < held) && (rule.rate === undefined || tokens >= 1)
}

function isSpareOver({ spareSince }: Counter, now: number): boolean {
  return spareSince > 0 && now - spareSince >= spareMs
}

/** Whether nothing but times differs. */
function isSame(before: Shared | undefined, after: Shared): boolean {
  if (before === undefined) return false
  const comparable = ({ holders, turn, bucket, rule }: Shared) =>
    JSON.stringify([
      Object.entries(holders)
        .map(([owner, { held, wanted }]) => [owner, held, wanted])
        .sort(),
      turn,
      bucket && Math.floor(bucket.tokens),
      rule,
    ])
  return comparable(before) === comparable(after)
}
