/**
 * The store as one process sees it: calls take their time there and back, some fail, and some are the last thing that the
 * process does. What the store itself does with a call is the production code of the memory store.
 */
import { ProvisoError } from '../../src/base/errors/error.ts'
import type { JournalEvent, NewEvent } from '../../src/domain/event.ts'
import type { DocumentRow } from '../../src/domain/ports/documents.ts'
import type { Store } from '../../src/domain/ports/store.ts'
import type { Faults } from './faults.ts'
import type { FleetPermits } from './fleet-permits.ts'
import type { Ledger } from './ledger.ts'
import { deliver, type Life } from './life.ts'
import type { Liveness } from './liveness.ts'
import type { World } from './world.ts'

export interface StoreContext {
  readonly world: World
  readonly real: Store
  readonly ledger: Ledger
  readonly faults: Faults
  /** Is notified of creations. */
  readonly liveness?: Pick<Liveness, 'created'>
  /** Is notified of what processes write about limits. */
  readonly permits?: Pick<FleetPermits, 'written'>
  /** Notifies every process, after a delay. */
  readonly news: News
  /** Events go through JSON on their way, as to a database. */
  readonly serialised: boolean
  /** One way, as a rule; and the longest that anything lingers. */
  readonly latencyMs: number
  readonly longestMs: number
  readonly crash: (life: Life) => void
}

export type News = {
  listen(life: Life, listener: (runId: string, seq: number) => void): () => void
  notify(from: Life, runId: string, seq: number): void
}

export function createNews(world: World, deaf: number): News {
  const listeners = new Set<{ life: Life; listener: (runId: string, seq: number) => void }>()
  return {
    listen(life, listener) {
      const entry = { life, listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    notify(from, runId, seq) {
      for (const entry of listeners) {
        if (!entry.life.alive) listeners.delete(entry)
        else if (entry.life === from || !world.random.chance(deaf))
          deliver(world, entry.life, world.random.int(20), () => entry.listener(runId, seq))
      }
    },
  }
}

export function faultyStore(context: StoreContext, life: Life): Store {
  const { world, real, ledger, faults, liveness, news, serialised } = context
  const { random } = world
  const way = () => {
    if (faults.lingers()) return random.int(context.longestMs)
    return random.chance(0.9) ? random.int(5) : random.int(context.latencyMs)
  }
  const copied = <T>(value: T): T => (serialised ? (JSON.parse(JSON.stringify(value)) as T) : value)

  const lateWay = () => (faults.isOvertaken() ? random.int(context.longestMs) : way())

  /** A call with its fate; a process that is dead calls nothing and receives nothing. */
  function call<T>(perform: () => Promise<T>, route: () => number = way): Promise<T> {
    return new Promise((resolve, reject) => {
      if (!life.alive) return
      const fate = faults.fate()
      if (fate === 'crash-before') return context.crash(life)
      const back = route()
      const fail = () => reject(new ProvisoError('store/unavailable', 'The simulated store is not there'))
      world.after(route(), () => {
        // What had left a process when it died arrives, or it does not.
        if (!life.alive && random.chance(0.5)) return
        if (fate === 'error-before') return void deliver(world, life, back, fail)
        perform().then(
          (value) => {
            if (fate === 'crash-after' && life.alive) return context.crash(life)
            deliver(world, life, back, fate === 'error-after' ? fail : () => resolve(value))
          },
          (cause: unknown) => deliver(world, life, back, () => reject(cause)),
        )
      })
    })
  }

  const wrote = (runId: string, after: number, events: readonly NewEvent[]) => {
    const numbered = events.map((event, index) => ({ ...event, runId, seq: after + index + 1 }))
    ledger.written(numbered as JournalEvent[])
    news.notify(life, runId, after + events.length)
  }

  const { documents } = real.records
  const written = (row: DocumentRow | undefined) => {
    if (row?.kind === 'limit') context.permits?.written(life, row.id)
    return row
  }
  return {
    records: {
      ...real.records,
      documents: {
        ...documents,
        find: (key) => call(() => documents.find(key)),
        add: (document, given) => call(async () => written(await documents.add(document, given))),
        replace: (document, given) => call(async () => written(await documents.replace(document, given))),
      },
    },
    name: 'simulated',
    create(run) {
      const given = copied(run)
      const answer = call(async () => {
        const created = await real.create(given)
        if (created !== false) {
          ledger.holders.set(given.runId, life.nth)
          wrote(given.runId, 0, given.events)
        }
        return created
      }, lateWay)
      const answered = () => liveness?.created(life, given.runId)
      answer.then(answered, answered)
      return answer
    },
    append(append) {
      const given = copied(append)
      return call(
        async () => {
          const result = await real.append(given)
          const { runId, lease } = given
          if (result.kind === 'appended' && lease && ledger.holders.get(runId) !== life.nth)
            ledger.faults.push(`${life.process} wrote to ${runId}, which it does not hold any more`)
          if (result.kind === 'appended') wrote(given.runId, given.expectedSeq, given.events)
          return result
        },
        given.lease ? way : lateWay,
      )
    },
    read: (runId, after, limit) => call(async () => copied(await real.read(runId, after, limit))),
    head: (runId) => call(() => real.head(runId)),
    runs: (query) => call(() => real.runs(query)),
    threads: (query) => call(() => real.threads(query)),
    claim: (request) =>
      call(async () => {
        const claims = await real.claim(request)
        for (const { runId } of claims) ledger.claimed(runId, life.nth)
        return claims
      }, lateWay),
    renew: (request) => call(() => real.renew(request)),
    release: (runId, lease) => call(() => real.release(runId, lease)),
    nextWake: (given) => call(() => real.nextWake(given)),
    onChange: (listener) => news.listen(life, listener),
    asks: (query) => call(() => real.asks(query)),
    ask: (requestId) => call(() => real.ask(requestId)),
    nodes: (runId) => call(() => real.nodes(runId)),
    snapshots: (runId) => call(() => real.snapshots(runId)),
    output: (runId) => call(() => real.output(runId)),
    spans: (runId) => call(() => real.spans(runId)),
    audit: (runId) => call(() => real.audit(runId)),
    messages: (runId, limit) => call(() => real.messages(runId, limit)),
    sample: (query) => call(() => real.sample(query)),
    prune: (request) => call(() => real.prune(request)),
    findRunsAbout: (query) => call(() => real.findRunsAbout(query)),
    erase: (request) => call(() => real.erase(request)),
    close: async () => {},
  }
}
