/**
 * Registers, renews and removes agents over HTTP. A registration passes the same checks as every other capability (facets,
 * conditions, compiled contracts), its URL is checked against the address filter, and it is stored under its tenant.
 */

import { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { SigningKey } from '../../domain/capability/endpoint.ts'
import { below } from '../../domain/parse/parsed.ts'
import type { Documents } from '../../domain/ports/documents.ts'
import type { Operations } from '../../domain/ports/operations.ts'
import type { RegistrationRow, Registrations, Role } from '../../domain/ports/records.ts'
import { conditionIssues } from '../../engine/decide/checks/conditions.ts'
import { type CatalogEntry, createCatalog, type TenantCatalogs, type TenantEntry } from '../../plan/index.ts'
import { type EndpointSeal, renewKeys } from './endpoint-seal.ts'
import type { LivingCatalog } from './live-catalog.ts'
import { type Resealed, type ResealRequest, resealEndpoints } from './reseal.ts'

/** The caller, as identified by its token. */
interface Registrant {
  readonly tenant: string
  readonly role: Role
  readonly tokenId: string
  /** For the operations audit. */
  readonly name?: string
  readonly capabilityId?: string
  /** The first token of a series of rotations: registrations stay with the series. */
  readonly familyId?: string
}

/** A registration as submitted: the fields of a capability, and how to call it. */
export interface GivenRegistration {
  readonly capabilityId: string
  /** Where the agent is called. Without an endpoint, this server runs the capability with a model. */
  readonly endpoint?: { readonly url?: string; readonly poll?: true; readonly timeoutMs?: number }
  readonly auth?: { readonly kind: 'bearer'; readonly token: string }
  /** Requests a new signing key, because the old one is lost or leaked. */
  readonly rotateKey?: boolean
  readonly [field: string]: unknown
}

interface Registered {
  readonly row: RegistrationRow
  readonly entry: CatalogEntry
  /** Expected heartbeat interval, and the silence after which the agent counts as inactive; people send none. */
  readonly heartbeat?: Heartbeat
  /** Present only when a new key was created; it is not shown again. */
  readonly signingKey?: SigningKey
  readonly warnings: readonly Issue[]
}

interface Heartbeat {
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
  /** Throws if the caller may not work for this agent, or the agent does not poll. */
  authoriseWorker(by: Registrant, capabilityId: string): Promise<void>
  deregister(by: Registrant, capabilityId: string): Promise<void>
  /** Encrypts the secrets of a tenant's agents with the newest key. */
  reseal(request: ResealRequest): Promise<Resealed>
  list(tenant: string, query: ListQuery): readonly TenantEntry[]
}

export interface RegistrarOptions {
  readonly registrations: Registrations
  readonly operations: Operations
  readonly documents: Documents
  readonly catalogs: TenantCatalogs
  readonly living: LivingCatalog
  readonly clock: Clock
  readonly seal: EndpointSeal
  /** Returns an issue if this URL must not be called. */
  readonly inspectUrl: (url: string) => Promise<Issue | undefined>
}

/** Maximum registrations per tenant, inactive ones included: every process keeps them in memory. */
export const mostPerTenant = 1_000
/** Default heartbeat interval. */
const usualInterval = 60
/** How long a registration without heartbeats stays active: a hundred years. */
const withoutHeartbeatMs = 100 * 365 * 86_400_000
/** Number of heartbeats an agent may miss. */
const missable = 3

export function createRegistrar(options: RegistrarOptions): Registrar {
  const { registrations, catalogs, living, clock, seal } = options

  /** Reads the store instead of the cache: another process may have registered it a moment ago. */
  const stored = async ({ tenant }: Registrant, capabilityId: string) => {
    const rows = await registrations.list({ tenant })
    return { row: rows.find((row) => row.capabilityId === capabilityId), count: rows.length }
  }
  const owned = async (by: Registrant, capabilityId: string): Promise<RegistrationRow> => {
    assertTokenAllows(by, capabilityId)
    const { row } = await stored(by, capabilityId)
    if (row === undefined)
      throw new ProvisoError('capability/unregistered', `Registration "${capabilityId}" not found`)
    if (row.tokenId !== getOwner(by) && by.role !== 'admin')
      throw new ProvisoError('capability/forbidden', `"${capabilityId}" was registered with another token`)
    return row
  }

  return {
    async register(by, given) {
      const { endpoint, auth, rotateKey = false, capabilityId } = given
      assertTokenAllows(by, capabilityId)
      assertRoleAllows(by, given)
      if (catalogs.capability(capabilityId) !== undefined)
        throw new ProvisoError(
          'capability/taken',
          `Cannot register "${capabilityId}": it is a capability of the server`,
          {
            hint: 'Choose another capabilityId',
          },
        )
      // It may name a facet that another process has just defined.
      await living.update(by.tenant)
      const { entry, warnings } = await checkRegistration(given, by.tenant, options)
      const { row: before, count } = await stored(by, capabilityId)
      if (before === undefined && count >= mostPerTenant)
        throw new ProvisoError(
          'capability/limit',
          `Cannot register more capabilities: the tenant has ${count} registrations`,
        )
      // Keys that cannot be decrypted are lost: the agent gets a new one.
      const ours = before?.tokenId === getOwner(by) ? seal.open(before) : undefined
      const renewed = endpoint && {
        endpoint,
        ...renewKeys(typeof ours === 'object' ? ours.keys : [], { rotate: rotateKey, now: clock.now() }),
      }
      const heartbeat = toHeartbeat(entry)
      const key = { tenant: by.tenant, capabilityId }
      const bearer = auth && { bearer: auth.token }
      const changed = {
        ...key,
        // Plain JSON: parsed and compiled.
        payload: { capability: entry.capability, contracts: entry.contracts } as unknown as Json,
        endpoint: renewed ? seal.seal(key, { ...renewed.endpoint, keys: renewed.keys, ...bearer }) : null,
        ttlMs: heartbeat ? heartbeat.timeoutSeconds * 1_000 : withoutHeartbeatMs,
        tokenId: getOwner(by),
      }
      const row = await registrations.put(changed, { by: signed(by) })
      if (row === undefined)
        throw new ProvisoError(
          'capability/taken',
          `Cannot register "${capabilityId}": another active agent owns it`,
        )
      await living.refresh()
      // Workers sign with the keys of their calls.
      const issued = endpoint?.poll ? undefined : renewed?.issued
      const inactive = catalogs.forTenant(by.tenant).inactive?.().get(capabilityId)
      return {
        row,
        entry,
        ...(heartbeat && { heartbeat }),
        warnings: [...warnings, ...inactiveWarning(inactive)],
        ...(issued && { signingKey: issued }),
      }
    },
    authoriseWorker: (by, capabilityId) => authoriseWorker(by, capabilityId, { living, owned }),
    async heartbeat(by, capabilityId) {
      await owned(by, capabilityId)
      const row = await registrations.beat({ tenant: by.tenant, capabilityId })
      if (row === undefined)
        throw new ProvisoError('capability/unregistered', `Registration "${capabilityId}" not found`)
      if (living.findRow(row)?.status !== 'active') await living.refresh()
      return row
    },
    async deregister(by, capabilityId) {
      await owned(by, capabilityId)
      await registrations.remove({ tenant: by.tenant, capabilityId }, { by: signed(by) })
      await living.refresh()
    },
    async reseal(request) {
      const done = await resealEndpoints(options, seal, request)
      await living.refresh()
      return done
    },
    list: (tenant, query) => listAgents(catalogs, tenant, query),
  }
}

/** The id that owns a registration: the same for all tokens of a series of rotations. */
function getOwner({ tokenId, familyId = tokenId }: Registrant): string {
  return familyId
}

/** How the operations audit names the caller. */
function signed({ tokenId, name = tokenId }: Registrant): string {
  return name === tokenId ? tokenId : `${name} (${tokenId})`
}

/** Throws if an agent token is restricted to another capability. */
function assertTokenAllows({ role, capabilityId: own }: Registrant, capabilityId: string): void {
  if (role === 'admin' || own === undefined || own === capabilityId) return
  throw new ProvisoError(
    'capability/forbidden',
    `The token is valid for "${own}" only, not for "${capabilityId}"`,
  )
}

function listAgents(
  catalogs: TenantCatalogs,
  tenant: string,
  { text, facet, status, limit = 100 }: ListQuery,
): readonly TenantEntry[] {
  const all = text === undefined ? catalogs.entries(tenant) : catalogs.find(tenant, text)
  return all
    .filter((entry) => status === undefined || entry.status === status)
    .filter(({ capability }) => facet === undefined || names(capability).includes(facet))
    .slice(0, limit)
}

async function authoriseWorker(
  by: Registrant,
  capabilityId: string,
  {
    living,
    owned,
  }: {
    readonly living: LivingCatalog
    readonly owned: (by: Registrant, capabilityId: string) => Promise<RegistrationRow>
  },
): Promise<void> {
  assertTokenAllows(by, capabilityId)
  if (!isOwnAgent(living, by, capabilityId)) {
    // Another process may have registered it a moment ago.
    await owned(by, capabilityId)
    await living.refresh()
  }
  assertPolls(living, by, capabilityId)
}

/** Whether the cache has the registration, and it belongs to the token. */
function isOwnAgent(living: LivingCatalog, by: Registrant, capabilityId: string): boolean {
  const row = living.findRow({ tenant: by.tenant, capabilityId })
  return row !== undefined && (row.tokenId === getOwner(by) || by.role === 'admin')
}

/** Throws if the calls of the agent are not to be taken. */
function assertPolls(living: LivingCatalog, { tenant }: Registrant, capabilityId: string): void {
  if (living.findEndpoint({ tenant, capabilityId })?.poll === true) return
  throw new ProvisoError('capability/forbidden', `"${capabilityId}" does not poll`, {
    hint: 'Register it with `endpoint: { "poll": true }` to take its calls',
  })
}

/** Throws if an operator, who may register people, registers something else. */
function assertRoleAllows({ role }: Registrant, given: GivenRegistration): void {
  if (role !== 'operator' || getKind(given) === 'human') return
  throw new ProvisoError('capability/forbidden', 'The role operator registers people, not agents', {
    hint: 'Add `human` to register a person, or use a token with the role agent',
  })
}

/** Runs the checks for the process's own capabilities on a temporary catalog, and reports all issues at once. */
async function checkRegistration(
  given: GivenRegistration,
  tenant: string,
  { catalogs, clock, inspectUrl }: RegistrarOptions,
) {
  const { endpoint, auth, rotateKey, ...data } = given
  const kind = getKind(given)
  const issues: Issue[] = []
  if ((data['kind'] ?? kind) !== kind)
    issues.push(
      toWireIssue(
        '/kind',
        `a registration ${endpoint ? 'with' : 'without'} an endpoint is of kind "${kind}"`,
        'Omit `kind`',
      ),
    )
  if (endpoint !== undefined && data['human'] !== undefined)
    issues.push(
      toWireIssue(
        '/human',
        'a person has no endpoint',
        'Remove `endpoint`, or remove `human` to register an agent',
      ),
    )
  for (const [name, value] of Object.entries({ auth, rotateKey }))
    if (endpoint === undefined && value !== undefined)
      issues.push(toWireIssue(`/${name}`, `${name} requires an endpoint`, 'Add endpoint.url, or remove it'))
  if (data['settings'] !== undefined)
    issues.push(toWireIssue('/settings', 'settings cannot be registered over HTTP', 'Use metadata instead'))
  if (endpoint !== undefined && (endpoint.url === undefined) === (endpoint.poll === undefined))
    issues.push(
      toWireIssue(
        '/endpoint',
        'an endpoint has either `url` or `poll`',
        'Set `url` to the address of the agent, or `poll` to true if its workers take the calls',
      ),
    )
  if (endpoint?.poll !== undefined && auth !== undefined)
    issues.push(toWireIssue('/auth', 'an agent that polls is not called', 'Remove `auth`'))
  const address = endpoint?.url === undefined ? undefined : await inspectUrl(endpoint.url)
  if (address) issues.push(below('/endpoint/url', address))
  const draft = createCatalog({ facets: catalogs.forTenant(tenant).facets(), clock })
  const settings = kind === 'model' && { settings: { instructions: toInstructions(data) } }
  const parsed = draft.register({ ...data, kind, ...settings }, { checkCondition: conditionIssues })
  if (!parsed.ok) issues.push(...parsed.issues)
  if (parsed.ok && issues.length === 0) return { entry: parsed.value, warnings: parsed.warnings }
  throw new ProvisoError('capability/invalid', `Cannot use the registration: ${issues[0]?.message ?? ''}`, {
    issues,
  })
}

/** Agents have an endpoint; people have `human`; this server runs everything else with a model. */
function getKind({ endpoint, kind, human }: GivenRegistration): 'http' | 'human' | 'model' {
  if (endpoint !== undefined) return 'http'
  return kind === 'human' || human !== undefined ? 'human' : 'model'
}

/** Builds the system prompt for an agent without an endpoint from its registration. */
function toInstructions(data: { readonly [field: string]: unknown }): string {
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

function toWireIssue(pointer: string, message: string, hint: string): Issue {
  return { code: 'capability/wire', at: { pointer }, message, hint }
}

function toHeartbeat({ capability }: CatalogEntry): Heartbeat | undefined {
  if (capability.kind === 'human' && capability.heartbeat === undefined) return undefined
  const { heartbeat = {} } = capability
  const { intervalSeconds = usualInterval } = heartbeat
  return { intervalSeconds, timeoutSeconds: heartbeat.timeoutSeconds ?? intervalSeconds * missable }
}

function names({ inputContract, outputContract }: TenantEntry['capability']): readonly unknown[] {
  return [inputContract, outputContract].flatMap((side) => (Array.isArray(side) ? side : []))
}
