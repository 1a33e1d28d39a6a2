/**
 * What an attempt needs beside a slot of its process: permits of the limits that the whole fleet shares, and circuits that are
 * closed. Attempts ask synchronously and get what this process has leased from the store; what it lacks is asked for in the
 * background, and the runs in line are called when it is there.
 */
import type { AttemptResult } from '../../domain/output.ts'
import { type CircuitOptions, type Circuits, createCircuits, type OpenCircuit } from './circuits.ts'
import type { Counted, FleetRules } from './limit-rules.ts'
import { createPermits, type PermitsParts, tickMs } from './permits.ts'

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
  /** The process has permits, or waits for some. */
  readonly isHolding: boolean
  /** Returns all permits. */
  close(): Promise<void>
}

export interface GateOptions {
  readonly fleet?: FleetRules
  /** `false`, the default of an engine: attempts call what is unavailable each time. Apps have circuits. */
  readonly circuits?: CircuitOptions | false
}

/** How often the runs that wait for a circuit are asked again. */
const circuitMs = 1_000

export function createGate({ fleet = {}, circuits: given = false }: GateOptions, parts: PermitsParts): Gate {
  const { clock } = parts
  const circuits: Circuits | undefined = given === false ? undefined : createCircuits(given, clock)
  const permits = createPermits(fleet, parts, () => onFree())
  /** Runs that wait for a circuit, with the time since when, by capability. */
  const circuitWaits = new Map<string, Map<string, number>>()
  const refused = new Set<string>()
  let onFree = () => {}
  let cancelTick: (() => void) | undefined
  let isClosed = false
  let circuitsAskedAt = 0

  const tick = () => {
    cancelTick = undefined
    const now = clock.now()
    const isBusy = permits.tick()
    if (circuitWaits.size > 0 && now - circuitsAskedAt >= circuitMs) {
      circuitsAskedAt = now
      onFree()
    }
    if (isBusy || circuitWaits.size > 0) keepTicking()
  }
  const keepTicking = () => {
    if (!isClosed) cancelTick ??= clock.timer(clock.now() + tickMs, tick)
  }
  /** Most fleets have no limits: then nothing has to be renewed. */
  const isLimited = Object.values(fleet).some((rules) => rules && Object.keys(rules).length > 0)
  const keepPermits = () => {
    if (isLimited) keepTicking()
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
      keepPermits()
      if (!permits.canTake(call, runId)) return false
      const waitingSince = circuitWaits.get(runId)?.get(capabilityId)
      const passage = circuits?.pass(circuitNames(call), { hasAlternate, waitingSince }) ?? 'call'
      if (passage === 'wait') {
        waitForCircuit(runId, capabilityId)
        return false
      }
      if (passage === 'refuse') refused.add(toCallKey(call))
      else refused.delete(toCallKey(call))
      circuitWaits.delete(runId)
      permits.take(call, runId)
      return true
    },
    occupy(call) {
      permits.occupy(call)
      keepPermits()
    },
    release(call) {
      permits.release(call)
      keepPermits()
    },
    leave(runId) {
      circuitWaits.delete(runId)
      permits.leave(runId)
    },
    refuse: (call) => (refused.delete(toCallKey(call)) ? toRefusal(call) : undefined),
    observe(call, { outcome, model }) {
      if (circuits === undefined) return
      circuits.observe(
        circuitNames({ ...call, model: outcome === 'ok' ? (model ?? call.model) : call.model }),
        outcome,
      )
      if (circuitWaits.size > 0 && outcome === 'ok') onFree()
    },
    circuits: () => circuits?.list() ?? [],
    open(listener) {
      onFree = listener
    },
    get isHolding() {
      return permits.isHolding
    },
    async close() {
      isClosed = true
      cancelTick?.()
      await permits.close()
    },
  }
}

function toRefusal({ capabilityId }: Pick<Asking, 'capabilityId'>): AttemptResult {
  const message = `"${capabilityId}" was not called: it was unavailable several times in a row, and its circuit is open`
  const hint =
    'See `proviso status`; raise `limits.circuit_failures` (`limits.circuits.failures`) if it opens too early'
  return {
    outcome: 'unavailable',
    issues: [{ code: 'attempt/circuit_open', at: { pointer: '' }, message, hint }],
    usage: { calls: 0 },
  }
}

function circuitNames({ capabilityId, model }: Counted): readonly string[] {
  return [`capabilities/${capabilityId}`, ...(model === undefined ? [] : [`models/${model}`])]
}

function toCallKey({ runId, capabilityId }: Pick<Asking, 'runId' | 'capabilityId'>): string {
  return `${runId}\n${capabilityId}`
}
