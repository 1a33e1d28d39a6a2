/** Writes what a batch changes: large values first, then heads, journal and projections, and the end of the transaction. */

import { joined } from '../../../../base/json.ts'
import { dueAt, givesUpPlacement } from '../../projections/heads.ts'
import { type Changes, lastOfEach } from '../../projections/projections.ts'
import { type Encoded, encode, encodePlan } from '../../shared/codec.ts'
import { correctionRow } from '../ledger.ts'
import { toChunks } from '../rows/chunk.ts'
import { askRow, auditRow, changeRow, messageRow, nodeRow, outputRow, snapshotRow } from '../rows/rows.ts'
import { spanRow } from '../rows/span-rows.ts'
import type { CommitChain } from '../sql-driver.ts'
import type { WriteStatements } from '../statements/write-statements.ts'
import { askAll, type Statement, type Steps } from '../steps.ts'
import type { EventTable } from '../tables.ts'
import type { OpenRun } from './project-runs.ts'

interface Context {
  readonly statements: WriteStatements
  readonly commit: Statement
  /** The ledger of corrections is kept. */
  readonly ledger?: boolean
  readonly chain?: CommitChain
  /** Large values that are there, and all that were asked for. */
  readonly values?: { readonly known: ReadonlySet<string>; readonly asked: ReadonlySet<string> }
}

/** `changes` are those of the runs that were touched, in the same order. */
export function* changeStatements(
  touched: readonly OpenRun[],
  changes: readonly Changes[],
  { statements, commit, ledger = false, chain, values: found }: Context,
): Steps<void> {
  const own = touched.map((run, index) => toRows(run, changes[index]))
  const [only, ...others] = own
  const all = <R>(pick: (rows: RunRows) => R[]): R[] =>
    only !== undefined && others.length === 0 ? pick(only) : own.flatMap(pick)
  const events = linkLast(touched, chain)
  const changed = touched.filter((run) => run.head !== run.stored)
  const writes = [
    ...statements.updateProgress(changed.filter(isHeldAlike).map(toChange)),
    ...statements.updateHeads(changed.filter((run) => !isHeldAlike(run)).map(toChange)),
    ...statements.removePlacement(
      touched
        .filter((run) => givesUpPlacement(run.events))
        .map(({ head: { runId: run_id } }) => ({ run_id })),
    ),
    ...statements.insertEvents(events),
    ...statements.upsertNodes(all(({ nodes }) => nodes)),
    ...statements.upsertSnapshots(all(({ snapshots }) => snapshots)),
    ...statements.upsertOutputs(all(({ outputs }) => outputs)),
    ...statements.upsertAsks(all(({ asks }) => asks)),
    ...statements.upsertAudit(all(({ audit }) => audit)),
    ...statements.upsertMessages(all(({ messages }) => messages)),
    ...statements.upsertSpans(all(({ spans }) => spans)),
    ...(ledger ? statements.upsertCorrections(all(({ corrections }) => corrections)) : []),
    ...touched.flatMap(({ documents }) => documents.map(statements.addDocument)),
  ]
  const values = yield* newValues(touched, statements, found)
  yield [...values, ...writes, commit]
  chain?.linked()
}

/** The new events of all runs; the last one carries the link of the commit. */
function linkLast(touched: readonly OpenRun[], chain: CommitChain | undefined): EventTable[] {
  const events: EventTable[] = []
  for (const { rows } of touched) for (const row of rows) events.push(row)
  const last = events.at(-1)
  // A commit that only releases leases changes nothing in the journal.
  if (chain === undefined || last === undefined) return events
  const created = touched.filter((run) => run.begins).length
  events[events.length - 1] = joined(last, { link: chain.linkEvents(created, events) })
  return events
}

function toChange({ head, nodesSeq }: OpenRun) {
  return { ...changeRow(head), nodes_seq: nodesSeq ?? null }
}

/** Whether an append leaves the holder and the due time of a run as they are in its row. */
function isHeldAlike({ head, stored }: Pick<OpenRun, 'head' | 'stored'>): boolean {
  return head.owner === stored.owner && head.leaseUntil === stored.leaseUntil && dueAt(head) === dueAt(stored)
}

type RunRows = ReturnType<typeof toRows>

/** The rows of one run that change; the large values in them are added to the run's. */
function toRows(run: OpenRun, changes: Changes | undefined) {
  const kept = ({ text, values }: Encoded) => {
    for (const [hash, body] of values ?? []) run.values.set(hash, body)
    return text
  }
  const text = (value: unknown) => kept(encode(value))
  return {
    nodes: run.nodes.map((node) => nodeRow(node, text)),
    snapshots: (changes?.snapshots ?? []).map((row) => snapshotRow(row, text, kept(encodePlan(row.plan)))),
    outputs: changes?.output ? [outputRow(changes.output, text)] : [],
    asks: [...(changes?.asks.values() ?? [])].map((row) => askRow(row, text)),
    audit: (changes?.audit ?? []).map(auditRow),
    messages: (changes?.messages ?? []).map((row) => messageRow(row, text)),
    corrections: (changes?.corrections ?? []).map(correctionRow),
    // One statement may write a row only once.
    spans: lastOfEach(changes?.spans ?? []).map((span) => spanRow(span, text)),
  }
}

/**
 * Sends only values that are not there: they are large. In one order by everybody, as the locks are. And notes which run
 * uses them, so that they can go when the last one is gone.
 */
function* newValues(
  touched: readonly OpenRun[],
  statements: WriteStatements,
  found: Context['values'],
): Steps<Statement[]> {
  const values = new Map(touched.flatMap((run) => [...run.values]))
  if (values.size === 0) return []
  const unasked = [...values.keys()].filter((hash) => !found?.asked.has(hash))
  const rows =
    unasked.length === 0
      ? []
      : yield* askAll<{ hash: string }>(toChunks(unasked).map((hashes) => statements.knownValues({}, hashes)))
  const known = new Set([...(found?.known ?? []), ...rows.map(({ hash }) => hash)])
  const missing = [...values]
    .filter(([hash]) => !known.has(hash))
    .sort(([one], [other]) => (one < other ? -1 : 1))
  const uses = touched.flatMap((run) =>
    [...run.values.keys()].map((hash) => ({ hash, run_id: run.head.runId })),
  )
  return [
    ...statements.insertValues(missing.map(([hash, body]) => ({ hash, body }))),
    ...statements.insertUses(uses),
  ]
}
