/**
 * Slots for attempts in this process (a counting semaphore with fair queues): a run that got no slot waits in the line of
 * its tenant, and a run that has just released one does not take it again before the runs in line. While slots are free, the
 * tenants take turns (round robin) within each priority, and each run in line that may be able to use a slot gets a turn,
 * one slot per turn: a tenant with hundreds of runs waits for itself.
 */
import type { Priority } from '../../domain/placement.ts'
import type { Gate } from '../limits/gate.ts'

export interface SlotLimits {
  /** Concurrent attempts of the whole process. Default 1,000: calls mostly wait, and need little of this process. */
  readonly process?: number
  /** Concurrent attempts of one capability. Default: no limit. */
  readonly capability?: (capabilityId: string) => number | undefined
}

export interface Slots {
  /** Takes a slot for an attempt of this run, if one is free, the gate is open and it is not the turn of another run. */
  take(runId: string, capabilityId: string, given?: Partial<Taking>): boolean
  /** Takes a slot for an attempt that is in progress already, even beyond the limit. */
  occupy(capabilityId: string, tenant?: string): void
  release(capabilityId: string, tenant?: string): void
  /** The gate may let runs through: calls the runs that wait. */
  callAgain(): void
  /**
   * Ends the step of the run, whether or not it was its turn. With `more`, the run is called when its turn comes, which may
   * be at once; without, it leaves the line. The tenant is needed with `more` only.
   */
  done(
    runId: string,
    wish: { readonly more: boolean; readonly tenant?: string; readonly priority?: Priority },
  ): void
  /** No slot is free any more. */
  close(): void
  readonly taken: number
  /** Free slots; below zero: how many runs wait for a slot of the process. */
  readonly free: number
}

interface Taking {
  readonly tenant: string
  /** The node can be done by another capability. */
  readonly hasAlternate: boolean
}

/** The gate, for attempts whose model it knows. */
export interface SlotGate {
  readonly take: (runId: string, capabilityId: string, taking: Taking) => boolean
  readonly occupy: (capabilityId: string, tenant: string) => void
  readonly release: (capabilityId: string, tenant: string) => void
  readonly leave: Gate['leave']
}

const openGate: SlotGate = { take: () => true, occupy: () => {}, release: () => {}, leave: () => {} }

/** Runs in line, from which on no others are claimed. */
const longestLine = 1_000

export function createSlots(
  limits: SlotLimits,
  call: (runId: string) => void,
  gate: SlotGate = openGate,
): Slots {
  let most = limits.process ?? 1_000
  const byCapability = new Map<string, number>()
  /** Runs of high priority are called before all others, and those of low priority after them. */
  const lines = { high: createLine(), normal: createLine(), low: createLine() }
  const all = Object.values(lines)
  const isEmpty = () => all.every((line) => line.size === 0)
  const takeFirst = (fits: (refused: number) => boolean) => {
    for (const line of all) {
      const runId = line.take(fits)
      if (runId !== undefined) return runId
    }
    return undefined
  }
  const refusals = new Map<string, number>()
  let turn: string | undefined
  let isUsed = false
  let taken = 0
  /** How often a slot was released: a run that found none before the last release may find one now. */
  let releases = 0

  const next = () => {
    if (turn !== undefined || taken >= most) return
    const runId = takeFirst((refused) => refused !== releases)
    if (runId === undefined) return
    turn = runId
    isUsed = false
    call(runId)
  }
  return {
    take(runId, capabilityId, { tenant = 'default', hasAlternate = false } = {}) {
      // The turn of another run, or the second slot of this turn: this does not show whether slots are free.
      refusals.delete(runId)
      if (turn === runId ? isUsed : turn !== undefined || !isEmpty()) return false
      const busy = byCapability.get(capabilityId) ?? 0
      const isFull = taken >= most || busy >= (limits.capability?.(capabilityId) ?? Number.POSITIVE_INFINITY)
      if (isFull || !gate.take(runId, capabilityId, { tenant, hasAlternate })) {
        refusals.set(runId, releases)
        return false
      }
      byCapability.set(capabilityId, busy + 1)
      taken++
      if (turn === runId) isUsed = true
      return true
    },
    occupy(capabilityId, tenant = 'default') {
      gate.occupy(capabilityId, tenant)
      byCapability.set(capabilityId, (byCapability.get(capabilityId) ?? 0) + 1)
      taken++
    },
    release(capabilityId, tenant = 'default') {
      gate.release(capabilityId, tenant)
      const left = (byCapability.get(capabilityId) ?? 1) - 1
      if (left > 0) byCapability.set(capabilityId, left)
      else byCapability.delete(capabilityId)
      taken--
      releases++
      next()
    },
    done(runId, { more, tenant = '', priority = 'normal' }) {
      if (more) lines[priority].add(runId, tenant, refusals.get(runId) ?? -1)
      else {
        for (const line of all) line.remove(runId)
        gate.leave(runId)
      }
      refusals.delete(runId)
      if (turn === runId) turn = undefined
      next()
    },
    callAgain() {
      releases++
      next()
    },
    close() {
      most = 0
    },
    get taken() {
      return taken
    },
    get free() {
      const waiting = all.reduce((sum, line) => sum + line.size, 0)
      return taken < most ? Math.min(most - taken, longestLine - waiting) : -waiting
    },
  }
}

/** The runs in line: a line per tenant in order of arrival, and the tenants in the order of their turns. */
function createLine() {
  /** Each run with the count of releases at which it last found no slot. */
  const lines = new Map<string, Map<string, number>>()
  const tenants = new Map<string, string>()
  const remove = (runId: string) => {
    const tenant = tenants.get(runId)
    if (tenant === undefined) return
    tenants.delete(runId)
    const runs = lines.get(tenant)
    runs?.delete(runId)
    if (runs?.size === 0) lines.delete(tenant)
  }
  return {
    get size() {
      return tenants.size
    },
    /** A run that is in line keeps its position. */
    add(runId: string, tenant: string, refused: number) {
      const runs = lines.get(tenant) ?? new Map<string, number>()
      lines.set(tenant, runs.set(runId, refused))
      tenants.set(runId, tenant)
    },
    remove,
    /** Takes the first run that fits of the tenant whose turn it is; the tenant is then behind the others. */
    take(fits: (refused: number) => boolean): string | undefined {
      for (const [tenant, runs] of lines)
        for (const [runId, refused] of runs) {
          if (!fits(refused)) continue
          remove(runId)
          if (lines.delete(tenant)) lines.set(tenant, runs)
          return runId
        }
      return undefined
    },
  }
}
