/** What the outside world saw: one line per call, on the disk before the call returns. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

/** One call of a capability, as the outside sees it. */
export interface Effect {
  readonly nodeId: string
  readonly key: string
}

/** An append that was acknowledged: the event at this place must never be another. */
export interface Acknowledged {
  readonly runId: string
  readonly seq: number
  readonly type: string
  readonly at: number
}

export interface Log<T> {
  write(line: T): void
  close(): void
}

/** Appends lines in one write each, so that a death leaves whole lines; `sync` waits for the disk as well. */
export function openLog<T>(path: string, { sync }: { readonly sync: boolean }): Log<T> {
  const file = openSync(path, 'a')
  return {
    write(line) {
      writeSync(file, `${JSON.stringify(line)}\n`)
      if (sync) fsyncSync(file)
    },
    close: () => closeSync(file),
  }
}

export function readLog<T>(path: string): T[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)
}
