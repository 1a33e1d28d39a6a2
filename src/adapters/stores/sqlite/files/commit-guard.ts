/**
 * Guards the meaning of "acknowledged": on the disk, in the file that was opened, and counted in the anchor. Refuses to open
 * a file that has lost acknowledged commits.
 */
import { ProvisoError } from '../../../../base/errors/error.ts'
import { type Clock, systemClock } from '../../../../base/time/clock.ts'
import type { SqliteConnection } from '../open-sqlite.ts'
import { type Anchor, getFileMode, openAnchor, readAnchor, setAnchorAside } from './anchor.ts'
import { createChain, readChain, type SqliteChain } from './commit-chain.ts'
import { compareAnchor } from './compare-anchor.ts'
import { watchFiles } from './watch-files.ts'

export interface CommitGuard {
  readonly chain: SqliteChain
  /** Throws if a file was deleted or replaced; checked now and then, or `now`. */
  checkFiles(when?: 'now'): void
  /** Throws if a file was deleted or replaced, or another program has written to the database; call it right before work. */
  checkContent(): void
  /** Takes the commit that was just made; call the result when it is on the disk, before it is acknowledged. */
  takeCommit(): () => void
  /** Call it after a checkpoint that no commit has made. */
  rememberContent(): void
  close(): void
}

interface GuardOptions {
  readonly path: string
  readonly anchorPath: string | undefined
  readonly acceptLoss?: boolean
  readonly clock?: Pick<Clock, 'now'>
}

export function guardCommits(connection: SqliteConnection, options: GuardOptions): CommitGuard {
  const { path, clock = systemClock } = options
  const files = watchFiles(path)
  const anchor = continueAnchor(connection, options)
  const chain = createChain(connection, () => clock.now())
  return {
    chain,
    checkFiles: (when) => (when === 'now' ? files.check() : files.checkNowAndThen()),
    takeCommit() {
      files.remember()
      const commit = chain.takeLinked()
      return () => {
        files.check()
        if (commit !== undefined) anchor?.write(commit)
      }
    },
    checkContent() {
      // The work may have waited for the disk since the last check.
      files.checkNowAndThen()
      files.checkContent()
    },
    rememberContent: () => files.remember(),
    close: () => anchor?.close(),
  }
}

/** Opens the anchor of a file that has every acknowledged commit; throws `store/lost` for another file. */
function continueAnchor(
  connection: SqliteConnection,
  { path, anchorPath, acceptLoss = false, clock = systemClock }: GuardOptions,
): Anchor | undefined {
  const chain = readChain(connection)
  if (anchorPath === undefined || chain === undefined) return undefined
  const { problems } = compareAnchor(readAnchor(anchorPath), connection)
  if (problems.length > 0) {
    if (!acceptLoss) {
      const reasons = problems.map(({ message }) => message).join('; ')
      throw new ProvisoError('store/lost', `Cannot write to the store at ${path}: ${reasons} (${anchorPath})`)
    }
    setAnchorAside(anchorPath, clock.now())
  }
  return openAnchor(anchorPath, { ...chain, mode: getFileMode(path) })
}
