/**
 * Registry of capabilities with heartbeats: a capability becomes inactive when its heartbeats stop. Time is passed in
 * and there are no timers; the status is computed on read. Planners, prover and engine use it through the `Catalog`
 * port.
 */

import { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import { createFacetCatalog } from '../../domain/capability/collect-catalog.ts'
import { type ParseCapabilityOptions, parseCapability } from '../../domain/capability/parse-capability.ts'
import type { Capability } from '../../domain/capability.ts'
import type { Envelope } from '../../domain/envelope.ts'
import type { Facet } from '../../domain/facet.ts'
import type { Parsed } from '../../domain/parse/parsed.ts'
import type { Catalog } from '../../domain/ports/catalog.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { withBuiltins } from '../builtin-capabilities.ts'
import type { RegisterIssueCode } from '../issue-table.ts'
import { compileContract } from './compile-facets.ts'
import { collectSupport, type Derived, derive } from './derive.ts'
import { type FacetsByName, facetsByName, getPorts, isFacetList, standIns } from './ports.ts'
import { type CapabilityScore, defaultCutoff, readHints, scoreCapability } from './score.ts'
import { createTextIndex } from './text-search.ts'

export interface CatalogOptions {
  readonly facets: readonly Facet[]
  readonly clock: { now(): number }
  /**
   * Time without a heartbeat after which a capability is inactive, unless it declares its own interval. Default: never.
   */
  readonly timeoutMs?: number
  /** Returns why a capability cannot run here, such as a model without a provider. Default: all can run. */
  readonly unavailable?: (capability: Capability) => string | undefined
  /**
   * Maximum number of entries, active or not; a full catalog evicts the inactive entry seen longest ago. Default
   * 10,000.
   */
  readonly maxEntries?: number
  /** Score below which `rank` omits a capability. Default 0.35. */
  readonly cutoff?: number
}

export interface CatalogEntry {
  readonly capability: Capability
  readonly status: 'active' | 'inactive'
  /** Why it is inactive, if not for missing heartbeats. */
  readonly reason?: string
  readonly registeredAt: number
  readonly lastSeenAt: number
  /** The contracts as schemas: the single source of truth about input and output (FLEX-97). */
  readonly contracts: { readonly input: JsonSchema; readonly output: JsonSchema }
}

export interface RegisterOptions extends ParseCapabilityOptions {
  /** The capability runs in this process and needs no heartbeat. Default false. */
  readonly pinned?: boolean
}

export interface Ranked {
  readonly capability: Capability
  readonly score: CapabilityScore
}

export interface CapabilityCatalog extends Catalog {
  /** Adds or replaces an entry. Returns issues if it cannot be parsed, names unknown facets, or the catalog is full. */
  register(given: unknown, options?: RegisterOptions): Parsed<CatalogEntry, RegisterIssueCode>
  /** Records a heartbeat; false if the capability is unknown. */
  heartbeat(capabilityId: string): boolean
  deregister(capabilityId: string): boolean
  inactive(): ReadonlyMap<string, string>
  /** Returns why a capability cannot run here. */
  unavailable(capability: Capability): string | undefined
  listActive(): readonly Capability[]
  getCapabilityById(capabilityId: string): CatalogEntry | undefined
  entries(): readonly CatalogEntry[]
  /** Full-text search over the active capabilities, best match first. */
  find(text: string, limit?: number): readonly Capability[]
  /**
   * Active capabilities that supply any of these properties or facets, by score, best first; scores below the cut-off
   * are omitted.
   */
  rank(envelope: Envelope, wanted: readonly string[]): readonly Ranked[]
  /** Active capabilities that can replace this one: they supply all of its outputs and need no further inputs. */
  fallbacks(capabilityId: string): readonly Capability[]
  /** Agents that support this combination of facets although no capability declares it. */
  derive(wanted: {
    readonly input: readonly string[]
    readonly output: readonly string[]
  }): readonly Derived[]
}

interface Held extends Omit<CatalogEntry, 'status' | 'lastSeenAt'> {
  lastSeenAt: number
  /** Allowed milliseconds without a heartbeat; undefined for capabilities of this process. */
  readonly timeoutMs: number | undefined
}

/** Reason of a capability that could run but whose heartbeats stopped. */
export function silentSince(lastSeenAt: number): string {
  return `its agent sent no heartbeat since ${new Date(lastSeenAt).toISOString()}`
}

const none: ReadonlyMap<string, string> = new Map()

/** Number of heartbeats that may be missed. */
const missable = 3

export function createCatalog(options: CatalogOptions): CapabilityCatalog {
  const { facets, clock, maxEntries = 10_000, cutoff = defaultCutoff } = options
  const unavailable = options.unavailable ?? (() => undefined)
  const facetCatalog = createFacetCatalog(facets)
  const byName = facetsByName(facets)
  const held = createEntries(clock, maxEntries)
  const { listActive } = held

  return {
    facets: () => facets,
    capabilities: listActive,
    capability: (capabilityId) => held.get(capabilityId)?.capability,
    listActive,
    getCapabilityById(capabilityId) {
      const entry = held.get(capabilityId)
      return entry && held.toCatalogEntry(entry)
    },
    entries: () => held.list().map(held.toCatalogEntry),
    register(given, { pinned = false, ...parsing } = {}) {
      const parsed = parseCapability(given, parsing)
      if (!parsed.ok) return parsed
      const capability = parsed.value
      const wrong: Issue<RegisterIssueCode>[] = facetCatalog.check(capability)
      const before = held.get(capability.capabilityId)
      if (wrong.length === 0 && before === undefined && !held.ensureCapacity()) wrong.push(full(maxEntries))
      const contracts = getContracts(capability, facets)
      wrong.push(...contracts.issues)
      if (wrong.length > 0) return { ok: false, issues: wrong, warnings: parsed.warnings }
      const now = clock.now()
      const reason = unavailable(capability)
      const entry: Held = {
        capability,
        ...(reason !== undefined && { reason }),
        registeredAt: before?.registeredAt ?? now,
        lastSeenAt: now,
        contracts: contracts.schemas,
        timeoutMs: pinned ? undefined : getTimeout(capability, options.timeoutMs),
      }
      held.put(entry)
      return { ok: true, value: held.toCatalogEntry(entry), warnings: parsed.warnings }
    },
    heartbeat: held.markSeen,
    deregister: held.remove,
    unavailable,
    inactive: () =>
      // Fast path: called for every plan.
      listActive().length === held.count() ? none : held.listInactive(),
    find: (text, limit = 10) => held.find(text).slice(0, limit),
    rank(envelope, wanted) {
      const ranked = rankCapabilities(listActive(), { envelope, wanted, facets: byName })
      return ranked.filter(({ score }) => score.total >= cutoff)
    },
    fallbacks(capabilityId) {
      const first = held.get(capabilityId)?.capability
      return first === undefined ? [] : standIns(first, listActive(), byName)
    },
    derive(wanted) {
      return [...collectSupport(listActive()).values()].flatMap((support) => derive(support, wanted) ?? [])
    },
  }
}

/** The entries of a catalog with their liveness: status by heartbeats, eviction, and the list of active capabilities. */
function createEntries(clock: CatalogOptions['clock'], maxEntries: number) {
  const held = new Map<string, Held>()
  const index = createTextIndex()
  let active: { readonly list: readonly Capability[]; readonly until: number } | undefined
  /** The last list, returned again while the active set is unchanged, so that callers can detect changes by identity. */
  let latest: readonly Capability[] = []

  const isActive = ({ reason, timeoutMs, lastSeenAt }: Held) =>
    reason === undefined && (timeoutMs === undefined || clock.now() - lastSeenAt <= timeoutMs)
  const remove = (capabilityId: string) => {
    index.remove(capabilityId)
    active = undefined
    return held.delete(capabilityId)
  }
  return {
    get: (capabilityId: string) => held.get(capabilityId),
    list: () => [...held.values()],
    count: () => held.size,
    remove,
    put(entry: Held) {
      held.set(entry.capability.capabilityId, entry)
      index.add(entry.capability)
      active = undefined
    },
    markSeen(capabilityId: string) {
      const entry = held.get(capabilityId)
      if (entry === undefined) return false
      entry.lastSeenAt = clock.now()
      active = undefined
      return true
    },
    /** If the catalog is full, evicts the inactive entry that was seen longest ago; false if all entries are active. */
    ensureCapacity() {
      if (held.size < maxEntries) return true
      const silent = [...held.values()].filter((entry) => !isActive(entry))
      const longest = silent.reduce<Held | undefined>(
        (found, each) => (found === undefined || each.lastSeenAt < found.lastSeenAt ? each : found),
        undefined,
      )
      return longest !== undefined && remove(longest.capability.capabilityId)
    },
    listActive() {
      if (active !== undefined && clock.now() <= active.until) return active.list
      const alive = [...held.values()].filter(isActive)
      const until = alive.reduce(
        (soonest, { lastSeenAt, timeoutMs }) =>
          Math.min(soonest, timeoutMs === undefined ? soonest : lastSeenAt + timeoutMs),
        Number.POSITIVE_INFINITY,
      )
      const list = alive.map(({ capability }) => capability)
      if (list.length !== latest.length || list.some((each, at) => each !== latest[at])) latest = list
      active = { list: latest, until }
      return latest
    },
    /** Reasons by capability id. */
    listInactive: (): ReadonlyMap<string, string> =>
      new Map(
        [...held].flatMap(([id, entry]) =>
          isActive(entry) ? [] : [[id, entry.reason ?? silentSince(entry.lastSeenAt)] as const],
        ),
      ),
    find: (text: string): readonly Capability[] =>
      index
        .find(text)
        .flatMap(({ capabilityId }) => held.get(capabilityId) ?? [])
        .filter(isActive)
        .map(({ capability }) => capability),
    toCatalogEntry(entry: Held): CatalogEntry {
      const { timeoutMs: _, ...rest } = entry
      return { ...rest, status: isActive(entry) ? 'active' : 'inactive' }
    },
  }
}

/** Scores the capabilities that supply any of the wanted properties, best first. */
function rankCapabilities(
  capabilities: readonly Capability[],
  { envelope, wanted, facets }: RankRequest,
): readonly Ranked[] {
  const hints = readHints(envelope)
  const useful = new Set(wanted)
  const { selection } = envelope.policies.planner
  return capabilities
    .flatMap((capability) => {
      const supplies = getPorts(capability, facets).supplies.map(({ name }) => name)
      if (!supplies.some((name) => useful.has(name))) return []
      return [{ capability, score: scoreCapability(capability, { hints, useful, supplies, selection }) }]
    })
    .sort((a, b) => b.score.total - a.score.total || byId(a.capability, b.capability))
}

interface RankRequest {
  readonly envelope: Envelope
  readonly wanted: readonly string[]
  readonly facets: FacetsByName
}

function byId(a: Capability, b: Capability): number {
  return a.capabilityId < b.capabilityId ? -1 : 1
}

function getTimeout({ heartbeat }: Capability, usual: number | undefined): number | undefined {
  if (heartbeat?.timeoutSeconds !== undefined) return heartbeat.timeoutSeconds * 1_000
  return heartbeat?.intervalSeconds === undefined ? usual : heartbeat.intervalSeconds * 1_000 * missable
}

function full(maxEntries: number): Issue<RegisterIssueCode> {
  return {
    code: 'catalog/full',
    at: { pointer: '' },
    message: `the catalog is full: ${maxEntries} capabilities, all of them active`,
    hint: 'Deregister some, or raise `maxEntries`',
  }
}

/** Compiles both contracts; contradicting facets become issues of the registration. */
function getContracts(capability: Capability, catalog: readonly Facet[]) {
  const issues: Issue<RegisterIssueCode>[] = []
  const side = (direction: 'input' | 'output'): JsonSchema => {
    const given = direction === 'input' ? capability.inputContract : capability.outputContract
    if (!isFacetList(given)) return given
    const compiled = compileContract({ facets: given, catalog, direction })
    for (const { constraint = '', suggestion, details } of compiled.diagnostics) {
      if (details?.['code'] !== 'plan/facet-conflict') continue
      issues.push({
        code: 'facet/conflict',
        at: { pointer: `/${direction}Contract` },
        message: `it must hold that ${constraint}`,
        ...(suggestion !== undefined && { hint: suggestion }),
      })
    }
    return compiled.schema
  }
  return { schemas: { input: side('input'), output: side('output') }, issues }
}

/**
 * Registers the capabilities of this process, built-in ones included: they stay active as long as the process runs. Throws
 * `option/invalid` for duplicate ids and for capabilities that the catalog rejects. A capability with the id of
 * a built-in one replaces it.
 */
export function addOwnCapabilities(catalog: CapabilityCatalog, capabilities: readonly Capability[]): void {
  for (const capability of withBuiltins(capabilities)) {
    const { capabilityId } = capability
    if (catalog.getCapabilityById(capabilityId) !== undefined)
      throw new ProvisoError(
        'option/invalid',
        `Cannot register "${capabilityId}": two capabilities have this id`,
        {
          hint: 'Change the `capabilityId` of one of them',
        },
      )
    const registered = catalog.register(capability, { pinned: true })
    if (registered.ok) continue
    const message = `Cannot register the capability "${capabilityId}": ${registered.issues[0]?.message ?? ''}`
    throw new ProvisoError('option/invalid', message, { issues: registered.issues })
  }
}
