/** `proviso parse --watch`: parses again whenever the text file or the schema file changes, until Ctrl-C. */

import { type FSWatcher, realpathSync, watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
import { exitCode } from '../exit-codes.ts'
import { onInterrupt } from '../interrupt.ts'
import { printNote, refuse } from '../print.ts'
import type { Unreadable } from '../read-input.ts'
import { type Reading, type ReadingRequest, type ReportFlags, readAnswer, reportReading } from './reading.ts'

/** How long a file may be missing while an editor replaces it. */
const graceMs = 400

/** Returns why a request cannot be watched; `undefined` if it can. */
export function cannotWatch({ file, schemaFile, onPush }: ReadingRequest): Unreadable | undefined {
  if (file === undefined || file === '-')
    return {
      message: 'Cannot watch stdin: --watch needs a file',
      hint: 'Name the text file: proviso parse --watch FILE',
    }
  if (schemaFile === '-')
    return { message: 'Cannot watch stdin: --watch needs a schema file', hint: 'Name it: --schema FILE' }
  if (onPush)
    return {
      message: 'Cannot combine --watch and --stream: a file is read whole',
      hint: 'Remove --stream; add --json for one JSON line per reading',
    }
  return undefined
}

export async function watchReadings(request: ReadingRequest, flags: ReportFlags): Promise<number> {
  const files = [request.file, request.schemaFile].filter((file) => file !== undefined)
  let watch: FileWatch
  try {
    watch = watchFiles(files)
  } catch (error) {
    return refuse(notWatchable(error as Error))
  }
  const takeBack = onInterrupt(watch.end)
  try {
    await readOnEveryChange(watch, request, (reading, number) => {
      if (!flags.json) printNote(`--- reading ${number}, ${new Date().toTimeString().slice(0, 8)}`)
      reportReading(reading, { ...flags, ...(!flags.json && !flags.problems && { explain: true }) })
      if (!flags.json) printNote(`--- watching ${files.join(', ')}; end with Ctrl-C`)
    })
  } finally {
    takeBack()
    watch.end()
  }
  const lost = watch.lost()
  return lost ? refuse(notWatchable(lost)) : exitCode('interrupted')
}

/** Reports a reading only if the content of the files differs from the previous one. */
async function readOnEveryChange(
  watch: FileWatch,
  request: ReadingRequest,
  report: (reading: Reading, number: number) => void,
): Promise<void> {
  let known: readonly string[] | undefined
  for (let number = 1; ; ) {
    let reading = await readAnswer(request)
    // A file is absent between the two steps of a replacement: read again after the next event or the grace period.
    if (known && isMissing(reading)) {
      if ((await watch.wait(graceMs)) === 'ended') return
      reading = await readAnswer(request)
    }
    const contents = getContents(reading)
    if (!known || contents.some((text, i) => text !== known?.[i])) report(reading, number++)
    known = contents
    if ((await watch.wait()) === 'ended') return
  }
}

function isMissing(reading: Reading): boolean {
  return reading.kind === 'unusable' && reading.why.missing === true
}

function getContents(reading: Reading): readonly string[] {
  if (reading.kind === 'read') return [reading.kind, reading.result.raw, reading.schema?.text ?? '']
  return [reading.kind, reading.why.message, JSON.stringify(reading.diagnostics)]
}

function notWatchable(error: Error): Unreadable {
  const { code, path } = error as NodeJS.ErrnoException
  const reason = code === 'ENOENT' ? 'no such folder' : error.message
  return {
    message: `Cannot watch ${path ?? 'the files'}: ${reason}`,
    hint:
      code === 'ENOSPC'
        ? 'Raise the limit of watched folders (fs.inotify.max_user_watches)'
        : 'Name files in a folder that exists',
  }
}

interface FileWatch {
  /** Waits for a change since the last call, for the end of the watch, or for the timeout. */
  readonly wait: (timeoutMs?: number) => Promise<'changed' | 'ended' | 'timeout'>
  readonly end: () => void
  /** Why the watch ended on its own: a folder was removed or cannot be watched. */
  readonly lost: () => Error | undefined
}

const quietMs = 60
const latestMs = 500

/**
 * Watches files for changes through their folders, because editors replace a file by renaming another one onto it.
 * Debounces bursts of events: a change is reported after a quiet period, or at the latest after a maximum delay.
 * Throws when a folder cannot be watched.
 */
function watchFiles(files: readonly string[]): FileWatch {
  const watchers = new Map<string, FSWatcher>()
  let wanted = groupByFolder(files)
  const state: { changed: boolean; ended: boolean; lost?: Error } = { changed: false, ended: false }
  let since: number | undefined
  let timer: NodeJS.Timeout | undefined
  let wake = () => {}

  const end = (error?: Error) => {
    clearTimeout(timer)
    for (const watcher of watchers.values()) watcher.close()
    watchers.clear()
    if (error && !state.ended) state.lost = error
    state.ended = true
    wake()
  }
  const settle = () => {
    since = undefined
    try {
      follow()
    } catch (error) {
      return end(error as Error)
    }
    state.changed = true
    wake()
  }
  const schedule = () => {
    if (state.ended) return
    const now = performance.now()
    since ??= now
    clearTimeout(timer)
    timer = setTimeout(settle, Math.max(0, Math.min(quietMs, since + latestMs - now)))
  }
  /** Watches the current folders of the files again, because a symbolic link may have a new target. */
  const follow = () => {
    wanted = groupByFolder(files)
    for (const [folder, watcher] of watchers) {
      if (wanted.has(folder)) continue
      watcher.close()
      watchers.delete(folder)
    }
    for (const folder of wanted.keys()) {
      if (watchers.has(folder)) continue
      const watcher = watch(folder, (_, name) => {
        // The folder itself was moved or deleted: its replacement needs a new watcher.
        if (name === basename(folder) && watchers.get(folder) === watcher) {
          watcher.close()
          watchers.delete(folder)
          schedule()
        } else if (name === null || wanted.get(folder)?.has(name)) schedule()
      })
      watcher.on('error', end)
      watchers.set(folder, watcher)
    }
  }

  follow()
  return {
    wait: async (timeoutMs) => {
      const due = () => state.changed || state.ended
      if (!due())
        await sleepUntil((woken) => {
          wake = woken
        }, timeoutMs)
      if (state.ended) return 'ended'
      if (!state.changed) return 'timeout'
      state.changed = false
      return 'changed'
    },
    end: () => end(),
    lost: () => state.lost,
  }
}

function sleepUntil(onWake: (woken: () => void) => void, timeoutMs: number | undefined): Promise<void> {
  return new Promise((done) => {
    const timer = timeoutMs === undefined ? undefined : setTimeout(done, timeoutMs)
    onWake(() => {
      clearTimeout(timer)
      done()
    })
  })
}

/** Returns the folders to watch with the file names in each: of every file, and of the target of a symbolic link. */
function groupByFolder(files: readonly string[]): Map<string, Set<string>> {
  const folders = new Map<string, Set<string>>()
  for (const path of files.flatMap((file) => [resolve(file), ...realPath(file)])) {
    const names = folders.get(dirname(path)) ?? new Set()
    folders.set(dirname(path), names.add(basename(path)))
  }
  return folders
}

function realPath(file: string): string[] {
  try {
    return [realpathSync(file)]
  } catch {
    return []
  }
}
