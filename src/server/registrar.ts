/**
 * Who works here: agents register over the wire, give signs of life and leave. A registration is checked like every other
 * capability (facets, conditions, compiled contracts), its address is looked at, and it is stored under its tenant.
 */
import type { Clock } from '../base/clock.ts'
import { ProvisoError } from '../base/error.ts'
import type { Issue } from '../base/issue.ts'
import { isObject, type Json, own } from '../base/json.ts'
import type { SigningKey } from '../domain/endpoint.ts'
import { below } from '../domain/parsed.ts'
import type { RegistrationRow, Registrations, Role } from '../domain/ports/records.ts'
import { conditionIssues } from '../engine/conditions.ts'
import { type CatalogEntry, createCatalog, type TenantCatalogs, type TenantEntry } from '../plan/index.ts'
import type { EndpointSeal } from './endpoint-seal.ts'
import type { LivingCatalog } from './living-catalog.ts'
import { renewKeys } from './signing-keys.ts'

/** Who speaks, as its token says. */
export interface Registrant {
  readonly tenant: string
  readonly role: Role
  readonly tokenId: string
  readonly capabilityId?: string
}

/** A registration as it comes: a capability's fields, and how it is called. */
export interface GivenRegistration {
  readonly capabilityId: string
  /** Where it is called. Without one, this server carries it out with a model. */
  readonly endpoint?: { readonly url: string; readonly timeoutMs?: number }
  readonly auth?: { readonly kind: 'bearer'; readonly token: string }
  /** A new signing key is wanted, because the old one is lost or known to others. */
  readonly rotateKey?: boolean
  readonly [field: string]: unknown
}

export interface Registered {
  readonly row: RegistrationRow
  readonly entry: CatalogEntry
  /** How often a sign of life is wanted, and after how much silence it counts as gone. */
  readonly heartbeat: Heartbeat
  /** New ones are shown this once. */
  readonly signingKey?: SigningKey
  readonly warnings: readonly Issue[]
}

export interface Heartbeat {
  readonly intervalSeconds: number
  readonly timeoutSeconds: number
}

export interface ListQuery {
  readonly text?: string
  readonly facet?: string
  readonly status?: 'active' | 'inactive'
  readonly limit?: number
}

export interface Registrar {
  register(by: Registrant, given: GivenRegistration): Promise<Registered>
  heartbeat(by: Registrant, capabilityId: string): Promise<RegistrationRow>
  deregister(by: Registrant, capabilityId: string): Promise<void>
  list(tenant: string, query: ListQuery): readonly TenantEntry[]
}

export interface RegistrarOptions {
  readonly registrations: Registrations
  readonly catalogs: TenantCatalogs
  readonly living: LivingCatalog
  readonly clock: Clock
  readonly seal: EndpointSeal
  /** What speaks against calling this address. */
  readonly inspectUrl: (url: string) => Promise<Issue | undefined>
}

/** Most registrations of one tenant, silent ones included: each is held in the memory of every process. */
export const mostPerTenant = 1_000
/** Where an agent says nothing of its own. */
const usualInterval = 60
/** Signs of life that may be missed. */
const missable = 3

export function createRegistrar(options: RegistrarOptions): Registrar {
  const { registrations, catalogs, living, clock, seal } = options

  /** From the store and not from what is known here: another process may have taken it a moment ago. */
  const stored = async ({ tenant }: Registrant, capabilityId: string) => {
    const rows = await registrations.list({ tenant })
    return { row: rows.find((row) => row.capabilityId === capabilityId), count: rows.length }
  }
  const owned = async (by: Registrant, capabilityId: string): Promise<RegistrationRow> => {
    mayUse(by, capabilityId)
    const { row } = await stored(by, capabilityId)
    if (row === undefined)
      throw new ProvisoError('capability/unregistered', `No agent has registered "${capabilityId}"`)
    if (row.tokenId !== by.tokenId && by.role !== 'admin')
      throw new ProvisoError('capability/forbidden', `"${capabilityId}" was registered with another token`)
    return row
  }

  return {
    async register(by, given) {
      const { endpoint, auth, rotateKey = false, capabilityId } = given
      mayUse(by, capabilityId)
      if (catalogs.capability(capabilityId) !== undefined)
        throw new ProvisoError('capability/taken', `"${capabilityId}" is a capability of the server itself`, {
          hint: 'Choose another capabilityId',
        })
      const { entry, warnings } = await checked(given, options)
      const { row: before, count } = await stored(by, capabilityId)
      if (before === undefined && count >= mostPerTenant)
        throw new ProvisoError(
          'capability/limit',
          `The tenant has ${count} registrations, and no more may come`,
        )
      // Keys that cannot be opened any more are lost: the agent gets a new one.
      const ours = before?.tokenId === by.tokenId ? seal.open(before) : undefined
      const renewed = endpoint && {
        endpoint,
        ...renewKeys(typeof ours === 'object' ? ours.keys : [], { rotate: rotateKey, now: clock.now() }),
      }
      const heartbeat = heartbeatOf(entry)
      const row = await registrations.put({
        tenant: by.tenant,
        capabilityId,
        // Plain JSON: parsed, compiled, and nothing else.
        payload: { capability: entry.capability, contracts: entry.contracts } as unknown as Json,
        endpoint: renewed
          ? seal.seal(
              { tenant: by.tenant, capabilityId },
              { ...renewed.endpoint, keys: renewed.keys, ...(auth && { bearer: auth.token }) },
            )
          : null,
        ttlMs: heartbeat.timeoutSeconds * 1_000,
        tokenId: by.tokenId,
      })
      if (row === undefined)
        throw new ProvisoError('capability/taken', `"${capabilityId}" belongs to another agent that is alive`)
      await living.refresh()
      const issued = renewed?.issued
      const inactive = catalogs.forTenant(by.tenant).inactive?.().get(capabilityId)
      return {
        row,
        entry,
        heartbeat,
        warnings: [...warnings, ...inactiveWarning(inactive)],
        ...(issued && { signingKey: issued }),
      }
    },
    async heartbeat(by, capabilityId) {
      await owned(by, capabilityId)
      const row = await registrations.beat({ tenant: by.tenant, capabilityId })
      if (row === undefined)
        throw new ProvisoError('capability/unregistered', `No agent has registered "${capabilityId}"`)
      if (living.rowOf(row)?.status !== 'active') await living.refresh()
      return row
    },
    async deregister(by, capabilityId) {
      await owned(by, capabilityId)
      await registrations.remove({ tenant: by.tenant, capabilityId })
      await living.refresh()
    },
    list(tenant, { text, facet, status, limit = 100 }) {
      const all = text === undefined ? catalogs.entries(tenant) : catalogs.find(tenant, text)
      return all
        .filter((entry) => status === undefined || entry.status === status)
        .filter(({ capability }) => facet === undefined || names(capability).includes(facet))
        .slice(0, limit)
    },
  }
}

/** An agent's token that was made for one capability is good for no other. */
function mayUse({ role, capabilityId: own }: Registrant, capabilityId: string): void {
  if (role === 'admin' || own === undefined || own === capabilityId) return
  throw new ProvisoError('capability/forbidden', `This token is for "${own}" and not for "${capabilityId}"`)
}

/** The same checks that the process's own capabilities go through, on a catalog that is thrown away; all issues at once. */
async function checked(given: GivenRegistration, { catalogs, clock, inspectUrl }: RegistrarOptions) {
  const { endpoint, auth, rotateKey, ...data } = given
  const kind = endpoint === undefined ? 'model' : 'http'
  const issues: Issue[] = []
  if ((data['kind'] ?? kind) !== kind)
    issues.push(
      wireOnly(
        '/kind',
        `a registration ${endpoint ? 'with' : 'without'} an endpoint is of kind "${kind}"`,
        'Leave `kind` out',
      ),
    )
  for (const [name, value] of Object.entries({ auth, rotateKey }))
    if (endpoint === undefined && value !== undefined)
      issues.push(wireOnly(`/${name}`, `${name} belongs to an endpoint`, 'Add endpoint.url, or remove it'))
  if (data['settings'] !== undefined)
    issues.push(wireOnly('/settings', 'settings are not taken over the wire', 'Put it into metadata'))
  const address = endpoint && (await inspectUrl(endpoint.url))
  if (address) issues.push(below('/endpoint/url', address))
  const draft = createCatalog({ facets: catalogs.facets(), clock })
  const settings = endpoint === undefined && { settings: { instructions: instructionsOf(data) } }
  const parsed = draft.register(
    { ...data, kind, ...settings },
    { facetsOnly: true, checkCondition: conditionIssues },
  )
  if (!parsed.ok) issues.push(...parsed.issues)
  if (parsed.ok && issues.length === 0) return { entry: parsed.value, warnings: parsed.warnings }
  throw new ProvisoError(
    'capability/invalid',
    `The registration cannot be used: ${issues[0]?.message ?? ''}`,
    {
      issues,
    },
  )
}

/** What a model is told that works as an agent without an endpoint: what its registration says of it. */
function instructionsOf(data: { readonly [field: string]: unknown }): string {
  const traits = isObject(data['inputTraits']) ? data['inputTraits'] : {}
  const list = (name: string) => {
    const words = own(traits, name)
    return Array.isArray(words) && words.length > 0 ? words.join(', ') : undefined
  }
  const lines = [
    `You work as "${String(data['displayName'])}". ${String(data['summary'])}`,
    ['Languages', list('languages')],
    ['Formats', list('formats')],
    ['Strengths', list('strengths')],
    ['Limitations, never to be broken', list('limitations')],
  ]
  return lines
    .flatMap((line) =>
      typeof line === 'string' ? line : line[1] === undefined ? [] : `${line[0]}: ${line[1]}.`,
    )
    .join('\n')
}

function inactiveWarning(reason: string | undefined): Issue[] {
  if (reason === undefined) return []
  return [
    { code: 'capability/inactive', at: { pointer: '' }, message: `registered, but inactive: ${reason}` },
  ]
}

function wireOnly(pointer: string, message: string, hint: string): Issue {
  return { code: 'capability/wire', at: { pointer }, message, hint }
}

function heartbeatOf({ capability: { heartbeat = {} } }: CatalogEntry): Heartbeat {
  const { intervalSeconds = usualInterval } = heartbeat
  return { intervalSeconds, timeoutSeconds: heartbeat.timeoutSeconds ?? intervalSeconds * missable }
}

function names({ inputContract, outputContract }: TenantEntry['capability']): readonly unknown[] {
  return [inputContract, outputContract].flatMap((side) => (Array.isArray(side) ? side : []))
}
