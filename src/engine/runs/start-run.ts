/**
 * Starts runs: stores the first events of a run and executes it in an actor. Every start settles: with the answer of the
 * store, also if the actor was stopped meanwhile; at its deadline, if the store does not answer; and when the engine closes.
 */
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

interface Starts {
  readonly start: Engine['start']
  /** Rejects the starts that the store has not answered; their runs may be stored. */
  close(): void
}

export function createStarts(
  settings: EngineSettings,
  runs: Pick<ActiveRuns, 'actors' | 'own' | 'execute' | 'dismiss'>,
  isClosed: () => boolean,
): Starts {
  const { claim, newId, clock, answerMs } = settings
  /** Runs being written to the store, and how their start is rejected. */
  const creating = new Map<string, { readonly settled: Promise<void>; readonly refuse: Refuse }>()
  const start: Engine['start'] = async (envelope, given = {}) => {
    if (claim === 'none')
      throw new ProvisoError('option/invalid', 'Cannot start a run: this engine claims no runs', {
        hint: 'Open it with claim: "all" or "own"',
      })
    const runId = given.runId ?? newId()
    const until = clock.now() + answerMs
    // A concurrent start with the same id may still fail: only after it ends is it known whether the run exists.
    for (let other = creating.get(runId); other; other = creating.get(runId)) {
      await other.settled
      if (clock.now() >= until) throw unanswered(runId, answerMs)
    }
    if (isClosed()) throw new ProvisoError('engine/closed', 'The engine is closed')
    if (runs.actors.get(runId)?.lease) throw runExists(runId)
    const { stored, refuse } = executeNew(settings, runs, { runId, envelope, given })
    const cancelTimer = clock.timer(until, () => {
      const actor = runs.actors.get(runId)
      // The actor of this start: one that claimed the run has a lease.
      if (actor && !actor.lease) {
        actor.stop()
        runs.dismiss(actor, 'lost')
      }
      refuse(unanswered(runId, answerMs))
    })
    const settled = stored
      .catch(() => {})
      .finally(() => {
        cancelTimer()
        creating.delete(runId)
      })
    creating.set(runId, { settled, refuse })
    await stored
    return runId
  }
  return {
    start,
    close() {
      for (const [runId, { refuse }] of creating)
        refuse(new ProvisoError('engine/closed', `The engine was closed while the run "${runId}" was stored`))
    },
  }
}

type Refuse = (cause: unknown) => void

/** Executes a new run in an actor. `stored` resolves when the run is in the store, and rejects when it is refused. */
function executeNew(
  settings: EngineSettings,
  { own, execute }: Pick<ActiveRuns, 'own' | 'execute'>,
  {
    runId,
    envelope,
    given,
  }: { readonly runId: string; readonly envelope: Envelope; readonly given: StartOptions },
): { readonly stored: Promise<void>; readonly refuse: Refuse } {
  const { claim, decisionContext } = settings
  const { tenant = 'default' } = given
  const { now } = decisionContext(tenant)
  const payload = toStartPayload(settings, envelope, { ...given, runId, tenant: given.tenant })
  const first = fact('start', payload, { now, planVersion: 0 })
  const state = begin(runId, first, settings.compileOptions)
  const opening = openingFacts(state, decisionContext(tenant))
  let refuse: Refuse = () => {}
  const stored = new Promise<void>((resolve, reject) => {
    refuse = reject
    const onStored = () => {
      // Also if the start was rejected meanwhile: the run is in the store, and no other engine claims it.
      if (claim === 'own') own.add(runId)
      resolve()
    }
    const create = createIn(settings, { runId, tenant, onStored })
    execute(runId, { kind: 'new', state, events: [first], opening, refuse, create })
  })
  return { stored, refuse }
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

function unanswered(runId: string, answerMs: number): ProvisoError {
  return new ProvisoError(
    'store/unavailable',
    `The store has not answered within ${answerMs} ms whether it holds the run "${runId}"`,
    { hint: 'Start the run again with the same id' },
  )
}
