/** Compares a database file with its anchor: reports acknowledged commits that are not in the file. */
import type { AnchorCheck, AnchorProblem } from '../../../../domain/ports/store.ts'
import type { SqliteConnection } from '../open-sqlite.ts'
import type { AnchorContent } from './anchor.ts'
import { countAll, readChain, readCommit, type StoredChain } from './commit-chain.ts'

type Reader = Pick<SqliteConnection, 'execute'>

/** Names of lost runs in a report. */
const mostNames = 20

/** The anchor must have been read before: commits that come meanwhile are then in the file alone, which is in order. */
export function compareAnchor(anchor: AnchorContent | undefined, reader: Reader): AnchorCheck {
  const chain = readChain(reader)
  if (chain === undefined || anchor === undefined) return { state: 'absent', problems: [] }
  const { last } = anchor
  const problems = [...findProblems(anchor, chain, reader)]
  const commit = { commit: last.n, at: last.at, runs: last.runs, events: last.events, head: last.head }
  return { state: problems.length === 0 ? 'ok' : 'lost', ...commit, problems }
}

/** Of a file that does not exist, everything that was acknowledged is lost. */
export function describeMissing({ last, lines }: AnchorContent): AnchorCheck {
  const changed = lines.flatMap((line) => Object.entries(line.changed))
  const runs = [...new Map(changed)].flatMap(([runId, seq]) => (seq > 0 ? [runId] : []))
  const message = `the file does not exist: its ${counted(last.n, 'acknowledged commit')} are gone (${counted(last.runs, 'run')}, ${counted(last.events, 'event')})`
  const commit = { commit: last.n, at: last.at, runs: last.runs, events: last.events, head: last.head }
  return { state: 'lost', ...commit, problems: [{ code: 'anchor/lost', message, runs }] }
}

function* findProblems(anchor: AnchorContent, chain: StoredChain, reader: Reader): Generator<AnchorProblem> {
  const { last } = anchor
  if (anchor.storeId !== chain.storeId) {
    yield {
      code: 'anchor/other-file',
      message: `the file is not the one whose ${counted(last.n, 'commit')} were acknowledged (${counted(last.runs, 'run')}, ${counted(last.events, 'event')})`,
      runs: [],
    }
    return
  }
  const { newest } = chain
  if (newest.n < last.n) {
    const runs = findLostRuns(anchor, newest.n, reader)
    const named = runs.slice(0, mostNames).join(', ')
    yield {
      code: 'anchor/lost',
      message: `${counted(last.n - newest.n, 'acknowledged commit')} of ${counted(runs.length, 'run')} vanished: the last one acknowledged is ${last.n}, the last one in the file ${newest.n}${named === '' ? '' : `; runs ${named}${runs.length > mostNames ? ' …' : ''}`}`,
      runs,
    }
    return
  }
  const stored = readCommit(reader, last.n, newest)
  if (stored !== undefined && stored.head !== last.head)
    yield {
      code: 'anchor/other-history',
      message: `commit ${last.n} in the file is not the one that was acknowledged: the file has another history`,
      runs: [],
    }
}

/** Runs whose last acknowledged event is not in the file. Only the newest lines are kept: of a great loss, some names are missing. */
function findLostRuns({ lines }: AnchorContent, after: number, reader: Reader): string[] {
  const acknowledged = new Map<string, number>()
  for (const { n, changed } of lines)
    if (n > after) for (const [runId, seq] of Object.entries(changed)) acknowledged.set(runId, seq)
  return [...acknowledged]
    .filter(([runId, seq]) => {
      const [row] = reader.execute('select seq from flex_runs where run_id = ?', [runId])
      return seq > Number(row?.['seq'] ?? 0)
    })
    .map(([runId]) => runId)
}

/**
 * Compares the number of runs and events in the file with the chain: finds rows that vanished from the middle. Reads the
 * whole journal.
 */
export function compareCounts(reader: Reader): AnchorProblem[] {
  const chain = readChain(reader)
  if (chain === undefined) return []
  const { runs, events, n } = chain.newest
  const found = countAll(reader)
  // More are in order: a version that keeps no chain may have written them.
  if (found.runs >= runs && found.events >= events) return []
  return [
    {
      code: 'anchor/count',
      message: `the file has ${counted(found.runs, 'run')} and ${counted(found.events, 'event')}, but commit ${n} left ${counted(runs, 'run')} and ${counted(events, 'event')}`,
      runs: [],
    },
  ]
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
