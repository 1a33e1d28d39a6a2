/** Listeners in a process that only reads: looks at the file from time to time, as long as somebody listens. */
import { createListeners, type Listeners } from './listeners.ts'
import type { SqliteConnection } from './open-sqlite.ts'

export function followFile(connection: SqliteConnection, pollMs: number): Listeners {
  const listeners = createListeners()
  let count = 0
  let timer: ReturnType<typeof setInterval> | undefined
  // Rows of the journal are numbered in the order of their commits, because one process writes.
  let version: unknown
  let last: unknown

  function look(): void {
    const [row] = connection.execute('pragma data_version')
    if (row?.['data_version'] === version) return
    version = row?.['data_version']
    const changed = connection.execute(
      'select run_id, max(seq) as seq, max(rowid) as last from flex_events where rowid > ? group by run_id',
      [last],
    )
    for (const { run_id, seq, last: rowid } of changed) {
      last = Math.max(Number(last), Number(rowid))
      listeners.tell(String(run_id), Number(seq))
    }
  }

  function start(): void {
    version = connection.execute('pragma data_version')[0]?.['data_version']
    last = connection.execute('select coalesce(max(rowid), 0) as last from flex_events')[0]?.['last']
    timer = setInterval(look, pollMs)
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
    tell: listeners.tell,
    clear() {
      stop()
      listeners.clear()
    },
  }
}
