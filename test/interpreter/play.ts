/**
 * Plays a case for real: an app made with `createApp`, capabilities of a kind of our own and local functions, people who
 * answer asks, virtual time. Where the case says so the process dies at calls of the store and another takes over.
 */
import { createMemoryStore } from '../../src/adapters/stores/memory.ts'
import { type App, createApp, type DefinedCapability, defineCapability } from '../../src/app.ts'
import { ProvisoError } from '../../src/base/error.ts'
import type { Json } from '../../src/base/json.ts'
import type { JournalEvent } from '../../src/domain/event.ts'
import type { AttemptResult } from '../../src/domain/output.ts'
import type { Dispatch, Dispatcher } from '../../src/domain/ports/dispatcher.ts'
import { createFaults, noFaults } from '../sim/faults.ts'
import { createNews, faultyStore, type StoreContext } from '../sim/faulty-store.ts'
import { createLedger, type Ledger } from '../sim/ledger.ts'
import { clockOf, type Life } from '../sim/life.ts'
import { randomFor } from '../sim/random.ts'
import { createWorld, type World } from '../sim/world.ts'
import type { Answer, Case, CaseNode } from './cases.ts'
import { draftOf, envelopeOf, inputSchema, outputSchema, raoPlaceOf } from './draft.ts'
import { capabilityId, editedOutput, outputOf, type Values } from './values.ts'

export interface PlayedCall {
  readonly capabilityId: string
  readonly nodeId: string
  readonly inputs: Values
  readonly at: number
}

export interface Played {
  readonly status: string
  readonly output?: Json
  /** Why it failed: the stable name and the message. */
  readonly failure?: string
  readonly calls: readonly PlayedCall[]
  readonly journal: readonly JournalEvent[]
  /** Virtual milliseconds. */
  readonly duration: number
}

const epoch = 1_700_000_000_000
const runId = 'run'
const leaseMs = 3_000
/** Far more than any case needs. */
const mostSteps = 50_000

export async function play(given: Case): Promise<Played> {
  const world = createWorld(randomFor(given.seed, 'world'), epoch)
  const stage = createStage(given, world)
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
  if (stage.refused !== undefined)
    return { status: 'refused', failure: stage.refused, calls: stage.calls, journal, duration: 0 }
  const duration = world.now - epoch
  if (end?.type !== 'complete') return { status: 'stuck', calls: stage.calls, journal, duration }
  const { status, output, error } = end.payload as { status: string; output?: Json; error?: Failure }
  return {
    status,
    ...(output !== undefined && { output }),
    ...(error && { failure: `${error.code}: ${error.message}` }),
    calls: stage.calls,
    journal,
    duration,
  }
}

interface Failure {
  readonly code: string
  readonly message: string
}

interface Stage {
  readonly given: Case
  readonly world: World
  readonly ledger: Ledger
  readonly calls: PlayedCall[]
  readonly store: ReturnType<typeof createMemoryStore>
  /** The app that is alive. */
  app: App | undefined
  /** Why the caller's request itself was refused. */
  refused: string | undefined
  bear(): Promise<void>
  leave(): void
}

function createStage(given: Case, world: World): Stage {
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
      capabilities: given.nodes.flatMap((node) => capabilitiesOf(stage, life, node)),
      dispatchers: [agentDispatcher(stage, life)],
      clock: clockOf(world, life),
      owner: `p.${life.nth}`,
      env: {},
      leaseMs,
      pollMs: 500,
      tracing: false,
      onCrash: (_, cause) => {
        if (life.alive && !given.crashes) throw cause
      },
    })
    stage.app = app
    if (ledger.journals.has(runId)) return
    app.start(envelopeOf(given), { runId, draft: draftOf(given) }).catch((cause: unknown) => {
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

function capabilitiesOf(stage: Stage, life: Life, node: CaseNode): DefinedCapability[] {
  return node.scripts.map((_, candidate) => {
    const id = capabilityId(node, candidate)
    return defineCapability({
      capabilityId: id,
      kind: node.local ? 'local' : 'agent',
      inputContract: inputSchema(node.inputs),
      outputContract: outputSchema(node),
      idempotent: true,
      ...(raoPlaceOf(node) === 'capability' && { rao: {} }),
      ...(node.local && {
        run: (inputs: Json, { signal }: { signal: AbortSignal }) =>
          perform(stage, life, { node, id, inputs: inputs as Values, signal }).then((answer) => {
            if (answer.kind === 'error') throw new Error('It broke')
            if (answer.kind === 'final-error')
              throw new ProvisoError('capability/refused', 'Not with these inputs')
            return answerValue(node, id, { answer, inputs: inputs as Values })
          }),
      }),
    })
  })
}

function agentDispatcher(stage: Stage, life: Life): Dispatcher {
  return {
    kind: 'agent',
    remote: true,
    async dispatch({ nodeId, capability, bundle, signal, rao }: Dispatch): Promise<AttemptResult> {
      const node = stage.given.nodes.find((candidate) => candidate.id === nodeId)!
      const inputs = bundle.inputs as Values
      const id = capability.capabilityId
      const answer = await perform(stage, life, { node, id, inputs, signal })
      const usage = { calls: 1 }
      const issues = [{ code: 'case/failed', at: { pointer: '' }, message: `It ended as ${answer.kind}` }]
      if (answer.kind === 'error') return { outcome: 'provider_error', issues, usage }
      if (answer.kind === 'final-error') return { outcome: 'provider_error', issues, usage, final: true }
      if (answer.kind === 'throttled') {
        const { retryAfterMs } = answer
        const wait = retryAfterMs !== undefined && { retryAfterMs }
        return { outcome: 'throttled', issues, usage: { calls: 0 }, ...wait }
      }
      const value = answerValue(node, id, { answer, inputs })
      return { outcome: 'ok', output: { value: rao ? envelopeFor(answer, value) : value }, issues: [], usage }
    },
  }
}

function answerValue(
  node: CaseNode,
  id: string,
  { answer, inputs }: { answer: Answer; inputs: Values },
): Json {
  const value = outputOf(node, id, inputs)
  return answer.kind === 'bad-value' ? { ...value, [`s${node.key}`]: 'a lot' } : value
}

function envelopeFor(answer: Answer, value: Json): Json {
  const { confidence = 1, escalate = false } = answer.kind === 'ok' ? answer : {}
  return {
    primary_output: JSON.stringify(value),
    confidence,
    confidence_type: 'verbalized',
    escalate,
    reasoning: 'Because',
  }
}

interface Asked {
  readonly node: CaseNode
  readonly id: string
  readonly inputs: Values
  readonly signal: AbortSignal
}

/** One try: what the script says for the attempt that it belongs to, after a while of virtual time. */
async function perform(stage: Stage, life: Life, { node, id, inputs, signal }: Asked): Promise<Answer> {
  const { world, ledger, calls } = stage
  const script = node.scripts[Number(id.split('.c')[1])]!
  const nth = ledger.ends(runId, node.id, id)
  const answer = script.answers[nth] ?? script.rest
  calls.push({ capabilityId: id, nodeId: node.id, inputs, at: world.now })
  const tries = (turnedAway.get(stage) ?? new Map<string, number>()) as Map<string, number>
  turnedAway.set(stage, tries)
  const turn = `${id} ${nth}`
  const before = tries.get(turn) ?? 0
  tries.set(turn, before + 1)
  const shown: Answer =
    answer.kind === 'throttled' && before >= answer.times ? { kind: 'ok', confidence: 1 } : answer
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('Stopped on request')))
    if (shown.kind === 'hang') return
    world.after(1 + randomFor(stage.given.seed, 'pace', id, nth).pick([0, 5, 50, 400]), () => {
      if (life.alive) resolve(shown)
    })
  })
}

const turnedAway = new WeakMap<Stage, Map<string, number>>()

/** People look every now and then, and decide as the case says. */
function answerAsks(stage: Stage): { leave(): void } {
  const { world, given } = stage
  let gone = false
  const look = async () => {
    if (gone) return
    world.after(100, () => void look())
    const { app } = stage
    if (!app) return
    const head = await stage.store.head(runId)
    if (head?.status === 'awaiting_human')
      await app.resume(runId, { by: 'ann' }).catch((cause: unknown) => ignoreLate(cause))
    for (const ask of await stage.store.asks({ runId, status: 'pending' })) {
      const node = given.nodes.find(({ id }) => id === ask.nodeId)
      const reply = replyTo(given, ask, node)
      await app
        .reply(runId, { requestId: ask.requestId, valueHash: ask.valueHash, by: 'ann', ...reply } as never)
        .catch((cause: unknown) => ignoreLate(cause))
    }
  }
  world.after(50, () => void look())
  return {
    leave() {
      gone = true
    },
  }
}

/** Someone else was faster, or the process died: the next look shows what is left. */
function ignoreLate(cause: unknown): void {
  if (!(cause instanceof ProvisoError)) throw cause
}

function replyTo(given: Case, ask: { kind: string; policyId?: string }, node: CaseNode | undefined): object {
  if (ask.kind === 'failure') {
    return given.decisions[node?.id ?? ''] === 'reject'
      ? { decision: 'reject' }
      : { decision: 'answer', value: editedOutput(node!) }
  }
  if (ask.kind === 'final') {
    const { type } = given.outputs.at(-1)!
    if (given.decisions['final'] === 'reject') return { decision: 'reject', note: 'Not like this' }
    return given.decisions['final'] === 'edit'
      ? { decision: 'edit', value: { answer: type === 'v' ? 'written by a person' : 7 } }
      : { decision: 'approve' }
  }
  if (ask.kind === 'policy')
    return { decision: given.decisions[ask.policyId ?? ''] === 'reject' ? 'reject' : 'approve' }
  const decision = given.decisions[node?.id ?? ''] ?? 'approve'
  return decision === 'edit' ? { decision, value: editedOutput(node!) } : { decision }
}
