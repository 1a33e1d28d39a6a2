/** Records external effects: one line per call, on disk before the call returns. */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'

/** One call of a capability, as seen from outside. */
export interface Effect {
  readonly nodeId: string
  readonly key: string
}

/** An acknowledged append: the event at this position must never change. */
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

/** Appends each line in one write, so that a kill leaves whole lines; `sync` also waits for the disk. */
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
