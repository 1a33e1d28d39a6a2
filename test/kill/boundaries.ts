/**
 * Where a process can die: every place at which something is about to happen, or has happened and nobody knows yet. The
 * places are counted, and the process ends itself, as `kill -9` would, at the one it was told.
 */
import type { OpenSqlite } from '../../src/adapters/stores/open-sqlite.ts'
import type { Append, NewRun, Store } from '../../src/domain/ports/store.ts'
import type { Acknowledged } from './effects.ts'

export interface Boundaries {
  /** The process is at a place; it may not come back. */
  pass(place: string): void
  readonly count: number
  /** How many places of each kind there were. */
  readonly places: ReadonlyMap<string, number>
}

export function createBoundaries(killAt: number | undefined, die: (place: string) => void): Boundaries {
  const places = new Map<string, number>()
  let count = 0
  return {
    pass(place) {
      count += 1
      places.set(place, (places.get(place) ?? 0) + 1)
      if (count === killAt) die(place)
    },
    get count() {
      return count
    },
    places,
  }
}

/** As `kill -9`: nothing is flushed, closed or said. */
export function dieAtOnce(): void {
  process.kill(process.pid, 'SIGKILL')
  // The signal may take a moment to arrive; nothing may happen in it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

export interface Heard {
  /** The store said yes. */
  readonly acknowledged: (line: Acknowledged) => void
}

/** A store whose writes have a place before them, and one between taking effect and being known to have. */
export function withBoundaries(store: Store, boundaries: Boundaries, heard: Heard): Store {
  const acknowledge = (write: Append | NewRun, after: number) => {
    const last = write.events.at(-1)
    if (!last) return
    const seq = after + write.events.length
    heard.acknowledged({ runId: write.runId, seq, type: last.type, at: last.at })
  }
  return {
    ...store,
    async create(run) {
      boundaries.pass('create:before')
      const lease = await store.create(run)
      boundaries.pass('create:after')
      if (lease !== false) acknowledge(run, 0)
      return lease
    },
    async append(append) {
      boundaries.pass('append:before')
      const result = await store.append(append)
      boundaries.pass('append:after')
      if (result.kind === 'appended') acknowledge(append, append.expectedSeq)
      return result
    },
    async release(runId, lease) {
      boundaries.pass('release:before')
      await store.release(runId, lease)
      boundaries.pass('release:after')
    },
    async claim(request) {
      const claims = await store.claim(request)
      // Claims that give nothing come with the passing of time and change nothing.
      if (claims.length > 0) boundaries.pass('claim:after')
      return claims
    },
  }
}

/** SQLite with a place before every statement that writes: the middle of transactions, and just before a commit. */
export function sqliteWithBoundaries(open: OpenSqlite, boundaries: Boundaries): OpenSqlite {
  return (path) => {
    const connection = open(path)
    if (path.endsWith('-writer')) return connection
    return {
      execute(sql, parameters, single) {
        if (!sql.startsWith('select') && !sql.startsWith('pragma')) boundaries.pass(`sql:${wordOf(sql)}`)
        return connection.execute(sql, parameters, single)
      },
      get inTransaction() {
        return connection.inTransaction
      },
      close: connection.close,
    }
  }
}

function wordOf(sql: string): string {
  const [verb = '', ...rest] = sql.split(' ')
  const table = rest.find((word) => word.startsWith('"'))
  return table === undefined ? verb : `${verb} ${table.replaceAll('"', '')}`
}
