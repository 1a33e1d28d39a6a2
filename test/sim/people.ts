/**
 * Everybody who comes from outside: callers who start runs and cancel them, operators who answer, resume and fire policies.
 * They are independent of each other and of every process, see what is stored, have patience for a while, and try again,
 * so that replies come twice, too late, and at the same time.
 */
import { isObject, type Json } from '../../src/base/json.ts'
import type { Reply } from '../../src/domain/ask.ts'
import type { AskRow } from '../../src/domain/ports/store.ts'
import { isTerminal, type RunStatus } from '../../src/domain/status.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { computeSum } from './answers.ts'
import type { Cluster, Running } from './cluster.ts'
import { type Random, randomFor } from './random.ts'
import type { RunScenario, Scenario } from './scenario.ts'
import type { World } from './world.ts'

export interface People {
  /** Replies that were acknowledged, by ask: who gave them. */
  readonly accepted: Map<string, string[]>
  readonly resumed: Map<string, number>
  readonly cancelled: Set<string>
  /** What was accepted that must never be. */
  readonly faults: string[]
  /** No more runs are started. */
  leave(): void
}

/** How a request ended, as far as its caller knows. */
type Ending = 'done' | 'lost' | { readonly refused: string }

/** What is asked of a process, about which run. */
type Called = { readonly what: string; readonly runId: string }

const patience = 3000

export function createPeople(world: World, scenario: Scenario, cluster: Cluster): People {
  const people: People = {
    accepted: new Map(),
    resumed: new Map(),
    cancelled: new Set(),
    faults: [],
    leave: () => {
      gone = true
    },
  }
  const { random } = world
  let gone = false
  let requests = 0

  /** Asks one of the processes that are awake; nothing is known if it does not answer in time. */
  const ask = async (called: Called, request: (engine: Engine) => Promise<unknown>): Promise<Ending> => {
    const awake = cluster.awake()
    return awake.length === 0 ? 'lost' : askOf(random.pick(awake), called, request)
  }

  const askOf = (
    { life, engine }: Running,
    called: Called,
    request: (engine: Engine) => Promise<unknown>,
  ): Promise<Ending> =>
    new Promise((resolve) => {
      const takeBack = world.after(patience, () => resolve('lost'))
      cluster.liveness.expect({ ...called, life }, request(engine)).then(
        () => {
          takeBack()
          resolve('done')
        },
        (cause: unknown) => {
          takeBack()
          const code = (cause as { code?: unknown }).code
          resolve(typeof code === 'string' && !retryable.has(code) ? { refused: code } : 'lost')
          if (typeof code !== 'string') people.faults.push(`a request failed: ${String(cause)}`)
        },
      )
    })

  /** Until it is known that it was done or refused. */
  const insist = async (called: Called, request: (engine: Engine) => Promise<unknown>): Promise<Ending> => {
    for (;;) {
      const ending = await ask(called, request)
      if (ending !== 'lost' || gone) return ending
      await pause(world, random.int(500))
    }
  }

  const start = async (run: RunScenario) => {
    const { runId, envelope, draft, handed } = run
    await pause(world, run.startAt)
    const ending = await insist({ what: 'start', runId }, (engine) =>
      engine.start(envelope, { runId, ...(handed && { draft }) }),
    )
    if (typeof ending === 'object' && ending.refused !== 'run/exists')
      people.faults.push(`${runId} could not be started: ${ending.refused}`)
    void follow(runId)
    if (run.cancelAt !== undefined) void cancel(runId, run.cancelAt)
    for (const { at, policyId } of run.triggers) void trigger(runId, policyId, at)
  }

  /** Waits for the end of a run, in whichever process, and asks again after each pause and each trouble. */
  const follow = async (runId: string) => {
    for (let status = ''; !gone && !isTerminal(status as RunStatus); ) {
      await ask({ what: 'result', runId }, async (engine) => {
        status = (await engine.settled(runId)).status
        const end = cluster.ledger.journals.get(runId)?.at(-1)
        if (isTerminal(status as RunStatus) && !(end?.type === 'complete' && end.payload.status === status))
          people.faults.push(`the result of ${runId} is ${status}, and not what its journal says`)
      })
      await pause(world, 500 + random.int(2_000))
    }
  }

  /** After a restart, a client starts its runs again with the ids they have, and waits for them. */
  const recover = async (running: Running) => {
    for (const { runId, envelope, draft, handed } of scenario.runs) {
      if (gone || !cluster.ledger.journals.has(runId)) continue
      void askOf(running, { what: 'start', runId }, (engine) =>
        engine.start(envelope, { runId, ...(handed && { draft }) }),
      ).then((ending) => {
        if (ending === 'done') people.faults.push(`${runId} was started although it is stored`)
      })
      if (random.chance(0.5)) await pause(world, random.int(scenario.pollMs))
    }
  }

  const cancel = async (runId: string, at: number) => {
    await pause(world, at)
    const ending = await insist({ what: 'cancel', runId }, (engine) => engine.cancel(runId, { by: 'caller' }))
    if (ending === 'done') people.cancelled.add(runId)
    else if (typeof ending === 'object') people.faults.push(`cancel was refused: ${ending.refused}`)
  }

  const trigger = async (runId: string, policyId: string, at: number) => {
    await pause(world, at)
    await ask({ what: 'trigger', runId }, (engine) => engine.trigger(runId, { policyId, by: 'operator' }))
  }

  const operate = async () => {
    while (!gone) {
      await pause(world, 20 + random.int(1000))
      const pending = await cluster.real.asks(random.chance(0.9) ? { status: 'pending' } : {})
      if (pending.length > 0) await answer(random.pick(pending))
      const waiting = await cluster.real.runs({ status: ['awaiting_human', 'quarantined'] })
      if (waiting.length > 0) await resume(random.pick(waiting).runId)
    }
  }

  const answer = async (shown: AskRow) => {
    const by = `operator ${++requests}`
    const spoilt = random.chance(0.1) ? random.pick(['hash', 'value'] as const) : undefined
    const reply = replyTo(shown, by, spoilt)
    const ending = await ask({ what: 'reply', runId: shown.runId }, (engine) =>
      engine.reply(shown.runId, reply),
    )
    if (ending !== 'done') return
    const before = people.accepted.get(shown.requestId)
    if (before) before.push(by)
    else people.accepted.set(shown.requestId, [by])
    if (spoilt === 'hash' || (spoilt === 'value' && reply.value !== undefined && !freeForm.has(shown.kind)))
      people.faults.push(`a reply with a wrong ${spoilt} was taken`)
  }

  const resume = async (runId: string) => {
    const ending = await ask({ what: 'resume', runId }, (engine) => engine.resume(runId, { by: 'operator' }))
    if (ending === 'done') people.resumed.set(runId, (people.resumed.get(runId) ?? 0) + 1)
  }

  const replyTo = (shown: AskRow, by: string, spoilt: 'hash' | 'value' | undefined): Reply => {
    const { requestId } = shown
    const decision = decide(shown)
    const needsValue = decision === 'edit' || decision === 'answer'
    const value: Json = spoilt === 'value' ? { v: 'much' } : valueFor(shown)
    // In exact scenarios what follows a rejection is left to the ask.
    const chooses = decision === 'reject' && !scenario.exact && shown.rejectActions && random.chance(0.6)
    const grants =
      shown.grants && decision === 'approve' && (scenario.exact ? grantsAll(shown) : random.chance(0.4))
    return {
      requestId,
      decision,
      by,
      valueHash: spoilt === 'hash' ? 'f'.repeat(64) : shown.valueHash,
      ...(needsValue && { value }),
      ...(chooses && shown.rejectActions && { rejectAction: random.pick(shown.rejectActions) }),
      ...(grants && { grant: 'run' as const }),
      ...(decision === 'reject' && { note: scenario.exact ? 'not like this' : `not like this, says ${by}` }),
    }
  }

  /**
   * In exact scenarios all calls of a run that may be granted are granted, or none: whether another agent sees a grant before
   * it asks is a matter of luck, and must make no difference.
   */
  const grantsAll = ({ runId }: AskRow) => randomFor(scenario.seed, 'grants', runId).chance(0.4)

  /** In exact scenarios what people say depends only on what they are asked, never on when or by whom. */
  const decide = (shown: AskRow): Reply['decision'] => {
    if (!scenario.exact) return random.pick(shown.decisions)
    if (dependsOnTime.has(shown.kind)) return 'approve'
    if (shown.kind === 'tool')
      return shown.grants && grantsAll(shown) ? 'approve' : decideCall(scenario.seed, shown)
    const nth = earlier(cluster, shown)
    const said: Random = randomFor(scenario.seed, 'reply', shown.runId, shown.kind, shown.nodeId ?? '', nth)
    return said.chance(0.1) ? 'reject' : said.pick(shown.decisions.filter((name) => name !== 'reject'))
  }

  const valueFor = (shown: AskRow): Json => {
    if (shown.kind === 'final' || (shown.kind === 'failure' && shown.nodeId === undefined))
      return { n0: scenario.exact ? 1 : random.int(1000) }
    if (shown.kind === 'tool' && shown.decisions.includes('edit')) return { a: 9, b: 9 }
    // A routing node hands on what it read; its conditions choose the route of another value, too.
    if (shown.kind === 'approval' && isObject(shown.value) && 'a' in shown.value) {
      const { route: _, ...read } = shown.value as { readonly [name: string]: Json }
      return scenario.exact ? read : { ...read, a: random.int(1000) }
    }
    const inputs = shown.kind === 'task' || shown.kind === 'unknown_outcome' ? shown.value : {}
    return { v: Math.max(computeSum(scenario.seed, `${shown.nodeId} by hand`, inputs), leastValue(shown)) }
  }

  cluster.reborn.push((running) => void recover(running))
  for (const run of scenario.runs) void start(run)
  for (let nth = 0; nth < scenario.operators; nth++) void operate()
  return people
}

/** The smallest `v` that the conditions of an ask allow: people read them before they write a value. */
function leastValue({ conditions = [] }: AskRow): number {
  const bounds = conditions.map((condition) => {
    const { '>': above, '>=': atLeast } = condition as { readonly [operator: string]: [Json, number] }
    return above ? above[1] + 1 : (atLeast?.[1] ?? 0)
  })
  return Math.max(0, ...bounds)
}

/**
 * Whether a call is in doubt, or comes after something untrusted, is a matter of luck: such calls are approved. About the
 * others the same is said whenever they are asked about.
 */
function decideCall(seed: number, { runId, nodeId = '', toolCall, decisions }: AskRow): Reply['decision'] {
  const isDoubt = decisions.includes('answer') && decisions.includes('approve')
  const { turn = 0, call = 0, tool = '' } = toolCall ?? {}
  if (tool !== 'desk' && (isDoubt || tool !== 'grant')) return 'approve'
  return randomFor(seed, 'call', runId, nodeId, turn, call).pick(decisions)
}

/** What may just be tried again. */
const retryable: ReadonlySet<string> = new Set([
  'store/unavailable',
  'run/busy',
  'run/missing',
  'engine/closed',
  'run/crashed',
])

/** Asks whose answer is not held against a schema that `{ v: 'much' }` would break. */
const freeForm: ReadonlySet<string> = new Set(['clarify'])

/** Whether these are asked at all depends on what crashed or came first, so that a no would be a matter of luck. */
const dependsOnTime: ReadonlySet<string> = new Set(['policy', 'unknown_outcome', 'side_effect'])

function pause(world: World, ms: number): Promise<void> {
  return new Promise((resolve) => world.after(ms, resolve))
}

/** How often the same was asked before in the run. */
function earlier(cluster: Cluster, shown: AskRow): number {
  let count = 0
  for (const event of cluster.ledger.journals.get(shown.runId) ?? []) {
    if (event.type !== 'hitl_request') continue
    if (event.payload.requestId === shown.requestId) return count
    if (event.payload.kind === shown.kind && event.payload.nodeId === shown.nodeId) count++
  }
  return count
}
