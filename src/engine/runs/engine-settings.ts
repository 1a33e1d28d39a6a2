/** The options of an engine with their defaults, and the functions that follow from them alone. */
import { systemClock } from '../../base/time/clock.ts'
import { agentSettings, isAgent } from '../../domain/loop/agent-settings.ts'
import { listPlacements } from '../../domain/placement.ts'
import type { Catalog } from '../../domain/ports/catalog.ts'
import type { Dispatcher } from '../../domain/ports/dispatcher.ts'
import { parseHere } from '../../domain/ports/parse-text.ts'
import { createRedactor } from '../../domain/redaction/redact.ts'
import { rememberProofs } from '../../plan/index.ts'
import { considerCapabilities, knowCapabilities } from '../capabilities.ts'
import type { EngineOptions } from '../engine-options.ts'
import type { DecisionContext } from '../events.ts'
import { createGate } from '../limits/gate.ts'
import { performAttempt } from '../perform/perform.ts'
import { canBeAhead } from '../run-loop/can-be-ahead.ts'
import { draftAtHand, makePlan, proveDraft } from '../run-loop/planning.ts'
import type { ActorContext } from '../run-loop/run-actor-context.ts'

/** Defaults in milliseconds. */
const defaults = { leaseMs: 15_000, pollMs: 1_000, askMs: 24 * 3_600_000 } as const
/** How long beyond a lease a store may take to answer, before the call of a caller is rejected. */
const answerMarginMs = 5_000

/** How long callers of a process with such leases wait for its store to answer. */
export const getAnswerMs = (leaseMs: number = defaults.leaseMs): number => leaseMs + answerMarginMs

export type EngineSettings = ReturnType<typeof resolveSettings>

export function resolveSettings(options: EngineOptions) {
  const { catalog, clock = systemClock, askMs = defaults.askMs, refuseAnswer } = options
  const leaseMs = options.leaseMs ?? defaults.leaseMs
  const know = knowCapabilities(options.untrustedKinds)
  /** Returns the part of the catalog that the tenant can see. */
  const catalogFor = (tenant: string): Catalog => catalog.forTenant?.(tenant) ?? catalog
  const dispatchers: ReadonlyMap<string, Dispatcher> = new Map(
    options.dispatchers.map((dispatcher) => [dispatcher.kind, dispatcher]),
  )
  const modelOf = (capabilityId: string, tenant: string) => {
    const known = catalogFor(tenant).capability(capabilityId)
    return known && options.modelFor?.(known)
  }
  const gate = createGate(options.limits ?? {}, {
    ...{ documents: options.store.records.documents, clock, owner: options.owner, leaseMs },
    onError: (cause) => options.onCrash?.('', cause),
  })
  const isServed = createServed(options.plannedOnly, catalogFor)
  return {
    ...options,
    gate,
    modelOf,
    clock,
    leaseMs,
    /** How long a caller waits for the store to answer. */
    answerMs: getAnswerMs(leaseMs),
    pollMs: options.pollMs ?? defaults.pollMs,
    claim: options.claim ?? 'all',
    limits: options.limits ?? {},
    placements: listPlacements(options.labels),
    redactor: options.redactor ?? createRedactor(),
    storeRaw: options.storeRaw ?? true,
    parseText: options.parseText ?? parseHere,
    compileOptions: options.compileOptions ?? {},
    catalogFor,
    dispatchers,
    isServed,
    decisionContext: (tenant: string): DecisionContext => ({
      now: clock.now(),
      considerCapabilities: (state) => considerCapabilities(state, catalogFor(tenant)),
      askMs,
      capability: know(catalogFor(tenant)),
      ...(isServed && { isServed: (capabilityId) => isServed(capabilityId, tenant) }),
      ...(refuseAnswer && { refuseAnswer: ({ runId }, answer) => refuseAnswer(runId, answer) }),
    }),
  }
}

/** Whether this process executes a capability and the tools that it calls; `undefined` if it executes all that it knows. */
function createServed(
  plannedOnly: readonly string[] = [],
  catalogFor: (tenant: string) => Catalog,
): ((capabilityId: string, tenant: string) => boolean) | undefined {
  if (plannedOnly.length === 0) return undefined
  const left = new Set(plannedOnly)
  return (capabilityId, tenant) => {
    const known = catalogFor(tenant).capability(capabilityId)
    const tools = known && isAgent(known) ? agentSettings(known).tools : []
    return !left.has(capabilityId) && !tools.some((tool) => left.has(tool.capabilityId))
  }
}

/** The work that actors leave to others: calls of capabilities, and plans. */
export function createWork(
  settings: EngineSettings,
): Pick<ActorContext, 'perform' | 'planAtHand' | 'plan' | 'canBeAhead'> {
  const { catalogFor, dispatchers, clock, random, redactor, storeRaw, estimate, planner } = settings
  const { parseText, gate, modelOf } = settings
  const prove = rememberProofs()
  return {
    perform(state, start, work) {
      const { capabilityId } = start
      // The answer to an accepted call is awaited, whatever the circuit says.
      const isNew = state.nodes.get(start.nodeId)?.attempt?.accepted === undefined
      const refusal = isNew ? gate.refuse({ runId: state.runId, capabilityId }) : undefined
      if (refusal) return Promise.resolve(refusal)
      const result = performAttempt({
        catalog: catalogFor(state.tenant),
        dispatchers,
        clock,
        random,
        state,
        start,
        work,
        redactor,
        storeRaw,
        parseText,
        know: settings.decisionContext(state.tenant).capability,
      })
      const model = modelOf(capabilityId, state.tenant)
      const counted = { capabilityId, tenant: state.tenant, model }
      // The caller handles a rejection.
      result.then((known) => gate.observe(counted, known)).catch(() => {})
      return result
    },
    canBeAhead: (state, events) =>
      // An app may call functions in its own way.
      dispatchers.get('local')?.remote === false &&
      canBeAhead(state, events, settings.decisionContext(state.tenant).capability),
    planAtHand(state) {
      const draft = draftAtHand(state)
      return draft && proveDraft({ state, catalog: catalogFor(state.tenant), prove, estimate }, draft)
    },
    async plan(state, { signal, considered: priced }) {
      const catalog = catalogFor(state.tenant)
      const before = catalog.capabilities()
      await settings.updateCatalog?.(state.tenant)
      const considered = catalog.capabilities() === before ? priced : undefined
      return makePlan({ state, catalog, planner, redactor, signal, prove, estimate, considered })
    },
  }
}
