/**
 * One run of an agent with parallel tools and approvals, whose process is killed once with SIGKILL; others continue it. The model, the receivers of the tools and the person who decides are here, and count.
 */
import { spawn } from 'node:child_process'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { openStore } from '../../../src/adapters/stores/open-store.ts'
import type { JournalEvent } from '../../../src/domain/event.ts'
import { verifyHistory } from '../../seams/engine.ts'
import { chatServer } from '../chat-server.ts'
import type { Task } from './child.ts'
import { findSpeaker, type ScenarioName, scenarios } from './scenarios.ts'

export interface LifeOptions {
  /** The compiled child. */
  readonly program: string
  readonly store: string
  readonly scenario: ScenarioName
  readonly leaseMs: number
  /** Processes that continue after the kill. */
  readonly successors: number
  /** Whether to kill at this point, the nth of the run. */
  readonly killAt?: (point: string, nth: number) => boolean
}

export interface Lived {
  readonly points: readonly string[]
  readonly effects: ReadonlyMap<string, number>
  /** Requests of the model, in order: the turn, and the body byte for byte. */
  readonly requests: readonly { readonly turn: string; readonly text: string; readonly key: unknown }[]
  /** How often a person was asked whether a transfer may be made, by transfer. */
  readonly approvals: ReadonlyMap<string, number>
  /** What the journal says of the turns, by conversation and turn from 0. */
  readonly turns: ReadonlyMap<string, NotedTurn>
  /** Leases that living processes lost; a killed process records nothing. */
  readonly leasesLost: number
  /** How often a person was asked about a call in doubt. */
  readonly doubts: number
  readonly ended: string
  /** What the checker and a replay of the journal find, and why the run failed. */
  readonly findings: readonly string[]
}

export interface NotedTurn {
  /** Begun while it was under way in no attempt: for the first time, or by an attempt that follows one without its end. */
  begun: number
  /** Begun again after its end, or twice by one attempt. */
  begunInVain: number
  lastAttempt?: number
  isEnded?: true
}

/** Receivers of calls: those of `search` and `pay` heed keys; `send` and `wire` act each time. */
function createReceivers() {
  const effects = new Map<string, number>()
  const byKey = new Map<string, string>()
  return {
    effects,
    known: (query: string) =>
      [...effects.keys()].find((effect) => /^(send|wire) /.test(effect) && effect.endsWith(` ${query}`)),
    act(name: string, query: string, key: string): string {
      const effect = `${name} ${query}`
      const heedsKeys = name === 'search' || name === 'pay'
      if (!heedsKeys || !byKey.has(key)) effects.set(effect, (effects.get(effect) ?? 0) + 1)
      byKey.set(key, `done ${query}`)
      return `done ${query}`
    },
  }
}

export async function live(options: LifeOptions): Promise<Lived> {
  const { program, store, scenario, leaseMs, successors, killAt } = options
  const { script, decisions } = scenarios[scenario]
  const points: string[] = []
  const requests: { turn: string; text: string; key: unknown }[] = []
  const receivers = createReceivers()
  let children: ReturnType<typeof spawn>[] = []
  let isKilled = killAt === undefined
  /** False if the process was killed, so that it gets no answer. */
  const survives = (point: string): boolean => {
    points.push(point)
    if (isKilled || !killAt?.(point, points.length - 1)) return true
    isKilled = true
    for (const child of children) child.kill('SIGKILL')
    return false
  }
  const model = await chatServer(
    (turn, seen) => {
      const speaker = findSpeaker(seen)
      requests.push({ turn: `${speaker} ${turn}`, text: seen.text, key: seen.headers['idempotency-key'] })
      return script[speaker][turn]!
    },
    (point, turn) => survives(`${point} turn ${turn + 1}`),
  )
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request))
    const answer = (value: unknown) => response.end(JSON.stringify(value))
    if (request.url === '/pass') return survives(body) && answer({})
    if (request.url === '/decide') return answer(decide(body, decisions, receivers.known))
    const { name, inputs, key } = body
    if (!survives(`acting ${name} ${inputs.query}`)) return
    const done = receivers.act(name, inputs.query, key)
    return survives(`acted ${name} ${inputs.query}`) && answer({ done })
  })
  const task: Task = {
    store,
    scenario,
    leaseMs,
    runId: 'loop',
    model: model.url,
    tools: await listen(server),
  }
  const ends: string[] = []
  const reports: string[] = []
  const one = async () => {
    const child = spawn(process.execPath, [program, JSON.stringify(task)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.push(child)
    for await (const line of createInterface({ input: child.stdout! }))
      (line.startsWith('ended') ? ends : reports).push(line)
  }
  await one()
  if (ends.length === 0) {
    children = []
    await Promise.all(Array.from({ length: successors }, one))
  }
  await model.close()
  server.closeAllConnections()
  server.close()
  const journal = await readJournal(store)
  return {
    points,
    requests,
    effects: receivers.effects,
    ...count(journal),
    ended: [...new Set(ends)].join(),
    findings: [...verifyHistory(journal).map((found) => JSON.stringify(found)), ...reports],
  }
}

/** Before a call, the person decides by its arguments; after a doubtful one, they ask the receiver. */
function decide(
  {
    value,
    decisions: offered,
  }: { readonly value: { readonly query: string }; readonly decisions: readonly string[] },
  decisions: Readonly<Record<string, object>>,
  known: (query: string) => string | undefined,
): object {
  if (!offered.includes('answer')) return decisions[value.query]!
  return known(value.query) === undefined
    ? { decision: 'approve' }
    : { decision: 'answer', value: { done: `done ${value.query}` } }
}

function count(
  journal: readonly JournalEvent[],
): Pick<Lived, 'approvals' | 'doubts' | 'turns' | 'leasesLost'> {
  const approvals = new Map<string, number>()
  const turns = new Map<string, NotedTurn>()
  let [doubts, leasesLost] = [0, 0]
  for (const { type, payload } of journal) {
    if (type === 'turn_start' || type === 'turn_end') {
      const name = `${payload.within?.length ? 'inner' : 'outer'} ${payload.turn - 1}`
      const turn = turns.get(name) ?? { begun: 0, begunInVain: 0 }
      turns.set(name, turn)
      if (type === 'turn_end') turn.isEnded = true
      else if (turn.isEnded || turn.lastAttempt === payload.attempt) turn.begunInVain++
      else turn.begun++
      turn.lastAttempt = payload.attempt
    }
    if (type === 'lease_lost') leasesLost++
    if (type !== 'hitl_request') continue
    const { decisions: offered = [], value } = payload
    const { query } = value as { readonly query: string }
    if (offered.includes('answer')) doubts++
    else approvals.set(query, (approvals.get(query) ?? 0) + 1)
  }
  return { approvals, doubts, turns, leasesLost }
}

async function readJournal(address: string): Promise<readonly JournalEvent[]> {
  const store = await openStore(address, { readOnly: true })
  try {
    return await store.read('loop', 0, 5_000)
  } finally {
    await store.close()
  }
}

async function listen(server: Server): Promise<string> {
  // Processes are slow on a busy machine: no connection is closed under them.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += chunk
  return text
}
