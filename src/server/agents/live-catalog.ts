/**
 * Caches registered agents per tenant and keeps the cache fresh. It reads the store after a registration in this process,
 * periodically to see registrations made by other processes, and when the next agent would miss its heartbeat. Endpoints
 * are kept here, separate from the catalog that planners see.
 */
import type { Clock } from '../../base/time/clock.ts'
import type { Endpoint } from '../../domain/capability/endpoint.ts'
import type { RegistrationRow, Registrations } from '../../domain/ports/records.ts'
import type { CapabilityCatalog, TenantCatalogs } from '../../plan/index.ts'
import { type EndpointSeal, openEndpoint } from './endpoint-seal.ts'

export interface LivingCatalogOptions {
  readonly registrations: Registrations
  readonly catalogs: TenantCatalogs
  /** Capabilities of this process. The process sends their heartbeats itself. */
  readonly shared: CapabilityCatalog
  readonly clock: Clock
  readonly seal: EndpointSeal
  /** Maximum age of the cache. Default 30 s. */
  readonly cacheTtlMs?: number
  /** How often this process sends heartbeats for its own capabilities. Default 5 minutes. */
  readonly selfRefreshMs?: number
  /** Called when the store cannot be read. The cache is kept and the read is retried. */
  readonly onError?: (cause: unknown) => void
}

export interface Agent {
  readonly tenant: string
  readonly capabilityId: string
}

export interface LivingCatalog {
  /** Reads the store. Resolves when the cache holds everything that was stored when it was called. */
  refresh(): Promise<void>
  rowOf(agent: Agent): RegistrationRow | undefined
  /** Throws `capability/secret-key` if the agent's secrets cannot be decrypted. */
  findEndpoint(agent: Agent): Endpoint | undefined
  /** Reads the store once, then keeps the cache fresh until stopped. */
  open(): Promise<void>
  close(): void
}

/** Minimum delay between checks: the store's clock may be behind, and then an agent stays alive longer than it seems here. */
const leastMs = 1_000
/** Delay after an expected heartbeat timeout before it is checked. */
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
    rows = new Map(all.map((row) => [toKey(row), row]))
    catalogs.learn(all)
    watch()
  }
  let unwatch = () => {}
  /** Schedules a read for when the next live agent would time out, unless another read comes first. */
  const watch = () => {
    unwatch()
    const now = clock.now()
    let left = Number.POSITIVE_INFINITY
    for (const { status, heartbeatAt, ttlMs } of rows.values())
      if (status === 'active') left = Math.min(left, heartbeatAt + ttlMs - now, ttlMs)
    const waitMs = Math.max(left + afterMs, leastMs)
    if (closed || waitMs >= cacheTtlMs) return
    const readAgain = () => refresh().catch((cause) => options.onError?.(cause))
    unwatch = clock.timer(now + waitMs, () => void readAgain())
  }
  const refresh = (): Promise<void> => {
    // A read in progress may have started too early: concurrent callers share the next one.
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
    rowOf: (agent) => rows.get(toKey(agent)),
    findEndpoint(agent) {
      const row = rows.get(toKey(agent))
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

function toKey({ tenant, capabilityId }: Agent): string {
  return JSON.stringify([tenant, capabilityId])
}
