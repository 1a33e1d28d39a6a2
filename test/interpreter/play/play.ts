/**
 * Plays a case for real: an app made with `createApp`, capabilities of kinds of our own, functions and models, people who
 * answer asks, virtual time. Where the case says so the process dies at calls of the store and another takes over.
 */
import { createMemoryStore } from '../../../src/adapters/stores/memory/memory.ts'
import { createApp } from '../../../src/app.ts'
import { ProvisoError } from '../../../src/base/errors/error.ts'
import type { Json } from '../../../src/base/json.ts'
import type { JournalEvent } from '../../../src/domain/event.ts'
import type { Draft } from '../../../src/domain/plan.ts'
import type { DraftRequest } from '../../../src/domain/ports/planner.ts'
import { createFaults, noFaults } from '../../sim/faults.ts'
import { createNews, faultyStore, type StoreContext } from '../../sim/faulty-store.ts'
import { createLedger, type Ledger } from '../../sim/ledger.ts'
import { createLifeClock, type Life } from '../../sim/life.ts'
import { randomFor } from '../../sim/random.ts'
import { createWorld, type World } from '../../sim/world.ts'
import { askMs, type Case } from '../case.ts'
import { buildDraft, buildEnvelope, replanned } from '../draft.ts'
import { createDispatchers, createProvider, defineCapabilities } from './capabilities.ts'
import { answerAsks } from './people.ts'
import { type PlayedCall, runId, type Stage } from './stage.ts'

export interface Played {
  readonly status: string
  readonly output?: Json
  /** Why it failed: the stable name and the message. */
  readonly failure?: string
  readonly calls: readonly PlayedCall[]
  readonly planRequests: readonly DraftRequest[]
  readonly journal: readonly JournalEvent[]
  /** Virtual milliseconds. */
  readonly duration: number
}

const epoch = 1_700_000_000_000
const leaseMs = 3_000
/** Far more than any case needs. */
const mostSteps = 50_000

/** Without `maxCalls` the run may make as many calls as it likes. */
export async function play(given: Case, maxCalls?: number): Promise<Played> {
  const world = createWorld(randomFor(given.seed, 'world'), epoch)
  const stage = createStage(given, world, maxCalls)
  await stage.bear()
  const over = () => stage.ledger.journals.get(runId)?.at(-1)?.type === 'complete'
  const people = answerAsks(stage)
  try {
    await world.run(
      () => over() || stage.refused !== undefined || world.steps > mostSteps,
      epoch + 86_400_000,
    )
  } finally {
    people.leave()
  }
  const journal = stage.ledger.journals.get(runId) ?? []
  const end = journal.at(-1)
  stage.leave()
  const { calls, planRequests } = stage
  const seen = { calls, planRequests, journal, duration: world.now - epoch }
  if (stage.refused !== undefined) return { ...seen, status: 'refused', failure: stage.refused }
  if (end?.type !== 'complete') return { ...seen, status: 'stuck' }
  const { status, output, error } = end.payload as { status: string; output?: Json; error?: Failure }
  return {
    status,
    ...(output !== undefined && { output }),
    ...(error && { failure: `${error.code}: ${error.message}` }),
    ...seen,
  }
}

interface Failure {
  readonly code: string
  readonly message: string
}

function createStage(given: Case, world: World, maxCalls: number | undefined): Stage {
  const store = createMemoryStore({ clock: { now: () => world.now } })
  const ledger = createLedger(() => world.now)
  const rates = given.crashes ? { ...noFaults, crash: 0.04, until: 20_000, mostCrashes: 4 } : noFaults
  const faults = createFaults(rates, world.random, () => world.now - epoch)
  let lives = 0
  let current: Life | undefined
  const stage: Stage = {
    given,
    world,
    ledger,
    calls: [],
    planRequests: [],
    tries: new Map(),
    mailbox: new Map(),
    keyed: new Map(),
    store,
    app: undefined,
    refused: undefined,
    bear,
    leave() {
      // Its clock stands still from here on: the process is as good as dead, and nothing of it is waited for.
      if (current) current.alive = false
    },
  }
  const context: StoreContext = {
    world,
    real: store,
    ledger,
    faults,
    news: createNews(world, 0),
    serialised: true,
    latencyMs: 5,
    longestMs: leaseMs,
    crash(life) {
      life.alive = false
      stage.app = undefined
      faults.counts.crashes++
      world.after(1 + world.random.int(500), () => void bear())
    },
  }
  async function bear() {
    const life: Life = {
      process: 'p0',
      nth: ++lives,
      alive: true,
      retiring: false,
      asleepUntil: 0,
      skewMs: 0,
    }
    current = life
    const app = await createApp({
      store: given.crashes ? faultyStore(context, life) : observed(store, ledger),
      capabilities: defineCapabilities(stage, life),
      dispatchers: createDispatchers(stage, life),
      providers: [createProvider(stage, life)],
      planner: {
        name: 'case',
        async draft(request) {
          stage.planRequests.push(request)
          return buildDraft(replanned(given), maxCalls) as unknown as Draft
        },
      },
      clock: createLifeClock(world, life),
      owner: `p.${life.nth}`,
      env: {},
      leaseMs,
      askMs,
      pollMs: 500,
      tracing: false,
      onCrash: (_, cause) => {
        if (life.alive && !given.crashes) throw cause
      },
    })
    stage.app = app
    if (ledger.journals.has(runId)) return
    app
      .prepare(buildEnvelope(given), { runId, draft: buildDraft(given, maxCalls) })
      .start()
      .catch((cause: unknown) => {
        if (life.alive && !(cause instanceof ProvisoError && cause.code === 'run/exists'))
          stage.refused = String(cause)
      })
  }
  return stage
}

/** The store as it is, with every event noted. */
function observed(store: Stage['store'], ledger: Ledger): Stage['store'] {
  const note = (id: string, after: number, events: readonly object[]) =>
    ledger.written(
      events.map((event, index) => ({ ...event, runId: id, seq: after + index + 1 })) as JournalEvent[],
    )
  return {
    ...store,
    async create(run) {
      const created = await store.create(run)
      if (created !== false) note(run.runId, 0, run.events)
      return created
    },
    async append(append) {
      const result = await store.append(append)
      if (result.kind === 'appended') note(append.runId, append.expectedSeq, append.events)
      return result
    },
  }
}
