/**
 * What each tenant can plan with: what is everybody's (built in, or this process's own) and what agents of the tenant have
 * registered. Nobody sees another tenant's. Registrations come from the store, whichever process took them; who is alive
 * is the store's word.
 */
import { jsonEqual } from '../../base/equal.ts'
import { isObject, own } from '../../base/json.ts'
import type { Capability } from '../../domain/capability.ts'
import { createFacetCatalog } from '../../domain/catalog.ts'
import { parseCapability } from '../../domain/parse-capability.ts'
import type { Catalog } from '../../domain/ports/catalog.ts'
import type { RegistrationRow } from '../../domain/ports/records.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { type CapabilityCatalog, type CatalogEntry, silentSince } from './catalog.ts'
import { createTextIndex } from './text-search.ts'

export interface TenantEntry extends CatalogEntry {
  /** Everybody's, or registered by an agent of the tenant. */
  readonly source: 'shared' | 'registered'
}

export interface TenantCatalogs extends Catalog {
  forTenant(tenant: string): Catalog
  /** All that a tenant may see, silent ones included. */
  entries(tenant: string): readonly TenantEntry[]
  /** Those that a text speaks of, best first. */
  find(tenant: string, text: string): readonly TenantEntry[]
  /** What the store knows now takes the place of what was known before. */
  learn(rows: readonly RegistrationRow[]): void
}

interface Known {
  readonly row: RegistrationRow
  /** Absent: it cannot be used here, for it names facets that this process does not have. */
  readonly capability: Capability | undefined
}

/** What is worked out for a tenant when it is asked for, until something changes. */
interface View {
  readonly from: readonly Capability[]
  readonly active: readonly Capability[]
  found?: ReturnType<typeof createTextIndex>
}

/** `shared` is everybody's: its names come first and cannot be taken. */
export function createTenantCatalogs(shared: CapabilityCatalog): TenantCatalogs {
  const facets = createFacetCatalog(shared.facets())
  let tenants: ReadonlyMap<string, ReadonlyMap<string, Known>> = new Map()
  let views = new Map<string, View>()

  const read = ({ payload }: RegistrationRow): Capability | undefined => {
    const parsed = parseCapability(isObject(payload) ? own(payload, 'capability') : undefined)
    return parsed.ok && facets.check(parsed.value).length === 0 ? parsed.value : undefined
  }
  const registered = (tenant: string): TenantEntry[] =>
    [...(tenants.get(tenant)?.values() ?? [])].flatMap(({ row, capability }) =>
      capability && !shared.getCapabilityById(capability.capabilityId)
        ? [entryOf(row, capability, shared.unavailable(capability))]
        : [],
    )
  const entries = (tenant: string): readonly TenantEntry[] => [
    ...shared.entries().map((entry) => ({ ...entry, source: 'shared' as const })),
    ...registered(tenant),
  ]
  const viewOf = (tenant: string): View => {
    const from = shared.capabilities()
    const before = views.get(tenant)
    if (before?.from === from) return before
    const alive = registered(tenant).filter(({ status }) => status === 'active')
    const active = alive.length === 0 ? from : [...from, ...alive.map(({ capability }) => capability)]
    const view: View = { from, active }
    // Only tenants that have something of their own are kept, so that names of strangers fill no memory.
    if (tenants.has(tenant)) views.set(tenant, view)
    return view
  }

  return {
    facets: shared.facets,
    capabilities: shared.capabilities,
    capability: shared.capability,
    inactive: shared.inactive,
    forTenant: (tenant) => ({
      facets: shared.facets,
      capabilities: () => viewOf(tenant).active,
      inactive: () =>
        new Map([
          ...shared.inactive(),
          ...registered(tenant).flatMap(({ capability: { capabilityId }, reason, status, lastSeenAt }) =>
            status === 'active' ? [] : [[capabilityId, reason ?? silentSince(lastSeenAt)] as const],
          ),
        ]),
      capability: (capabilityId) =>
        shared.capability(capabilityId) ?? tenants.get(tenant)?.get(capabilityId)?.capability,
    }),
    entries,
    find(tenant, text) {
      const view = viewOf(tenant)
      const all = entries(tenant)
      if (view.found === undefined) {
        view.found = createTextIndex()
        for (const { capability } of all) view.found.add(capability)
      }
      const byId = new Map(all.map((entry) => [entry.capability.capabilityId, entry]))
      return view.found.find(text).flatMap(({ capabilityId }) => byId.get(capabilityId) ?? [])
    },
    learn(rows) {
      const next = new Map<string, Map<string, Known>>()
      for (const row of rows) {
        const before = tenants.get(row.tenant)?.get(row.capabilityId)
        // The same object as long as it says the same: what was worked out of it is found again.
        const same = before !== undefined && jsonEqual(before.row.payload, row.payload)
        const known = next.get(row.tenant) ?? new Map<string, Known>()
        known.set(row.capabilityId, { row, capability: same ? before.capability : read(row) })
        next.set(row.tenant, known)
      }
      tenants = next
      views = new Map()
    },
  }
}

function entryOf(
  { payload, status, registeredAt, heartbeatAt }: RegistrationRow,
  capability: Capability,
  reason: string | undefined,
): TenantEntry {
  const contracts = isObject(payload) ? own(payload, 'contracts') : undefined
  return {
    capability,
    source: 'registered',
    status: reason === undefined ? status : 'inactive',
    ...(reason !== undefined && { reason }),
    registeredAt,
    lastSeenAt: heartbeatAt,
    // Written by the registrar, which compiled them.
    contracts: (isObject(contracts) ? contracts : { input: {}, output: {} }) as {
      input: JsonSchema
      output: JsonSchema
    },
  }
}
