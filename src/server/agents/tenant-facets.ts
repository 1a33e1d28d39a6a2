/**
 * Facets that tenants define over HTTP. A facet never changes once it is defined: contracts of registered agents were compiled
 * from it, and a new meaning needs a new name.
 */
import { ProvisoError } from '../../base/errors/error.ts'
import { type Json, jsonEqual } from '../../base/json.ts'
import type { Facet } from '../../domain/facet.ts'
import type { Documents } from '../../domain/ports/documents.ts'
import type { Registrations } from '../../domain/ports/records.ts'
import { createFacetCatalog, parseFacet, type TenantCatalogs, type TenantFacets } from '../../plan/index.ts'

export interface FacetServices {
  /** All facets that a tenant can use; its own have the source `tenant`. */
  list(tenant: string): Promise<readonly ListedFacet[]>
  /** Defines a facet. The same definition again has no effect. */
  add(by: Defining, given: unknown): Promise<{ readonly facet: Facet; readonly isNew: boolean }>
  remove(by: Defining, name: string): Promise<void>
}

export interface ListedFacet {
  readonly facet: Facet
  readonly source: 'shared' | 'tenant'
}

interface Defining {
  readonly tenant: string
  readonly by: string
}

interface FacetOptions {
  readonly documents: Documents
  readonly registrations: Registrations
  readonly catalogs: TenantCatalogs
  readonly living: { refresh(): Promise<void> }
}

/** Every process keeps them in memory, and planners read them all. */
const mostFacets = 200

export function createFacetServices({
  documents,
  registrations,
  catalogs,
  living,
}: FacetOptions): FacetServices {
  const own = async (tenant: string) => (await readTenantFacets(documents, tenant)).get(tenant) ?? []
  return {
    async list(tenant) {
      return [
        ...catalogs.facets().map((facet) => ({ facet, source: 'shared' as const })),
        ...(await own(tenant)).map((facet) => ({ facet, source: 'tenant' as const })),
      ]
    },
    async add({ tenant, by }, given) {
      const parsed = parseFacet(given)
      if (!parsed.ok)
        throw new ProvisoError('facet/invalid', `Cannot use the facet: ${parsed.issues[0]?.message ?? ''}`, {
          issues: parsed.issues,
        })
      const facet = parsed.value
      const { name } = facet
      if (catalogs.facets().some((shared) => shared.name === name))
        throw new ProvisoError('facet/taken', `Cannot define "${name}": it is a facet of the server`)
      const before = await own(tenant)
      const same = before.find((each) => each.name === name)
      if (same) return requireSame(same, facet)
      if (before.length >= mostFacets) throw tooMany(before.length)
      checkTogether([...catalogs.facets(), ...before, facet])
      const operation = { tenant, by, action: 'facet.created', subject: name, details: {} } as const
      // Plain JSON: parsed.
      const body = facet as unknown as Json
      const row = await documents.add({ kind: 'facet', tenant, id: name, body }, { operation })
      // Others may have defined some since the count: the last of them to count again sees all.
      if (row !== undefined && (await own(tenant)).length > mostFacets) {
        await documents.remove(row, { operation: { ...operation, action: 'facet.removed' } })
        throw tooMany(mostFacets)
      }
      await living.refresh()
      if (row !== undefined) return { facet, isNew: true }
      const [other] = (await own(tenant)).filter((each) => each.name === name)
      return other ? requireSame(other, facet) : { facet, isNew: false }
    },
    async remove({ tenant, by }, name) {
      const known = await own(tenant)
      if (!known.some((facet) => facet.name === name))
        throw new ProvisoError('facet/unknown', `Facet "${name}" of this tenant not found`)
      const users = [
        ...known.filter(({ metadata }) => metadata.dependencies?.includes(name)).map((facet) => facet.name),
        ...(await registrations.list({ tenant }))
          .filter(({ payload }) => listNamed(payload).includes(name))
          .map(({ capabilityId }) => capabilityId),
      ]
      if (users.length > 0)
        throw new ProvisoError(
          'facet/in-use',
          `Cannot delete "${name}": ${users.slice(0, 10).join(', ')} use it`,
        )
      const operation = { tenant, by, action: 'facet.removed', subject: name, details: {} } as const
      await documents.remove({ kind: 'facet', tenant, id: name }, { operation })
      await living.refresh()
    },
  }
}

/** Reads the facets of all tenants, or of one, oldest first. */
export async function readTenantFacets(documents: Documents, tenant?: string): Promise<TenantFacets> {
  const rows = await documents.list({ kind: 'facet', ...(tenant !== undefined && { tenant }) })
  const found = new Map<string, Facet[]>()
  for (const row of rows.reverse()) {
    const parsed = parseFacet(row.body)
    if (parsed.ok) found.set(row.tenant, [...(found.get(row.tenant) ?? []), parsed.value])
  }
  return found
}

function requireSame(before: Facet, facet: Facet): { readonly facet: Facet; readonly isNew: boolean } {
  if (jsonEqual(before as unknown as Json, facet as unknown as Json)) return { facet: before, isNew: false }
  throw new ProvisoError('facet/taken', `Cannot change "${facet.name}": it is defined in another way`)
}

function tooMany(count: number): ProvisoError {
  return new ProvisoError('facet/limit', `Cannot define more facets: the tenant has ${count}`)
}

/** Throws if the new facet depends on one that is not there. */
function checkTogether(facets: readonly Facet[]): void {
  try {
    createFacetCatalog(facets)
  } catch (cause) {
    if (!ProvisoError.is(cause)) throw cause
    throw new ProvisoError('facet/invalid', cause.message, { ...(cause.issues && { issues: cause.issues }) })
  }
}

/** Names of the facets in the contracts of a registered capability. */
function listNamed(payload: Json): readonly unknown[] {
  // The registrar wrote it.
  const { capability } = payload as unknown as {
    capability?: { readonly inputContract?: unknown; readonly outputContract?: unknown }
  }
  return [capability?.inputContract, capability?.outputContract].flatMap((side) =>
    Array.isArray(side) ? side : [],
  )
}
