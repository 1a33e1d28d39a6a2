/**
 * The anchor: a file beside the database that names the last acknowledged commit of its chain (`commit-chain.ts`). A line is
 * appended after a commit is on the disk and before it is acknowledged, so that a killed process leaves nothing out. Lines
 * are synced within `syncMs`: after a power failure, the anchor may miss the commits of that time, and never has more
 * commits than were on the disk.
 */
import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { syncFolder } from '../../shared/backup-files.ts'
import type { Commit, LinkedCommit } from './commit-chain.ts'

/** Longest time until a line is synced. */
const syncMs = 1_000
/** A file of this size is renamed, and a new one begun; both are read. */
const rotateBytes = 512 * 1_024

export const toAnchorPath = (file: string) => `${file}-anchor`
const toOlderPath = (path: string) => `${path}-old`

export interface AnchorContent {
  readonly storeId: string
  readonly last: Commit
  /** The newest lines, oldest first. */
  readonly lines: readonly LinkedCommit[]
}

export interface Anchor {
  /** Adds the commit; throws if the file cannot be written. */
  write(commit: LinkedCommit): void
  close(): void
}

interface AnchorStart {
  readonly storeId: string
  readonly newest: Commit
  /** Access rights of a new file. */
  readonly mode: number
}

/** Opens the anchor for appending, and begins it with the newest commit. */
export function openAnchor(path: string, { storeId, newest, mode }: AnchorStart): Anchor {
  let file = openSync(path, 'a', mode)
  let size = fstatSync(file).size
  let timer: ReturnType<typeof setTimeout> | undefined
  let closed = false

  const append = (line: object) => {
    // The line break comes first: a line that was cut off, by a full disk for example, does not spoil the next one.
    size += writeSync(file, `\n${JSON.stringify(line)}`)
  }
  const begin = (commit: object) => {
    append({ anchor: 1, store: storeId })
    append(commit)
  }
  /** The newest commit that is written. */
  let last: object = { ...newest, changed: {} }
  /** A new file counts as many commits as the old one did: nothing is lost with it. */
  const replaceMissing = () => {
    const found = statSync(path, { throwIfNoEntry: false })
    const { ino, dev } = fstatSync(file)
    if (found?.ino === ino && found.dev === dev) return
    const next = openSync(path, 'a', mode)
    closeSync(file)
    file = next
    size = fstatSync(file).size
    begin(last)
    syncFolder(path)
    warnMissing(path)
  }
  const syncSoon = () => {
    timer ??= setTimeout(() => {
      timer = undefined
      if (closed) return
      try {
        replaceMissing()
      } catch {
        // The folder may not be writable now: the next sync tries again.
      }
      // A failure is not fatal: the lines are written, and the next sync covers them.
      if (!closed) fdatasync(file, () => {})
    }, syncMs)
    timer.unref()
  }
  const rotate = (commit: LinkedCommit) => {
    fdatasyncSync(file)
    closeSync(file)
    renameSync(path, toOlderPath(path))
    file = openSync(path, 'a', mode)
    size = 0
    begin(commit)
    syncFolder(path)
  }

  begin(last)
  fdatasyncSync(file)
  syncFolder(path)
  return {
    write(commit) {
      last = commit
      if (size > rotateBytes) rotate(commit)
      else append(commit)
      syncSoon()
    },
    close() {
      closed = true
      clearTimeout(timer)
      fdatasyncSync(file)
      closeSync(file)
    },
  }
}

function warnMissing(path: string): void {
  process.emitWarning(
    `The anchor ${path} was deleted or replaced while the store was open: it continues in a new file`,
    {
      type: 'ProvisoWarning',
      code: 'store/anchor-replaced',
      detail:
        'Keep the anchor beside the database: without it, the loss of acknowledged runs cannot be noticed',
    },
  )
}

/** Reads the anchor; `undefined` if absent. Lines that were cut off are skipped. */
export function readAnchor(path: string): AnchorContent | undefined {
  let storeId: string | undefined
  let lines: LinkedCommit[] = []
  for (const part of [toOlderPath(path), path]) {
    if (!existsSync(part)) continue
    for (const text of readFileSync(part, 'utf8').split('\n')) {
      const line = parseLine(text)
      if (line === undefined) continue
      if ('store' in line) {
        // Lines of another file, from before a restore, do not count.
        if (line.store !== storeId) lines = []
        storeId = line.store
      } else lines.push(line)
    }
  }
  const last = lines.reduce<LinkedCommit | undefined>(
    (newest, line) => (newest !== undefined && newest.n > line.n ? newest : line),
    undefined,
  )
  return storeId === undefined || last === undefined ? undefined : { storeId, last, lines }
}

function parseLine(text: string): { readonly store: string } | LinkedCommit | undefined {
  try {
    const value = JSON.parse(text) as Partial<LinkedCommit> & { readonly store?: unknown }
    if (typeof value.store === 'string') return { store: value.store }
    return Number.isSafeInteger(value.n) && /^[0-9a-f]{32,64}$/.test(String(value.head))
      ? (value as LinkedCommit)
      : undefined
  } catch {
    return undefined
  }
}

export const toAsidePath = (path: string, now: number) => `${path}-set-aside-${now}`

/** Puts the anchor aside under a name that nothing reads, and returns that name. */
export function setAnchorAside(path: string, now: number): string {
  const aside = toAsidePath(path, now)
  if (existsSync(toOlderPath(path))) renameSync(toOlderPath(path), `${aside}-old`)
  if (existsSync(path)) renameSync(path, aside)
  syncFolder(path)
  return aside
}

/** Access rights for a file beside this one. */
export function getFileMode(file: string): number {
  return statSync(file).mode & 0o666
}
