/** Plays one row against one executor: a node whose capability is at the hostile server and whose alternate is at a good one. */
import {
  type AppOptions,
  createApp,
  type DefinedCapability,
  defineCapability,
  type JournalEvent,
} from '../../src/index.ts'
import type { Outcome } from '../../src/types.ts'
import { createQuickClock, patient } from '../quick-clock.ts'
import { callBack, serveCallbacks } from './callbacks.ts'
import { closedAddress, hostileServer, type Script } from './hostile-server.ts'
import { type Bodies, type Promised, type Row, rows } from './rows.ts'
import { type Wire, wires } from './wires.ts'

export interface Played {
  readonly executor: string
  readonly row: string
  readonly calls: number
  readonly waitedMs: number
  /** How the first attempt ended. */
  readonly outcome: Outcome | 'none'
  readonly fallback: boolean
  /** What differs from what is promised; empty where nothing does. */
  readonly differences: readonly string[]
}

/** How an executor is called at an address. */
interface Executor {
  readonly name: string
  readonly bodies: Bodies
  /** The capability `first` at this address, and `second` at the other. */
  readonly options: (
    urls: { readonly first: string; readonly second: string; readonly callback: () => string | undefined },
    row: Row,
  ) => Pick<AppOptions, 'providers' | 'capabilities' | 'http'>
}

const answer = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const good = '{"text":"Tea"}'

const capability = (capabilityId: string, more: object): DefinedCapability =>
  defineCapability({
    capabilityId,
    inputContract: { type: 'object' },
    outputContract: answer,
    idempotent: true,
    ...more,
  })

function modelExecutor(wire: Wire): Executor {
  const other = wire.model.replace(/^[^/]+/, 'second')
  return {
    name: wire.name,
    bodies: {
      good: JSON.stringify(wire.says(good)),
      says: (text) => JSON.stringify(wire.says(text)),
      refuses: JSON.stringify(wire.refuses()),
    },
    options: ({ first, second }) => ({
      providers: [wire.provider(first), { ...wire.provider(second), name: 'second' }],
      capabilities: [
        capability('first', { kind: 'model', preferredModels: [wire.model] }),
        capability('second', { kind: 'model', preferredModels: [other] }),
      ],
    }),
  }
}

const secret = 'a signing key of the conformance bench'
const keys = [{ keyId: 'k1', secret }]

export const agentExecutor: Executor = {
  name: 'http agent',
  bodies: { good, says: (text) => text },
  options: ({ first, second, callback }, { idempotent = true }) => ({
    providers: [],
    capabilities: [capability('first', { kind: 'http', idempotent }), capability('second', { kind: 'http' })],
    http: {
      allowLoopback: true,
      callbackUrl: callback,
      // Timers of the catalog must not move the time on.
      cacheTtlMs: 3_600_000,
      selfRefreshMs: 3_600_000,
      agents: { first: { url: first, keys }, second: { url: second, keys } },
    },
  }),
}

export type Subject = 'models' | 'agents'

/** Every row of the subject with every executor, one after the other. */
export async function playAll(
  subject: Subject,
  {
    only,
    onPlayed,
  }: { readonly only?: readonly string[]; readonly onPlayed?: (played: Played) => void } = {},
): Promise<readonly Played[]> {
  const executors = subject === 'models' ? wires.map(modelExecutor) : [agentExecutor]
  const played: Played[] = []
  for (const executor of executors) {
    if (only && !only.includes(executor.name)) continue
    for (const row of rows) {
      const promised = row[subject]
      if (promised === undefined) continue
      const one = await playRow(executor, row, promised)
      played.push(one)
      onPlayed?.(one)
    }
  }
  return played
}

/** The script of the row; where the agent calls back, with the statuses that its posts get. */
function scriptOf({ script, callbacks = [] }: Row, bodies: Bodies) {
  const posts: Promise<number>[] = []
  const acted = script?.(bodies)
  const withPosts: Script | undefined =
    acted &&
    ((call, body) => {
      let last: Promise<unknown> = Promise.resolve()
      for (const _ of callbacks) {
        const post = last.then(() => callBack(body, { output: JSON.parse(bodies.good), secret }))
        posts.push(post)
        last = post
      }
      return acted(call, body)
    })
  return { script: withPosts, posts }
}

export async function playRow(executor: Executor, row: Row, promised: Promised): Promise<Played> {
  const { script, posts } = scriptOf(row, executor.bodies)
  const hostile = script && (await hostileServer(script))
  const friendly = await hostileServer(() => ({ body: executor.bodies.good }))
  const clock = row.realTime ? undefined : createQuickClock()
  let callbackUrl: string | undefined
  const urls = {
    first: hostile?.url ?? (await closedAddress()),
    second: friendly.url,
    callback: () => callbackUrl,
  }
  const app = await createApp({
    env: {},
    tracing: false,
    random: () => 0.5,
    ...(clock && { ...patient, clock }),
    ...executor.options(urls, row),
  })
  const server = row.callbacks && (await serveCallbacks(app))
  callbackUrl = server?.url
  try {
    const { timeoutMs } = row
    const node = { id: 'write', capabilityId: 'first', alternates: ['second'], retry: { max: 0 } }
    const done = await app.run(
      { objective: 'Write about tea', inputs: {}, outputContract: { schema: answer } },
      { draft: { nodes: [{ ...node, ...(timeoutMs !== undefined && { timeoutMs }) }] } },
    )
    const events = await app.store.read(done.runId, 0)
    const observed = {
      calls: hostile?.calls() ?? 0,
      waitedMs: pausesIn(events).reduce((sum, ms) => sum + ms, 0),
      outcome: firstOutcome(events),
      fallback: friendly.calls() > 0 && done.status === 'completed',
    }
    const differences = [
      ...differencesOf(promised, observed),
      ...(done.status === 'completed' ? [] : [`the run ended as ${done.status}`]),
      ...postDifferences(row, await Promise.all(posts)),
    ]
    return { executor: executor.name, row: row.name, ...observed, differences }
  } finally {
    await server?.close()
    await app.close({ graceMs: 0 })
    await hostile?.close()
    await friendly.close()
  }
}

function postDifferences({ callbacks = [] }: Row, statuses: readonly number[]): string[] {
  if (String(statuses) === String(callbacks)) return []
  return [`its posts got ${statuses.join(', ')} instead of ${callbacks.join(', ')}`]
}

function pausesIn(events: readonly JournalEvent[]): number[] {
  return events.flatMap((event) =>
    event.type === 'log' && event.payload.event === 'call.retry_scheduled'
      ? [Number(event.payload.payload?.['wait_ms'])]
      : [],
  )
}

function firstOutcome(events: readonly JournalEvent[]): Outcome | 'none' {
  for (const event of events) if (event.type === 'attempt_end') return event.payload.outcome
  return 'none'
}

type Observed = Pick<Played, 'calls' | 'waitedMs' | 'outcome' | 'fallback'>

function differencesOf(promised: Promised, { calls, waitedMs, outcome, fallback }: Observed): string[] {
  const [least, most] = promised.waitedMs
  return [
    ...(calls === promised.calls ? [] : [`${calls} calls instead of ${promised.calls}`]),
    ...(waitedMs >= least && waitedMs <= most
      ? []
      : [`waited ${waitedMs} ms instead of ${least} to ${most}`]),
    ...(outcome === promised.outcome ? [] : [`ended as ${outcome} instead of ${promised.outcome}`]),
    ...(fallback === promised.fallback
      ? []
      : [promised.fallback ? 'its fallback was not used' : 'its fallback was used']),
  ]
}
