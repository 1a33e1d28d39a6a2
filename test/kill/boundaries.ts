/**
 * Crash points: every location at which something is about to happen, or has happened and is not yet acknowledged. Points
 * have names, `append:before#3` is the third one before an append; the process kills itself, as `kill -9` would, at the
 * first point that its task names.
 */
import type { OpenSqlite } from '../../src/adapters/stores/sqlite/sqlite.ts'
import type { Store } from '../../src/index.ts'
import type { Append, NewRun } from '../seams/stores.ts'
import type { Acknowledged } from './effects.ts'

export interface Boundaries {
  /** Called when the process reaches a point of this kind; it may not return. */
  pass(kind: string): void
  /** The names of all points so far, in order. */
  readonly passed: readonly string[]
}

export function createBoundaries(killAt: readonly string[], die: (point: string) => void): Boundaries {
  const deadly = new Set(killAt)
  const counts = new Map<string, number>()
  const passed: string[] = []
  return {
    pass(kind) {
      const count = (counts.get(kind) ?? 0) + 1
      counts.set(kind, count)
      const point = `${kind}#${count}`
      passed.push(point)
      if (deadly.has(point)) die(point)
    },
    passed,
  }
}

/** Kills the process as `kill -9` does: nothing is flushed, closed or printed. */
export function dieAtOnce(): void {
  process.kill(process.pid, 'SIGKILL')
  // The signal may take a moment to arrive; block until then.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
}

export interface ReceivedCall {
  /** The store has acknowledged a write. */
  readonly acknowledged: (line: Acknowledged) => void
}

/** Wraps a store: each write has a crash point before it, and one between its commit and its acknowledgement. */
export function withBoundaries(store: Store, boundaries: Boundaries, received: ReceivedCall): Store {
  const acknowledge = (write: Append | NewRun, after: number) => {
    const last = write.events.at(-1)
    if (!last) return
    const seq = after + write.events.length
    received.acknowledged({ runId: write.runId, seq, type: last.type, at: last.at })
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
      // Empty claims depend on time and change nothing, so they are not crash points.
      if (claims.length > 0) boundaries.pass('claim:after')
      return claims
    },
  }
}

/**
 * Wraps SQLite with a crash point before every statement that writes (in the middle of transactions, and just before a
 * commit), and one between a commit and the sync to disk.
 */
export function sqliteWithBoundaries(open: OpenSqlite, boundaries: Boundaries): OpenSqlite {
  return (path) => {
    const connection = open(path)
    const { sync, syncNow } = connection
    if (path.endsWith('-writer')) return connection
    return {
      execute(sql, parameters, single) {
        if (!sql.startsWith('select') && !sql.startsWith('pragma')) boundaries.pass(`sql:${wordOf(sql)}`)
        return connection.execute(sql, parameters, single)
      },
      get inTransaction() {
        return connection.inTransaction
      },
      // Keeps these methods: without them the store would sync within each commit, which production does not.
      ...(sync && {
        sync() {
          boundaries.pass('sync:before')
          return sync()
        },
      }),
      ...(syncNow && {
        syncNow() {
          boundaries.pass('sync:before')
          syncNow()
        },
      }),
      close: connection.close,
    }
  }
}

function wordOf(sql: string): string {
  const [verb = '', ...rest] = sql.split(' ')
  const table = rest.find((word) => word.startsWith('"'))
  return table === undefined ? verb : `${verb} ${table.replaceAll('"', '')}`
}
