/**
 * Limits of the fleet, seen from outside: which calls were under way when, and which process had its permits in the store by
 * then. Reads none of the engine's counts: a permit is what a process has written into the document of the limit, and it holds
 * for a lease from then on.
 */
import type { JournalEvent } from '../../src/domain/event.ts'
import type { FleetRules } from '../../src/engine/limits/limit-rules.ts'
import type { FaultRates } from './faults.ts'
import type { Life } from './life.ts'
import type { Scenario } from './scenario.ts'
import type { World } from './world.ts'

interface Call {
  readonly life: Life
  /** For messages. */
  readonly node: string
  readonly limits: readonly string[]
  readonly from: number
  to: number | undefined
}

export interface FleetPermits {
  /** A process makes the call of an attempt; it is under way until it has ended or was aborted. */
  called(
    life: Life,
    call: { readonly runId: string; readonly nodeId: string; readonly capabilityId: string },
    signal: AbortSignal,
  ): () => void
  /** A process has written the document of a limit. */
  written(life: Life, limit: string): void
  check(journals: ReadonlyMap<string, readonly JournalEvent[]>): string[]
}

export function createFleetPermits(
  world: World,
  { scenario, rates }: { readonly scenario: Scenario; readonly rates: FaultRates },
): FleetPermits {
  const { leaseMs, latencyMs, pollMs } = scenario
  const { fleet = {} } = scenario.limits ?? {}
  const calmFrom = world.now + rates.until + (rates.until > 0 ? 4 * leaseMs + 2_000 : 0)
  const calls: Call[] = []
  const faults: string[] = []
  /** When a process wrote the document of a limit last, and since when without a gap longer than a lease. */
  const writes = new Map<string, { last: number; since: number }>()

  const isCounted = ({ life, from, to }: Call, limit: string): boolean => {
    if (to !== undefined || !life.alive || life.asleepUntil > world.now) return false
    // Once nothing goes wrong, every process renews what it has.
    if (from >= calmFrom) return true
    const written = writes.get(`${life.nth} ${limit}`)
    return written !== undefined && world.now - written.last < leaseMs && written.since <= from
  }

  return {
    called(life, { runId, nodeId, capabilityId }, signal) {
      const limits = limitsOf(fleet, capabilityId)
      const names = limits.map(({ name }) => name)
      const node = `${runId} ${nodeId} in ${life.process}.${life.nth}`
      const call: Call = { life, node, limits: names, from: world.now, to: undefined }
      const end = () => {
        call.to ??= world.now
      }
      calls.push(call)
      signal.addEventListener('abort', end)
      for (const { name, most } of limits) {
        const underWay = calls.filter((each) => each.limits.includes(name) && isCounted(each, name))
        if (underWay.length > most)
          faults.push(
            `limit ${name}: ${underWay.length} attempts at once, and ${most} are allowed (${underWay.map((each) => each.node).join(', ')})`,
          )
      }
      return end
    },
    written(life, limit) {
      const key = `${life.nth} ${limit}`
      const before = writes.get(key)
      const isKept = before !== undefined && world.now - before.last < leaseMs
      writes.set(key, { last: world.now, since: isKept ? before.since : world.now })
    },
    check(journals) {
      // An attempt may also wait for a circuit.
      if (scenario.limits?.circuits) return faults
      const longest = leaseMs + pollMs + 12 * latencyMs + 3_000
      const attempts = [...journals.values()].flatMap(listAttempts)
      for (const { nodeId, runId, capabilityId, readyAt, from } of attempts) {
        const limits = limitsOf(fleet, capabilityId)
        if (limits.length === 0 || from < calmFrom) continue
        const full = limits.map(({ name, most }) => {
          const others = attempts.filter((other) =>
            limitsOf(fleet, other.capabilityId).some((limit) => limit.name === name),
          )
          return lastFull(others, most, from)
        })
        const late = from - Math.max(calmFrom, readyAt, ...full)
        if (late > longest)
          faults.push(`permits: "${nodeId}" of ${runId} waited ${late} ms for permits that were free`)
      }
      return faults
    },
  }
}

interface Attempt {
  readonly runId: string
  readonly nodeId: string
  readonly capabilityId: string
  /** When the last event happened that may have made the node ready. */
  readonly readyAt: number
  readonly from: number
  to: number
}

/** Events of a start; all others may make a node ready. */
const starting: ReadonlySet<string> = new Set([
  'node_start',
  'iteration_start',
  'budget_reserved',
  'attempt_start',
])

/** The attempts of a run as the journal has them: they keep their permits while they pause, and while they wait for an agent. */
function listAttempts(journal: readonly JournalEvent[]): Attempt[] {
  const all: Attempt[] = []
  const open = new Map<string, Attempt>()
  let readyAt = 0
  for (const event of journal) {
    if (!starting.has(event.type)) readyAt = event.at
    const { runId, nodeId = '' } = event
    if (event.type === 'attempt_start') {
      const { capabilityId } = event.payload
      const to = Number.POSITIVE_INFINITY
      const attempt = { runId, nodeId, capabilityId, readyAt, from: event.at, to }
      open.set(nodeId, attempt)
      all.push(attempt)
    }
    const attempt = event.type === 'attempt_end' ? open.get(nodeId) : undefined
    if (attempt) attempt.to = event.at
  }
  return all
}

/** The limits of an attempt with a capability; every run belongs to the tenant `default`. */
function limitsOf({ capabilities = {}, tenants = {} }: FleetRules, capabilityId: string) {
  const of = (kind: string, name: string, most: number | undefined) =>
    most === undefined ? [] : [{ name: `${kind}/${name}`, most }]
  return [
    ...of('capabilities', capabilityId, (capabilities[capabilityId] ?? capabilities['*'])?.concurrency),
    ...of('tenants', 'default', tenants['default']?.concurrency),
  ]
}

/** When so many of these attempts were under way last, before a time. */
function lastFull(attempts: readonly Attempt[], most: number, until: number): number {
  const begun = attempts.filter(({ from }) => from < until)
  const ends = begun.map(({ to }) => Math.min(to, until)).sort((one, other) => other - one)
  return ends.find((end) => begun.filter(({ from, to }) => from <= end && to >= end).length >= most) ?? 0
}
