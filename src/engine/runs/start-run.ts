/** Starts a run: stores its first events and executes it in an actor. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Envelope } from '../../domain/envelope.ts'
import type { EventPayloads } from '../../domain/event.ts'
import { begin } from '../../domain/run/fold.ts'
import { schemaHash } from '../../schema/hash.ts'
import { openingFacts } from '../decide/decide.ts'
import type { Engine, StartOptions } from '../engine-options.ts'
import { fact } from '../events.ts'
import type { Origin } from '../run-loop/run-actor-context.ts'
import type { ActiveRuns } from './active-runs.ts'
import type { EngineSettings } from './engine-settings.ts'

/** Returns the start function of an engine. */
export function createStart(
  settings: EngineSettings,
  { actors, own, execute }: Pick<ActiveRuns, 'actors' | 'own' | 'execute'>,
): Engine['start'] {
  const { claim, newId, decisionContext } = settings
  /** Runs being written to the store. */
  const creating = new Map<string, Promise<void>>()
  return async (envelope, given = {}) => {
    if (claim === 'none')
      throw new ProvisoError('option/invalid', 'Cannot start a run: this engine claims no runs', {
        hint: 'Open it with claim: "all" or "own"',
      })
    const runId = given.runId ?? newId()
    // A concurrent start with the same id may still fail: only after it ends is it known whether the run exists.
    while (creating.has(runId)) await creating.get(runId)
    if (actors.get(runId)?.lease) throw runExists(runId)
    const { tenant = 'default' } = given
    const { now } = decisionContext(tenant)
    const payload = toStartPayload(settings, envelope, { ...given, runId, tenant: given.tenant })
    const first = fact('start', payload, { now, planVersion: 0 })
    const state = begin(runId, first, settings.compileOptions)
    const opening = openingFacts(state, decisionContext(tenant))
    const stored = new Promise<void>((resolve, reject) => {
      const create = createIn(settings, { runId, tenant, onStored: resolve })
      execute(runId, { kind: 'new', state, events: [first], opening, refuse: reject, create })
    })
    creating.set(
      runId,
      stored.catch(() => {}).finally(() => creating.delete(runId)),
    )
    await stored
    if (claim === 'own') own.add(runId)
    return runId
  }
}

/** Redacts known secrets on entry, so that decisions are based on exactly what is stored. */
function toStartPayload(
  { redactor }: EngineSettings,
  envelope: Envelope,
  given: Omit<StartOptions, 'runId' | 'tenant'> & {
    readonly runId: string
    readonly tenant: string | undefined
  },
): EventPayloads['start'] {
  const { runId, correlationId = runId, tenant, threadId, draft, warnings = [], traceparent } = given
  return redactor.known({
    envelope,
    correlationId,
    schemaHash: schemaHash(redactor.known(envelope.outputContract.schema)),
    ...(tenant !== undefined && { tenant }),
    ...(threadId !== undefined && { threadId }),
    ...(draft && { draft }),
    ...(warnings.length > 0 && { warnings }),
    ...(traceparent !== undefined && { traceparent }),
  })
}

function createIn(
  { store, owner, leaseMs }: EngineSettings,
  {
    runId,
    tenant,
    onStored,
  }: { readonly runId: string; readonly tenant: string; readonly onStored: () => void },
): Extract<Origin, { kind: 'new' }>['create'] {
  return async (events, head) => {
    const lease = await store.create({ runId, tenant, events, head, claim: { owner, leaseMs } })
    if (typeof lease !== 'object') throw runExists(runId)
    onStored()
    return lease
  }
}

function runExists(runId: string): ProvisoError {
  return new ProvisoError('run/exists', `There is a run "${runId}" already`)
}
