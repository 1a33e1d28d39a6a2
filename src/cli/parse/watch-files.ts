/**
 * Watches files for changes through their folders, because editors replace a file by renaming another one onto it.
 * Debounces bursts of events: a change is reported after a quiet period, or at the latest after a maximum delay.
 */
import { type FSWatcher, realpathSync, watch } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'

export interface FileWatch {
  /** Waits for a change since the last call, for the end of the watch, or for the timeout. */
  readonly wait: (timeoutMs?: number) => Promise<'changed' | 'ended' | 'timeout'>
  readonly end: () => void
  /** Why the watch ended on its own: a folder was removed or cannot be watched. */
  readonly lost: () => Error | undefined
}

const quietMs = 60
const latestMs = 500

/** Throws when a folder cannot be watched. */
export function watchFiles(files: readonly string[]): FileWatch {
  const watchers = new Map<string, FSWatcher>()
  let wanted = foldersOf(files)
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
    wanted = foldersOf(files)
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
function foldersOf(files: readonly string[]): Map<string, Set<string>> {
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
