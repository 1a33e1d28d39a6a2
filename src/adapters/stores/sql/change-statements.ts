/** Writes what a batch changes: large values first, then heads, journal and projections, and the end of the transaction. */
import { encode } from '../codec.ts'
import type { Changes } from '../projections.ts'
import type { OpenRun } from './project-runs.ts'
import { askRow, auditRow, changeRow, nodeRow, outputRow, snapshotRow, spanRow } from './rows.ts'
import type { Statement, Steps } from './steps.ts'
import type { WriteStatements } from './write-statements.ts'

interface Context {
  readonly statements: WriteStatements
  readonly commit: Statement
}

export function* changeStatements(
  touched: readonly OpenRun[],
  changes: readonly Changes[],
  { statements, commit }: Context,
): Steps<void> {
  const values = new Map(touched.flatMap((run) => [...run.values]))
  const text = (value: unknown) => {
    const encoded = encode(value)
    for (const [hash, body] of encoded.values ?? []) values.set(hash, body)
    return encoded.text
  }
  const all = <R>(rows: (changes: Changes) => Iterable<R>): R[] => changes.flatMap((one) => [...rows(one)])
  const writes = [
    ...touched
      .filter((run) => run.head !== run.stored)
      .map((run) => statements.updateHead(changeRow(run.head))),
    ...statements.insertEvents(touched.flatMap((run) => run.rows)),
    ...statements.upsertNodes(all(({ nodes }) => nodes.values()).map((node) => nodeRow(node, text))),
    ...statements.upsertSnapshots(all(({ snapshots }) => snapshots).map((row) => snapshotRow(row, text))),
    ...statements.upsertOutputs(
      all(({ output }) => (output ? [output] : [])).map((row) => outputRow(row, text)),
    ),
    ...statements.upsertAsks(all(({ asks }) => asks.values()).map((row) => askRow(row, text))),
    ...statements.upsertAudit(all(({ audit }) => audit).map(auditRow)),
    ...statements.upsertSpans(lastOfEach(all(({ spans }) => spans)).map((span) => spanRow(span, text))),
  ]
  yield [...(yield* newValues(values, statements)), ...writes, commit]
}

/** One statement may write a row only once. */
function lastOfEach<S extends { readonly runId: string; readonly spanId: string }>(spans: readonly S[]): S[] {
  const byRun = new Map<string, Map<string, S>>()
  for (const span of spans) {
    const own = byRun.get(span.runId) ?? new Map<string, S>()
    own.set(span.spanId, span)
    byRun.set(span.runId, own)
  }
  return [...byRun.values()].flatMap((own) => [...own.values()])
}

/** Sends only values that are not there: they are large. In one order by everybody, as the locks are. */
function* newValues(values: ReadonlyMap<string, string>, statements: WriteStatements): Steps<Statement[]> {
  if (values.size === 0) return []
  const [rows = []] = yield [statements.knownValues({}, [...values.keys()])]
  const known = new Set(rows.map((row) => row['hash']))
  const missing = [...values]
    .filter(([hash]) => !known.has(hash))
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return statements.insertValues(missing.map(([hash, body]) => ({ hash, body })))
}
