/**
 * The living capabilities: registered, kept alive by heartbeats, inactive when they fall silent. Time is passed in, and
 * nothing waits: who is active is worked out when somebody asks. Planners, prover and engine see it as the `Catalog` port.
 */
import type { Issue } from '../../base/issue.ts'
import type { Capability } from '../../domain/capability.ts'
import { createFacetCatalog } from '../../domain/catalog.ts'
import type { Envelope } from '../../domain/envelope.ts'
import type { Facet } from '../../domain/facet.ts'
import { type ParseCapabilityOptions, parseCapability } from '../../domain/parse-capability.ts'
import type { Parsed } from '../../domain/parsed.ts'
import type { Catalog } from '../../domain/ports/catalog.ts'
import type { JsonSchema } from '../../schema/json-schema.ts'
import { compileContract } from '../compile-contract.ts'
import { type Derived, derive, supportOf } from './derive.ts'
import { hintsOf } from './hints.ts'
import { facetsByName, isFacetList, portsOf } from './ports.ts'
import { type CapabilityScore, defaultCutoff, scoreOf } from './score.ts'
import { standIns } from './stand-ins.ts'
import { createTextIndex } from './text-search.ts'

export interface CatalogOptions {
  readonly facets: readonly Facet[]
  readonly clock: { now(): number }
  /** Silence after which a capability without a heartbeat of its own is inactive. Default: never. */
  readonly timeoutMs?: number
  /** Why a capability cannot be carried out here, such as a model without a provider. Default: all can. */
  readonly unavailable?: (capability: Capability) => string | undefined
  /** Most entries, active or not; the longest silent of the inactive ones makes room. Default 10,000. */
  readonly maxEntries?: number
  /** Score below which `rank` leaves a capability out. Default 0.35. */
  readonly cutoff?: number
}

export interface CatalogEntry {
  readonly capability: Capability
  readonly status: 'active' | 'inactive'
  /** Why it is inactive, where that is not silence. */
  readonly reason?: string
  readonly registeredAt: number
  readonly lastSeenAt: number
  /** The contracts as schemas: the single truth about what goes in and out (FLEX-97). */
  readonly contracts: { readonly input: JsonSchema; readonly output: JsonSchema }
}

export interface RegisterOptions extends ParseCapabilityOptions {
  /** It lives in this process and needs no heartbeat. Default false. */
  readonly pinned?: boolean
}

export interface Ranked {
  readonly capability: Capability
  readonly score: CapabilityScore
}

export interface CapabilityCatalog extends Catalog {
  /** Adds or replaces; refused with issues when it cannot be read, names unknown facets, or there is no room. */
  register(given: unknown, options?: RegisterOptions): Parsed<CatalogEntry>
  /** A sign of life; false if nobody of this name is known. */
  heartbeat(capabilityId: string): boolean
  deregister(capabilityId: string): boolean
  inactive(): ReadonlyMap<string, string>
  /** Why a capability cannot be carried out here. */
  unavailable(capability: Capability): string | undefined
  listActive(): readonly Capability[]
  getCapabilityById(capabilityId: string): CatalogEntry | undefined
  entries(): readonly CatalogEntry[]
  /** Active capabilities that a text speaks of, best first. */
  find(text: string, limit?: number): readonly Capability[]
  /** Active capabilities that supply any of these properties or facets, by score, best first; those under the cut-off are out. */
  rank(envelope: Envelope, wanted: readonly string[]): readonly Ranked[]
  /** Active capabilities that could stand in: they supply all that this one does and need nothing that it does not. */
  fallbacks(capabilityId: string): readonly Capability[]
  /** Agents that support this mix of facets though no capability declares it. */
  derive(wanted: {
    readonly input: readonly string[]
    readonly output: readonly string[]
  }): readonly Derived[]
}

interface Held extends Omit<CatalogEntry, 'status' | 'lastSeenAt'> {
  lastSeenAt: number
  /** Milliseconds of silence that are allowed; none for what lives here. */
  readonly timeoutMs: number | undefined
}

/** Why a capability is inactive that could be carried out. */
export function silentSince(lastSeenAt: number): string {
  return `its agent sent no heartbeat since ${new Date(lastSeenAt).toISOString()}`
}

/** Heartbeats that may be missed. */
const missable = 3

export function createCatalog(options: CatalogOptions): CapabilityCatalog {
  const { facets, clock, maxEntries = 10_000, cutoff = defaultCutoff } = options
  const unavailable = options.unavailable ?? (() => undefined)
  const facetCatalog = createFacetCatalog(facets)
  const byName = facetsByName(facets)
  const held = new Map<string, Held>()
  const index = createTextIndex()
  let active: { readonly list: readonly Capability[]; readonly until: number } | undefined
  /** The last list: as long as the same are alive it stays the same, so that others can tell by it that nothing changed. */
  let latest: readonly Capability[] = []

  const isActive = (entry: Held) =>
    entry.reason === undefined &&
    (entry.timeoutMs === undefined || clock.now() - entry.lastSeenAt <= entry.timeoutMs)
  const entryOf = ({ timeoutMs: _, ...entry }: Held): CatalogEntry => ({
    ...entry,
    status: isActive({ ...entry, timeoutMs: _ }) ? 'active' : 'inactive',
  })
  const listActive = () => {
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
  }
  const drop = (capabilityId: string) => {
    index.remove(capabilityId)
    active = undefined
    return held.delete(capabilityId)
  }
  const makeRoom = () => {
    if (held.size < maxEntries) return true
    const silent = [...held.values()].filter((entry) => !isActive(entry))
    const longest = silent.reduce<Held | undefined>(
      (found, each) => (found === undefined || each.lastSeenAt < found.lastSeenAt ? each : found),
      undefined,
    )
    return longest !== undefined && drop(longest.capability.capabilityId)
  }

  return {
    facets: () => facets,
    capabilities: listActive,
    capability: (capabilityId) => held.get(capabilityId)?.capability,
    listActive,
    getCapabilityById(capabilityId) {
      const entry = held.get(capabilityId)
      return entry && entryOf(entry)
    },
    entries: () => [...held.values()].map(entryOf),
    register(given, { pinned = false, ...parsing } = {}) {
      const parsed = parseCapability(given, parsing)
      if (!parsed.ok) return parsed
      const capability = parsed.value
      const wrong = facetCatalog.check(capability)
      const before = held.get(capability.capabilityId)
      if (wrong.length === 0 && before === undefined && !makeRoom()) wrong.push(full(maxEntries))
      const contracts = contractsOf(capability, facets)
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
        timeoutMs: pinned ? undefined : timeoutOf(capability, options.timeoutMs),
      }
      held.set(capability.capabilityId, entry)
      index.add(capability)
      active = undefined
      return { ok: true, value: entryOf(entry), warnings: parsed.warnings }
    },
    heartbeat(capabilityId) {
      const entry = held.get(capabilityId)
      if (entry === undefined) return false
      entry.lastSeenAt = clock.now()
      active = undefined
      return true
    },
    deregister: drop,
    unavailable,
    inactive: () =>
      new Map(
        [...held].flatMap(([id, entry]) =>
          isActive(entry) ? [] : [[id, entry.reason ?? silentSince(entry.lastSeenAt)] as const],
        ),
      ),
    find(text, limit = 10) {
      return index
        .find(text)
        .flatMap(({ capabilityId }) => held.get(capabilityId) ?? [])
        .filter(isActive)
        .slice(0, limit)
        .map(({ capability }) => capability)
    },
    rank(envelope, wanted) {
      const hints = hintsOf(envelope)
      const useful = new Set(wanted)
      const selection = envelope.policies.planner.selection
      return listActive()
        .flatMap((capability) => {
          const supplies = portsOf(capability, byName).supplies.map(({ name }) => name)
          if (!supplies.some((name) => useful.has(name))) return []
          return [{ capability, score: scoreOf(capability, { hints, useful, supplies, selection }) }]
        })
        .filter(({ score }) => score.total >= cutoff)
        .sort((a, b) => b.score.total - a.score.total || byId(a.capability, b.capability))
    },
    fallbacks(capabilityId) {
      const first = held.get(capabilityId)?.capability
      return first === undefined ? [] : standIns(first, listActive(), byName)
    },
    derive(wanted) {
      return [...supportOf(listActive()).values()].flatMap((support) => derive(support, wanted) ?? [])
    },
  }
}

function byId(a: Capability, b: Capability): number {
  return a.capabilityId < b.capabilityId ? -1 : 1
}

function timeoutOf({ heartbeat }: Capability, usual: number | undefined): number | undefined {
  if (heartbeat?.timeoutSeconds !== undefined) return heartbeat.timeoutSeconds * 1_000
  return heartbeat?.intervalSeconds === undefined ? usual : heartbeat.intervalSeconds * 1_000 * missable
}

function full(maxEntries: number): Issue {
  return {
    code: 'catalog/full',
    at: { pointer: '' },
    message: `the catalog holds ${maxEntries} capabilities, all of them active`,
    hint: 'Deregister some, or allow more entries',
  }
}

/** Both sides compiled; facets that contradict each other are issues of the registration. */
function contractsOf(capability: Capability, catalog: readonly Facet[]) {
  const issues: Issue[] = []
  const side = (direction: 'input' | 'output'): JsonSchema => {
    const given = direction === 'input' ? capability.inputContract : capability.outputContract
    if (!isFacetList(given)) return given
    const compiled = compileContract({ facets: given, catalog, direction })
    for (const { constraint = '', suggestion, details } of compiled.diagnostics) {
      if (details?.['code'] !== 'plan/facet-conflict') continue
      issues.push({
        code: 'facet/conflict',
        at: { pointer: `/${direction}Contract` },
        message: `it is not so that ${constraint}`,
        ...(suggestion !== undefined && { hint: suggestion }),
      })
    }
    return compiled.schema
  }
  return { schemas: { input: side('input'), output: side('output') }, issues }
}
