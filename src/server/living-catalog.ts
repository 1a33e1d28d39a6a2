/**
 * Keeps what this process knows of registered agents as fresh as it is asked to: reads the store when somebody registered
 * here, every so often for what other processes took, and when the next agent would have to be given up. Endpoints are held
 * here, apart from what planners see.
 */
import type { Clock } from '../base/clock.ts'
import type { Endpoint } from '../domain/endpoint.ts'
import type { RegistrationRow, Registrations } from '../domain/ports/records.ts'
import type { CapabilityCatalog, TenantCatalogs } from '../plan/index.ts'
import { type EndpointSeal, openEndpoint } from './endpoint-seal.ts'

export interface LivingCatalogOptions {
  readonly registrations: Registrations
  readonly catalogs: TenantCatalogs
  /** What lives in this process: given a sign of life by the process itself. */
  readonly shared: CapabilityCatalog
  readonly clock: Clock
  readonly seal: EndpointSeal
  /** How old what is known may be. Default 30 s. */
  readonly cacheTtlMs?: number
  /** How often this process renews its own capabilities. Default 5 minutes. */
  readonly selfRefreshMs?: number
  /** The store did not answer; what was known stays, and it is asked again. */
  readonly onError?: (cause: unknown) => void
}

export interface Agent {
  readonly tenant: string
  readonly capabilityId: string
}

export interface LivingCatalog {
  /** Reads the store; whoever waits sees everything that was there when it was called. */
  refresh(): Promise<void>
  rowOf(agent: Agent): RegistrationRow | undefined
  /** Throws `capability/secret-key` where its secrets cannot be opened. */
  endpointOf(agent: Agent): Endpoint | undefined
  /** Reads once, and goes on by itself. */
  open(): Promise<void>
  close(): void
}

/** Not more often: the clock of the store may be behind, and then an agent is alive for longer than it seems from here. */
const leastMs = 1_000
/** Silence is looked for a little after it begins. */
const afterMs = 20

export function createLivingCatalog(options: LivingCatalogOptions): LivingCatalog {
  const { registrations, catalogs, shared, clock, seal } = options
  const { cacheTtlMs = 30_000, selfRefreshMs = 300_000 } = options
  let rows: ReadonlyMap<string, RegistrationRow> = new Map()
  let reading: Promise<void> | undefined
  let next: Promise<void> | undefined
  let closed = false
  const takeBacks = new Set<() => void>()

  const read = async () => {
    const all = await registrations.list({})
    rows = new Map(all.map((row) => [keyOf(row), row]))
    catalogs.learn(all)
    watch()
  }
  let unwatch = () => {}
  /** Looks again when the first of those who are alive would be silent for too long, if nobody does so before. */
  const watch = () => {
    unwatch()
    const now = clock.now()
    let left = Number.POSITIVE_INFINITY
    for (const { status, heartbeatAt, ttlMs } of rows.values())
      if (status === 'active') left = Math.min(left, heartbeatAt + ttlMs - now, ttlMs)
    const waitMs = Math.max(left + afterMs, leastMs)
    if (closed || waitMs >= cacheTtlMs) return
    const look = () => refresh().catch((cause) => options.onError?.(cause))
    unwatch = clock.timer(now + waitMs, () => void look())
  }
  const refresh = (): Promise<void> => {
    // One that is under way may have looked too early: all who come meanwhile share the one after it.
    if (reading !== undefined) {
      next ??= reading
        .catch(() => {})
        .then(() => {
          next = undefined
          return refresh()
        })
      return next
    }
    reading = read().finally(() => {
      reading = undefined
    })
    return reading
  }
  const every = (ms: number, work: () => void | Promise<void>) => {
    const tick = async () => {
      takeBacks.delete(takeBack)
      try {
        await work()
      } catch (cause) {
        options.onError?.(cause)
      }
      if (!closed) every(ms, work)
    }
    const takeBack = clock.timer(clock.now() + ms, () => void tick())
    takeBacks.add(takeBack)
  }

  return {
    refresh,
    rowOf: (agent) => rows.get(keyOf(agent)),
    endpointOf(agent) {
      const row = rows.get(keyOf(agent))
      return row && openEndpoint(seal, row)
    },
    async open() {
      await refresh()
      every(cacheTtlMs, refresh)
      every(selfRefreshMs, () => {
        for (const { capability } of shared.entries()) shared.heartbeat(capability.capabilityId)
      })
    },
    close() {
      closed = true
      unwatch()
      for (const takeBack of takeBacks) takeBack()
    },
  }
}

function keyOf({ tenant, capabilityId }: Agent): string {
  return JSON.stringify([tenant, capabilityId])
}
