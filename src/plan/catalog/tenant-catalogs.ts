/**
 * Catalog per tenant: the shared capabilities (built in, or of this process) and the registrations of the tenant's
 * agents. Tenants cannot see each other's registrations. The store is the source of truth for registrations and
 * their liveness, so all processes agree.
 */
import { isObject, type Json, jsonEqual, own } from '../../base/json.ts'
import { createFacetCatalog, type FacetCatalog } from '../../domain/capability/collect-catalog.ts'
import { parseCapability } from '../../domain/capability/parse-capability.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Facet } from '../../domain/facet.ts'
import type { Catalog } from '../../domain/ports/catalog.ts'
import type { RegistrationRow } from '../../domain/ports/records.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { type CapabilityCatalog, type CatalogEntry, silentSince } from './catalog.ts'
import { createTextIndex } from './text-search.ts'

export interface TenantEntry extends CatalogEntry {
  /** Shared by all tenants, or registered by an agent of the tenant. */
  readonly source: 'shared' | 'registered'
}

export interface TenantCatalogs extends Catalog {
  forTenant(tenant: string): Catalog
  /** All entries visible to a tenant, inactive ones included. */
  entries(tenant: string): readonly TenantEntry[]
  /** Full-text search, best match first. */
  find(tenant: string, text: string): readonly TenantEntry[]
  /** Replaces the known registrations, and the facets of tenants, with what the store has now. */
  learn(rows: readonly RegistrationRow[], facets?: TenantFacets): void
}

/** The facets that tenants have added, by tenant. They exist beside the shared ones, whose names they cannot have. */
export type TenantFacets = ReadonlyMap<string, readonly Facet[]>

interface Known {
  readonly row: RegistrationRow
  /** Undefined if it cannot be used here because it names facets that this process does not have. */
  readonly capability: Capability | undefined
}

/** Cached view of one tenant, computed on demand and dropped when anything changes. */
interface View {
  readonly from: readonly Capability[]
  readonly active: readonly Capability[]
  found?: ReturnType<typeof createTextIndex>
}

/** The ids of `shared` take precedence: a registration cannot override them. */
export function createTenantCatalogs(shared: CapabilityCatalog): TenantCatalogs {
  const sharedFacets = createFacetCatalog(shared.facets())
  let facetsOf: TenantFacets = new Map()
  let facetCatalogs = new Map<string, FacetCatalog>()
  let tenants: ReadonlyMap<string, ReadonlyMap<string, Known>> = new Map()
  let views = new Map<string, View>()

  /** The shared facets and those of the tenant. The same list while nothing changes, so that callers can compare it. */
  const getFacetCatalog = (tenant: string): FacetCatalog => {
    const own = facetsOf.get(tenant)
    if (own === undefined) return sharedFacets
    const known = facetCatalogs.get(tenant) ?? createFacetCatalog([...shared.facets(), ...own])
    facetCatalogs.set(tenant, known)
    return known
  }
  const read = ({ tenant, payload }: RegistrationRow): Capability | undefined => {
    const parsed = parseCapability(isObject(payload) ? own(payload, 'capability') : undefined)
    return parsed.ok && getFacetCatalog(tenant).check(parsed.value).length === 0 ? parsed.value : undefined
  }
  const registered = (tenant: string): TenantEntry[] =>
    [...(tenants.get(tenant)?.values() ?? [])].flatMap(({ row, capability }) =>
      capability && !shared.getCapabilityById(capability.capabilityId)
        ? [toEntry(row, capability, shared.unavailable(capability))]
        : [],
    )
  const entries = (tenant: string): readonly TenantEntry[] => [
    ...shared.entries().map((entry) => ({ ...entry, source: 'shared' as const })),
    ...registered(tenant),
  ]
  const toView = (tenant: string): View => {
    const from = shared.capabilities()
    const before = views.get(tenant)
    if (before?.from === from) return before
    const alive = registered(tenant).filter(({ status }) => status === 'active')
    const active = alive.length === 0 ? from : [...from, ...alive.map(({ capability }) => capability)]
    const view: View = { from, active }
    // Cache only tenants with registrations of their own, so that requests with arbitrary tenant names cannot fill the
    // memory.
    if (tenants.has(tenant)) views.set(tenant, view)
    return view
  }

  return {
    facets: shared.facets,
    capabilities: shared.capabilities,
    capability: shared.capability,
    inactive: shared.inactive,
    forTenant: (tenant) => ({
      facets: () => (facetsOf.has(tenant) ? getFacetCatalog(tenant).list() : shared.facets()),
      capabilities: () => toView(tenant).active,
      inactive() {
        const own = registered(tenant).filter(({ status }) => status !== 'active')
        if (own.length === 0) return shared.inactive()
        return new Map([
          ...shared.inactive(),
          ...own.map(
            ({ capability, reason, lastSeenAt }) =>
              [capability.capabilityId, reason ?? silentSince(lastSeenAt)] as const,
          ),
        ])
      },
      capability: (capabilityId) =>
        shared.capability(capabilityId) ?? tenants.get(tenant)?.get(capabilityId)?.capability,
    }),
    entries,
    find(tenant, text) {
      const view = toView(tenant)
      const all = entries(tenant)
      if (view.found === undefined) {
        view.found = createTextIndex()
        for (const { capability } of all) view.found.add(capability)
      }
      const byId = new Map(all.map((entry) => [entry.capability.capabilityId, entry]))
      return view.found.find(text).flatMap(({ capabilityId }) => byId.get(capabilityId) ?? [])
    },
    learn(rows, facets = facetsOf) {
      const hasChanged = !isSameFacets(facets, facetsOf)
      if (hasChanged) {
        facetsOf = facets
        facetCatalogs = new Map()
      }
      const next = new Map<string, Map<string, Known>>()
      for (const row of rows) {
        const before = tenants.get(row.tenant)?.get(row.capabilityId)
        // Keep the same object while the payload is unchanged, so that caches keyed by the object are hit.
        const same = !hasChanged && before !== undefined && jsonEqual(before.row.payload, row.payload)
        const known = next.get(row.tenant) ?? new Map<string, Known>()
        known.set(row.capabilityId, { row, capability: same ? before.capability : read(row) })
        next.set(row.tenant, known)
      }
      tenants = next
      views = new Map()
    },
  }
}

function isSameFacets(one: TenantFacets, other: TenantFacets): boolean {
  const toJson = (facets: TenantFacets) =>
    [...facets].map(([tenant, own]) => [tenant, ...own]) as unknown as Json
  return one === other || jsonEqual(toJson(one), toJson(other))
}

function toEntry(
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
    // The registrar compiled and wrote them.
    contracts: (isObject(contracts) ? contracts : { input: {}, output: {} }) as {
      input: JsonSchema
      output: JsonSchema
    },
  }
}
