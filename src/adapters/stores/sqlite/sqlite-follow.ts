/** Listeners of a read-only process: polls the file while there are listeners. */
import { createListeners, type Listeners } from '../shared/listeners.ts'
import type { Row } from '../sql/steps.ts'
import type { SqliteConnection } from './open-sqlite.ts'

export function followFile(connection: SqliteConnection, pollMs: number): Listeners {
  const listeners = createListeners()
  let count = 0
  let timer: ReturnType<typeof setInterval> | undefined
  // Rows of the journal are numbered in the order of their commits, because one process writes.
  let version: unknown
  let last: Last = { rowid: 0 }

  /** Returns the changes since the last poll. A failed poll returns none. */
  function changes(): readonly Row[] {
    const [row] = connection.execute('pragma data_version')
    const now = row?.['data_version']
    if (now === version) return []
    // All of one moment: what is written in between would be taken for seen.
    connection.execute('begin')
    // If the last row was pruned, its number and those below may have been given away again.
    const changed = isThere(connection, last)
      ? connection.execute(
          'select run_id, max(seq) as seq from flex_events where rowid > ? group by run_id',
          [last.rowid],
        )
      : connection.execute('select run_id, seq from flex_runs')
    const seen = newest(connection)
    connection.execute('commit')
    version = now
    last = seen
    return changed
  }

  function poll(): void {
    let changed: readonly Row[] = []
    try {
      changed = changes()
    } catch {
      // Polling only wakes readers, which report errors of the file themselves. A transaction left open would hide new rows.
      if (connection.inTransaction) connection.execute('rollback')
    }
    for (const { run_id, seq } of changed) listeners.notify(String(run_id), Number(seq))
  }

  function start(): void {
    version = connection.execute('pragma data_version')[0]?.['data_version']
    last = newest(connection)
    timer = setInterval(poll, pollMs)
    timer.unref()
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    add(listener) {
      if (timer === undefined) start()
      count += 1
      const remove = listeners.add(listener)
      let removed = false
      return () => {
        remove()
        if (removed) return
        removed = true
        count -= 1
        if (count === 0) stop()
      }
    },
    notify: listeners.notify,
    clear() {
      stop()
      listeners.clear()
    },
  }
}

/** The newest row of the journal that was seen. */
interface Last {
  readonly rowid: number
  readonly runId?: unknown
  readonly seq?: unknown
}

function newest(connection: SqliteConnection): Last {
  const [row] = connection.execute(
    'select rowid as last, run_id, seq from flex_events order by rowid desc limit 1',
  )
  return row === undefined
    ? { rowid: 0 }
    : { rowid: Number(row['last']), runId: row['run_id'], seq: row['seq'] }
}

function isThere(connection: SqliteConnection, { rowid, runId, seq }: Last): boolean {
  if (rowid === 0) return true
  const found = 'select seq from flex_events where rowid = ? and run_id = ? and seq = ?'
  return connection.execute(found, [rowid, runId, seq]).length > 0
}
