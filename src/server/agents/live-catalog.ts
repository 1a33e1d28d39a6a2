/**
 * Caches registered agents per tenant and keeps the cache fresh. It reads the store after a registration in this process,
 * before a plan if another process has changed a registration (`record-changes.ts`), when the next agent would miss its
 * heartbeat, and periodically. Endpoints are kept here, separate from the catalog that planners see.
 */
import type { Clock } from '../../base/time/clock.ts'
import { shareNext } from '../../base/time/share-next.ts'
import type { Endpoint } from '../../domain/capability/endpoint.ts'
import type { Documents } from '../../domain/ports/documents.ts'
import type { RegistrationRow, Registrations } from '../../domain/ports/records.ts'
import type { CapabilityCatalog, TenantCatalogs } from '../../plan/index.ts'
import { type EndpointSeal, openEndpoint } from './endpoint-seal.ts'
import type { RecordChanges } from './record-changes.ts'
import { readTenantFacets } from './tenant-facets.ts'

export interface LivingCatalogOptions {
  readonly registrations: Registrations
  readonly documents: Documents
  readonly changes: RecordChanges
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
  /** Reads the store if another process may have changed what the tenant can use: a registration, a facet, a silent agent. */
  update(tenant: string): Promise<void>
  findRow(agent: Agent): RegistrationRow | undefined
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
/** How long a silent agent is expected back: its heartbeat at another process changes no version. */
const awaitedMs = 300_000

export function createLivingCatalog(options: LivingCatalogOptions): LivingCatalog {
  const { registrations, documents, changes, catalogs, shared, clock, seal } = options
  const { cacheTtlMs = 30_000, selfRefreshMs = 300_000 } = options
  let rows: ReadonlyMap<string, RegistrationRow> = new Map()
  let silent: readonly RegistrationRow[] = []
  let closed = false
  const takeBacks = new Set<() => void>()

  const refresh = shareNext(async () => {
    const [all, facets] = await Promise.all([registrations.list({}), readTenantFacets(documents)])
    rows = new Map(all.map((row) => [toKey(row), row]))
    silent = all.filter(({ status }) => status === 'inactive')
    catalogs.learn(all, facets)
    watch()
  })
  changes.add(refresh)
  const isAwaited = (tenant: string) =>
    silent.some((row) => row.tenant === tenant && row.heartbeatAt + row.ttlMs + awaitedMs > clock.now())
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
    update: (tenant) => (isAwaited(tenant) ? refresh() : changes.check()),
    findRow: (agent) => rows.get(toKey(agent)),
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
