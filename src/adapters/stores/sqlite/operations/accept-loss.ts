/** Continues a SQLite file that has lost acknowledged commits, and reports what is given up: the anchor against the file. */
import { realpathSync } from 'node:fs'
import type { AcceptedLoss, CommitCounts } from '../../shared/operation-types.ts'
import { openWith } from '../drivers/drivers.ts'
import { readAnchor, toAnchorPath, toAsidePath } from '../files/anchor.ts'
import { readChain } from '../files/commit-chain.ts'
import { compareAnchor } from '../files/compare-anchor.ts'
import { openSqliteStore } from '../sqlite.ts'
import type { SqliteFile } from '../sqlite-address.ts'
import { toOpenError } from '../sqlite-errors.ts'

export async function acceptLoss(
  file: SqliteFile,
  { dryRun }: { readonly dryRun: boolean },
): Promise<AcceptedLoss> {
  const loss = { dryRun, ...findLoss(file) }
  if (dryRun || loss.problems.length === 0) return loss
  const at = Date.now()
  const store = await openSqliteStore({ ...file, acceptLoss: true, clock: { now: () => at } })
  await store.close()
  return { ...loss, keptAs: toAsidePath(toAnchorPath(realpathSync(file.path)), at) }
}

function findLoss({ path, driver }: SqliteFile): Omit<AcceptedLoss, 'dryRun'> {
  const anchor = readAnchor(toAnchorPath(realpathSync(path)))
  const connection = openWith[driver](path)
  try {
    connection.execute('pragma query_only = on')
    const { problems } = compareAnchor(anchor, connection)
    const chain = readChain(connection)
    const acknowledged = toCounts(anchor?.last)
    const found = toCounts(chain?.newest)
    // Of another file, nothing that was acknowledged is there.
    const isOther = anchor?.storeId !== chain?.storeId
    const lost = isOther ? acknowledged : subtract(acknowledged, found)
    return { problems, acknowledged, file: found, lost }
  } catch (error) {
    throw toOpenError(path, error)
  } finally {
    connection.close()
  }
}

function toCounts({
  n = 0,
  runs = 0,
  events = 0,
}: Partial<Readonly<Record<'n' | 'runs' | 'events', number>>> = {}): CommitCounts {
  return { commits: n, runs, events }
}

function subtract(one: CommitCounts, other: CommitCounts): CommitCounts {
  return {
    commits: Math.max(one.commits - other.commits, 0),
    runs: Math.max(one.runs - other.runs, 0),
    events: Math.max(one.events - other.events, 0),
  }
}
