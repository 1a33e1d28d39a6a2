/**
 * Circuit breakers of this process, one for each capability and model: after several attempts in a row that found it
 * unavailable or throttled, the circuit opens, and no attempt calls it. When the pause is over, one attempt probes it (half
 * open): its success closes the circuit, its failure doubles the pause.
 */
import type { Clock } from '../../base/time/clock.ts'
import type { Outcome } from '../../domain/output.ts'

export interface CircuitOptions {
  /** Attempts in a row that open the circuit. Default 5. */
  readonly failures?: number
  /** The first pause, in milliseconds. Default 10,000; it doubles up to 5 minutes. */
  readonly openMs?: number
  /** How long an attempt waits for an open circuit before it fails as `unavailable`. Default 60,000. */
  readonly waitMs?: number
}

export interface OpenCircuit {
  /** Such as `capabilities/render` or `models/openai/gpt-5`. */
  readonly name: string
  readonly state: 'open' | 'half-open'
  /** When it is probed next. */
  readonly until: number
  /** Failures in a row. */
  readonly failures: number
}

/** What may happen with an attempt: `call` (maybe as the probe), `wait`, or `refuse`: it ends without a call. */
export type Passage = 'call' | 'wait' | 'refuse'

export interface Circuits {
  /** `waitingSince`: when the attempt first found the circuit open. */
  pass(
    names: readonly string[],
    given: { readonly hasAlternate: boolean; readonly waitingSince: number | undefined },
  ): Passage
  observe(names: readonly string[], outcome: Outcome): void
  list(): readonly OpenCircuit[]
}

interface Circuit {
  failures: number
  pauseMs: number
  /** 0: closed. */
  openUntil: number
  /** A probe is under way until then at the latest. */
  probeUntil: number
}

const longestPauseMs = 300_000
/** Circuits are kept while they have failures: those of many capabilities that failed once must not pile up. */
const mostCircuits = 1_000
const isFailure = (outcome: Outcome) => outcome === 'unavailable' || outcome === 'throttled'
/** The attempt ended for a reason of this side. */
const saysNothing: ReadonlySet<Outcome> = new Set(['cancelled', 'outcome_unknown', 'unclear'])

export function createCircuits(
  { failures: most = 5, openMs = 10_000, waitMs = 60_000 }: CircuitOptions,
  { now }: Pick<Clock, 'now'>,
): Circuits {
  const circuits = new Map<string, Circuit>()
  const isOpen = (circuit: Circuit | undefined): circuit is Circuit =>
    circuit !== undefined && circuit.openUntil > 0
  return {
    pass(names, { hasAlternate, waitingSince = now() }) {
      const open = names.map((name) => circuits.get(name)).filter(isOpen)
      if (open.length === 0) return 'call'
      const at = now()
      if (open.every(({ openUntil, probeUntil }) => openUntil <= at && probeUntil <= at)) {
        for (const circuit of open) circuit.probeUntil = at + Math.max(circuit.pauseMs, waitMs)
        return 'call'
      }
      return hasAlternate || at - waitingSince >= waitMs ? 'refuse' : 'wait'
    },
    observe(names, outcome) {
      if (saysNothing.has(outcome)) {
        for (const name of names) {
          const circuit = circuits.get(name)
          if (circuit) circuit.probeUntil = 0
        }
        return
      }
      for (const name of names) {
        if (!isFailure(outcome)) {
          circuits.delete(name)
          continue
        }
        const circuit = circuits.get(name) ?? { failures: 0, pauseMs: openMs, openUntil: 0, probeUntil: 0 }
        circuit.failures++
        if (circuit.openUntil > 0 && circuit.probeUntil > 0)
          circuit.pauseMs = Math.min(longestPauseMs, circuit.pauseMs * 2)
        // Attempts that were under way when it opened do not lengthen the pause.
        if (circuit.failures >= most && (circuit.openUntil === 0 || circuit.probeUntil > 0))
          circuit.openUntil = now() + circuit.pauseMs
        circuit.probeUntil = 0
        circuits.delete(name)
        circuits.set(name, circuit)
        const [oldest] = circuits.keys()
        if (circuits.size > mostCircuits && oldest !== undefined) circuits.delete(oldest)
      }
    },
    list: () =>
      [...circuits].flatMap(([name, circuit]) =>
        isOpen(circuit)
          ? [
              {
                name,
                state: circuit.openUntil <= now() ? ('half-open' as const) : ('open' as const),
                until: circuit.openUntil,
                failures: circuit.failures,
              },
            ]
          : [],
      ),
  }
}
