/** `proviso verify`: checks the invariants of every journal in a store. */
import type { Command } from 'commander'
import { parseSqliteAddress, storeOperations } from '../../adapters/stores/store-operations.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import type { AnchorCheck, Store } from '../../domain/ports/store.ts'
import { loadEvents } from '../../engine/journal/journal.ts'
import { loadAsks } from '../../engine/verify/rules/asks.ts'
import { verifyHistory } from '../../engine/verify/verify.ts'
import { env } from '../env.ts'
import { describeExitCodes, exitCode } from '../exit-codes.ts'
import { count } from '../one-line.ts'
import { addStoreOption, chooseExistingStore, readStore } from '../options/store-option.ts'
import { colors, printJson, printNote, printText } from '../print.ts'
import { canRedraw } from '../terminal.ts'

interface Flags {
  readonly store?: string
  readonly json?: true
}

export function addVerifyCommand(program: Command): void {
  addStoreOption(
    program
      .command('verify')
      .summary('check the journals of a store')
      .description(
        'check the journal, head, audit chain and asks of every run, or of the given runs, and compare the store with its anchor, without writing',
      )
      .argument('[runs...]', 'run ids (default: all)'),
  )
    .option('--json', 'print one JSON object')
    .addHelpText('after', `\n${describeExitCodes(['ok', 'usage', 'unmet'])}`)
    .action(async (runIds: readonly string[], { store, json }: Flags) => {
      const counts = { runs: 0, events: 0 }
      let anchor: AnchorCheck = { state: 'absent', problems: [] }
      let keepsAnchor = false
      const bad: VerifiedRun[] = []
      const verify = async (opened: Store) => {
        keepsAnchor = runIds.length === 0 && opened.checkAnchor !== undefined
        if (keepsAnchor) anchor = (await opened.checkAnchor?.()) ?? anchor
        for await (const run of verifyRuns(opened, runIds)) {
          counts.runs++
          counts.events += run.events
          if (run.issues.length > 0) bad.push(run)
          showCount(counts.runs)
        }
      }
      const missing = await inspectMissing(store)
      let damage: ProvisoError | undefined
      if (missing) anchor = missing
      else damage = await readStore(chooseExistingStore(store), verify).then(() => undefined, catchDamage)
      clearCount()
      const isOk = bad.length === 0 && anchor.problems.length === 0 && damage === undefined
      const { message } = damage ?? {}
      if (json)
        printJson(
          { ok: isOk, ...counts, bad, anchor: toJson(anchor), ...(message && { damage: message }) },
          'line',
        )
      else
        report({
          bad,
          counts,
          anchor,
          damage,
          isMissing: missing !== undefined,
          mayMiss: keepsAnchor && anchor.state === 'absent',
        })
      process.exitCode = exitCode(isOk ? 'ok' : 'unmet')
    })
}

/** A deleted SQLite file that has left its anchor; other stores leave nothing. */
async function inspectMissing(given: string | undefined): Promise<AnchorCheck | undefined> {
  const spec = given ?? env.store
  if (spec === undefined || parseSqliteAddress(spec) === undefined) return undefined
  return (await storeOperations(spec)).inspectMissing?.(spec)
}

/** Damage is a result of the check; other errors end the command. */
function catchDamage(error: unknown): ProvisoError {
  if (ProvisoError.is(error) && error.code === 'store/corrupt') return error
  throw error
}

function toJson({ problems, ...anchor }: AnchorCheck): Json {
  return { ...anchor, problems: problems.map((problem) => ({ ...problem, runs: [...problem.runs] })) }
}

interface Verdict {
  readonly bad: readonly VerifiedRun[]
  readonly counts: { readonly runs: number; readonly events: number }
  readonly anchor: AnchorCheck
  readonly damage: ProvisoError | undefined
  /** Whether the file does not exist. */
  readonly isMissing: boolean
  /** Whether there is no anchor, although the store could have one. */
  readonly mayMiss: boolean
}

function report({ bad, counts, anchor, damage, isMissing, mayMiss }: Verdict): void {
  if (damage) {
    printNote(`${colors.red('✗')} ${colors.bold('store')}  ${damage.message} (${damage.code})`)
    printNote(damage.hint)
  }
  for (const { code, message } of anchor.problems)
    printNote(`${colors.red('✗')} ${colors.bold('anchor')}  ${message} (${code})`)
  if (anchor.problems.length > 0) printNote(isMissing ? missingHint : lossHint)
  for (const { runId, issues } of bad)
    for (const { at, code, message } of issues) {
      const location = 'pointer' in at ? at.pointer : ''
      printNote(`${colors.red('✗')} ${colors.bold(`${runId}${location}`)}  ${message} (${code})`)
    }
  const losses = anchor.problems.length > 0 ? 'acknowledged runs are missing' : ''
  const wrong = bad.length > 0 ? `${bad.length} not in order` : ''
  const damaged = damage ? 'the file is damaged, not all of it was checked' : ''
  const inOrder = mayMiss ? `all in order, ${unnoticed}` : 'all in order'
  const verdict = [damaged, losses, wrong].filter((part) => part !== '').join(', ') || inOrder
  printText(`${count(counts.runs, 'run')}, ${count(counts.events, 'event')}: ${verdict}`)
}

const unnoticed = 'but there is no anchor: the loss of acknowledged runs could not be noticed'

const missingHint = 'Put the original files back or restore a backup with `proviso restore`'
const lossHint =
  'Put the original files back or restore a backup with `proviso restore`; `proviso doctor --accept-loss` continues without what is lost'

const onTerminal = canRedraw

function showCount(runs: number): void {
  if (onTerminal && runs % 100 === 0) process.stderr.write(`\r${runs} runs`)
}

function clearCount(): void {
  if (onTerminal) process.stderr.write('\r\u001b[K')
}

interface VerifiedRun {
  readonly runId: string
  readonly events: number
  /** Each is located by its sequence number, `/7`. */
  readonly issues: readonly Issue[]
}

/** Verifies the runs of a store one by one and yields the issues of each. A run that changes meanwhile is read again. */
export async function* verifyRuns(
  store: Store,
  runIds: readonly string[],
): AsyncGenerator<VerifiedRun, void, void> {
  if (runIds.length > 0) for (const runId of runIds) yield await verifyReadable(store, runId)
  else for await (const runId of allRuns(store)) yield await verifyReadable(store, runId)
}

const pageSize = 500

async function* allRuns(store: Store): AsyncGenerator<string, void, void> {
  let before: string | undefined
  for (;;) {
    const page = await store.runs({ limit: pageSize, ...(before !== undefined && { before }) })
    for (const { runId } of page) yield runId
    // Only an empty page is the end: a store may return fewer rows than requested.
    if (page.length === 0) return
    before = page.at(-1)?.runId
  }
}

/** A run whose rows are damaged has an issue: the others are still verified. */
async function verifyReadable(store: Store, runId: string): Promise<VerifiedRun> {
  try {
    return await verifyRun(store, runId)
  } catch (error) {
    const { code, message, hint } = catchDamage(error)
    return { runId, events: 0, issues: [{ at: { pointer: '' }, code, message, hint }] }
  }
}

const looks = 5

/** Verifies journal, head, audit and asks. They are read one after the other, so they are consistent only if the head has not moved (optimistic read). */
async function verifyRun(store: Store, runId: string): Promise<VerifiedRun> {
  for (let look = 1; ; look++) {
    const head = await store.head(runId)
    if (!head) throw new ProvisoError('run/missing', `Run "${runId}" not found`)
    const events = await loadEvents(store, runId)
    const audit = await store.audit(runId)
    const asks = await loadAsks(store, runId)
    const quiet = (await store.head(runId))?.seq === head.seq
    if (quiet) return { runId, events: events.length, issues: verifyHistory(events, { head, audit, asks }) }
    // The run is written to constantly: verify the journal alone.
    if (look === looks) return { runId, events: events.length, issues: verifyHistory(events) }
  }
}
