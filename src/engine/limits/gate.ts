/**
 * What an attempt needs beside a slot of its process: permits of the limits that the whole fleet shares, and circuits that are
 * closed. Attempts ask synchronously and get what this process has leased from the store; what it lacks is asked for in the
 * background, and the runs in line are called when it is there.
 */
import type { Json } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Documents } from '../../domain/ports/documents.ts'
import { type CircuitOptions, type Circuits, createCircuits, type OpenCircuit } from './circuits.ts'
import { type Counted, type FleetRules, findLimits, type NamedLimit } from './limit-rules.ts'
import { type Shared, sharePermits } from './share-permits.ts'

export interface Asking extends Counted {
  readonly runId: string
  /** The node can be done by another capability. */
  readonly hasAlternate: boolean
}

export interface Gate {
  /** Whether the attempt may start; it then has its permits until `release`. If not, the run is called later. */
  take(call: Asking): boolean
  /** Counts an attempt that is under way already. */
  occupy(call: Counted): void
  release(call: Counted): void
  /** The run does not wait any more. */
  leave(runId: string): void
  /** Why the attempt that was let through must not make its call; asked once. */
  refuse(call: Pick<Asking, 'runId' | 'capabilityId'>): AttemptResult | undefined
  /** Learns how a call has ended. */
  observe(call: Counted, result: AttemptResult): void
  /** Open circuits of this process. */
  circuits(): readonly OpenCircuit[]
  /** `onFree`: called when runs that wait may be let through. */
  open(onFree: () => void): void
  /** Returns all permits. */
  close(): Promise<void>
}

export interface GateOptions {
  readonly fleet?: FleetRules
  /** `false`: attempts call what is unavailable each time. */
  readonly circuits?: CircuitOptions | false
}

interface GateParts {
  readonly documents: Documents
  readonly clock: Clock
  readonly owner: string
  readonly leaseMs: number
  readonly onError: (cause: unknown) => void
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
const tickMs = 100
/** How long unused permits are kept for the next attempt, while no other process waits for them. */
const spareMs = 1_000
/** How often a process with permits looks whether others wait for them. */
const lookMs = 500
/** How often the runs that wait for a circuit are asked again. */
const circuitMs = 1_000
const mostConflicts = 5

export function createGate({ fleet = {}, circuits: given = {} }: GateOptions, parts: GateParts): Gate {
  const { documents, clock, owner, leaseMs, onError } = parts
  const circuits: Circuits | undefined = given === false ? undefined : createCircuits(given, clock)
  const counters = new Map<string, Counter>()
  /** Runs that wait for a circuit, with the time since when, by capability. */
  const circuitWaits = new Map<string, Map<string, number>>()
  const refused = new Set<string>()
  let onFree = () => {}
  let cancelTick: (() => void) | undefined
  let isClosed = false
  /** The store's clock minus the one of this process, learned from what it writes. */
  let offset: number | undefined
  let circuitsAskedAt = 0

  const countersOf = (call: Counted): readonly Counter[] => findLimits(fleet, call).map(getCounter)
  function getCounter({ name, rule }: NamedLimit): Counter {
    const known = counters.get(name)
    if (known) return known
    const times = { readAt: 0, writtenAt: 0, spareSince: 0 }
    const made = {
      name,
      rule,
      inUse: 0,
      held: 0,
      tokens: 0,
      isContended: false,
      isListed: false,
      isSyncing: false,
      ...times,
    }
    const counter: Counter = { ...made, waiting: new Set() }
    counters.set(name, counter)
    return counter
  }

  const sync = async (counter: Counter): Promise<void> => {
    if (counter.isSyncing) return
    counter.isSyncing = true
    try {
      for (let tries = 0; tries < mostConflicts && !(await syncOnce(counter)); ) tries++
    } catch (cause) {
      onError(cause)
    } finally {
      counter.isSyncing = false
      counter.readAt = clock.now()
    }
    if (!isClosed && counter.waiting.size > 0) onFree()
  }

  /** False: another process wrote at the same time, or the time of the store was not known yet. */
  const syncOnce = async (counter: Counter): Promise<boolean> => {
    const { name, rule, inUse, waiting } = counter
    const key = { kind: 'limit', tenant: '', id: name } as const
    const row = await documents.find(key)
    // Only this module writes these documents.
    const before = row?.body as unknown as Shared | undefined
    const now = clock.now()
    const ask = (spare: number) =>
      sharePermits(before, rule, {
        ...{ owner, inUse, leaseMs },
        waiting: isClosed ? 0 : Math.max(waiting.size, spare),
        waitingForRate: isClosed ? 0 : Math.max(0, waiting.size - counter.tokens),
        now: offset === undefined ? undefined : now + offset,
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
      const isFirst = offset === undefined
      offset = written.updatedAt - clock.now()
      counter.writtenAt = clock.now()
      counter.held = share.held
      counter.tokens += share.tokens
      counter.isContended = share.isContended
      return !isFirst
    }
    counter.held = share.held
    counter.isContended = share.isContended
    return true
  }

  const isActive = ({ inUse, held, waiting, tokens, isSyncing, isListed }: Counter) =>
    isSyncing || isListed || inUse > 0 || held > 0 || waiting.size > 0 || tokens > 0

  const tick = () => {
    cancelTick = undefined
    const now = clock.now()
    for (const counter of counters.values()) {
      const { inUse, held, waiting, readAt } = counter
      if (held > inUse && waiting.size === 0) counter.spareSince ||= now
      else counter.spareSince = 0
      // The store would give the rate of the past to whoever asks: what is not used at once is lost.
      if (waiting.size === 0) counter.tokens = 0
      const isDone = counter.isListed && inUse === 0 && held === 0
      if (waiting.size > 0 || isDone || isSpareOver(counter, now) || now - readAt >= lookMs)
        void sync(counter)
      if (!isActive(counter)) counters.delete(counter.name)
    }
    if (circuitWaits.size > 0 && now - circuitsAskedAt >= circuitMs) {
      circuitsAskedAt = now
      onFree()
    }
    keepTicking()
  }
  const keepTicking = () => {
    if (isClosed || cancelTick || (counters.size === 0 && circuitWaits.size === 0)) return
    cancelTick = clock.timer(clock.now() + tickMs, tick)
  }

  const waitForCircuit = (runId: string, capabilityId: string) => {
    const waits = circuitWaits.get(runId) ?? new Map<string, number>()
    if (!waits.has(capabilityId)) waits.set(capabilityId, clock.now())
    circuitWaits.set(runId, waits)
    keepTicking()
  }

  return {
    take(call) {
      const { runId, capabilityId, hasAlternate } = call
      const needed = countersOf(call)
      const lacking = needed.filter((counter) => !hasPermit(counter))
      if (lacking.length > 0) {
        for (const counter of lacking) {
          counter.waiting.add(runId)
          if (clock.now() - counter.readAt >= tickMs) void sync(counter)
        }
        keepTicking()
        return false
      }
      const waitingSince = circuitWaits.get(runId)?.get(capabilityId)
      const passage = circuits?.pass(circuitNames(call), { hasAlternate, waitingSince }) ?? 'call'
      if (passage === 'wait') {
        waitForCircuit(runId, capabilityId)
        return false
      }
      if (passage === 'refuse') refused.add(toCallKey(call))
      else refused.delete(toCallKey(call))
      circuitWaits.delete(runId)
      for (const counter of needed) {
        counter.inUse++
        counter.waiting.delete(runId)
        if (counter.rule.rate) counter.tokens--
      }
      return true
    },
    occupy(call) {
      for (const counter of countersOf(call)) {
        counter.inUse++
        void sync(counter)
      }
      keepTicking()
    },
    release(call) {
      for (const counter of countersOf(call)) {
        counter.inUse = Math.max(0, counter.inUse - 1)
        // Another process may be next.
        if (counter.isContended && !isClosed) void sync(counter)
      }
      keepTicking()
    },
    leave(runId) {
      circuitWaits.delete(runId)
      for (const { waiting } of counters.values()) waiting.delete(runId)
    },
    refuse(call) {
      if (!refused.delete(toCallKey(call))) return undefined
      const message = `"${call.capabilityId}" was not called: it was unavailable several times in a row, and its circuit is open`
      const hint =
        'See `proviso status`; raise `limits.circuit_failures` (`limits.circuits.failures`) if it opens too early'
      return {
        outcome: 'unavailable',
        issues: [{ code: 'attempt/circuit_open', at: { pointer: '' }, message, hint }],
        usage: { calls: 0 },
      }
    },
    observe(call, { outcome, model }) {
      if (circuits === undefined) return
      circuits.observe(
        circuitNames({ ...call, model: outcome === 'ok' ? (model ?? call.model) : call.model }),
        outcome,
      )
      if (circuitWaits.size > 0 && outcome === 'ok') onFree()
    },
    circuits: () => circuits?.list() ?? [],
    open(given) {
      onFree = given
    },
    async close() {
      isClosed = true
      cancelTick?.()
      const held = [...counters.values()].filter(isActive)
      for (const counter of held) counter.inUse = 0
      await Promise.all(held.map(sync))
    },
  }
}

function hasPermit({ rule, inUse, held, tokens, isSyncing }: Counter): boolean {
  // While the store decides what is left, nothing more is taken of it.
  if (isSyncing) return false
  return (rule.concurrency === undefined || inUse < held) && (rule.rate === undefined || tokens >= 1)
}

function isSpareOver({ spareSince }: Counter, now: number): boolean {
  return spareSince > 0 && now - spareSince >= spareMs
}

function circuitNames({ capabilityId, model }: Counted): readonly string[] {
  return [`capabilities/${capabilityId}`, ...(model === undefined ? [] : [`models/${model}`])]
}

function toCallKey({ runId, capabilityId }: Pick<Asking, 'runId' | 'capabilityId'>): string {
  return `${runId}\n${capabilityId}`
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
