/** Documents of a server in a database. Statements and conditions as for the other records, see `sql-records.ts`. */
import { createHash } from 'node:crypto'
import type {
  DocumentKey,
  DocumentKind,
  DocumentRow,
  Documents,
  NewDocument,
} from '../../../domain/ports/documents.ts'
import type { NewOperation } from '../../../domain/ports/operations.ts'
import { plainText } from '../shared/codec.ts'
import { toColumn } from '../shared/column-text.ts'
import type { Timed } from './dialects/sql-dialect.ts'
import type { TransactionEnds } from './operations.ts'
import type { SqlDriver } from './sql-driver.ts'
import { createDocumentStatements, type InsertedDocument } from './statements/document-statements.ts'
import { ask, type Statement, type Steps } from './steps.ts'
import type { DocumentTable } from './tables.ts'

interface DocumentContext extends TransactionEnds {
  readonly driver: SqlDriver
  readonly nextName: () => string
  readonly time: () => Timed
  readonly record: (operation: NewOperation) => Steps<unknown>
}

export function createSqlDocuments(context: DocumentContext): Documents {
  const { driver, nextName, time, record, begin, commit } = context
  const statements = createDocumentStatements(driver.builder, driver.dialect)

  /** One changing statement, and its row in the audit if it changed something. `again`: its first try may have done both. */
  const change = (
    {
      statement,
      operation,
    }: { readonly statement: () => Statement; readonly operation: NewOperation | undefined },
    wasDone: (again: boolean) => Steps<DocumentTable[]>,
  ): Promise<DocumentTable[]> =>
    driver.transaction(function* (again) {
      const before = yield* wasDone(again)
      if (before.length > 0) return before
      const [, rows = []] = yield [begin, statement()]
      if (rows.length > 0 && operation !== undefined) yield* record(operation)
      yield [commit]
      return rows as unknown as DocumentTable[]
    })
  /** Finds the row that an earlier try of the same call wrote. */
  const written = (keyHash: string, changeId: string) =>
    function* (again: boolean): Steps<DocumentTable[]> {
      const rows = again ? yield* ask<DocumentTable>(statements.find({ key_hash: keyHash })) : []
      return rows.filter(({ change_id }) => change_id === changeId)
    }

  return {
    async add(document, { operation } = {}) {
      const row = { ...documentRow(document), change_id: nextName() }
      const statement = () => statements.add({ ...row, ...time() })
      const [added] = await change({ statement, operation }, written(row.key_hash, row.change_id))
      return added && toDocument(added)
    },
    async replace(document, { version, dueInMs = null, operation }) {
      const row = { ...documentRow(document), change_id: nextName(), version, due_in: dueInMs }
      const statement = () => statements.replace({ ...row, ...time() })
      const [replaced] = await change({ statement, operation }, written(row.key_hash, row.change_id))
      return replaced && toDocument(replaced)
    },
    remove: (key, { operation } = {}) =>
      driver.transaction(function* (again) {
        const [, removed = []] = yield [begin, statements.remove({ key_hash: hashKey(key) })]
        if (removed.length > 0 && operation !== undefined) yield* record(operation)
        yield [commit]
        // If the answer to the first try was lost, that try removed it.
        return removed.length > 0 || again
      }),
    async find(key) {
      const [row] = await driver.run(() => ask<DocumentTable>(statements.find({ key_hash: hashKey(key) })))
      return row && toDocument(row)
    },
    async list(query) {
      return (await driver.run(() => ask<DocumentTable>(statements.list(query)))).map(toDocument)
    },
    async claimDue(request) {
      const changeId = nextName()
      const rows = await driver.run(function* (again) {
        const before = again
          ? yield* ask<DocumentTable>(statements.changed({ change_id: changeId, kind: request.kind }))
          : []
        if (before.length > 0) return before
        const { within, ...claim } = { ...request, change_id: changeId, ...time() }
        return yield* ask<DocumentTable>(
          within ? statements.claimDueWithin({ ...claim, ...within }) : statements.claimDue(claim),
        )
      })
      // An update returns its rows in any order.
      return rows
        .map(toDocument)
        .sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1))
    },
    async nextDue(kind) {
      const [row] = await driver.run(() =>
        ask<{ due_at: number; now: number }>(statements.nextDue({ kind, ...time() })),
      )
      return row && { at: row.due_at, now: row.now }
    },
  }
}

export function documentRow(document: NewDocument): InsertedDocument {
  const { kind, tenant, id, runId, dueAt, body } = document
  return {
    key_hash: hashKey(document),
    kind,
    tenant,
    document_id: id,
    run_id: runId ?? null,
    due_at: dueAt ?? null,
    due_in: dueAt === 0 ? 0 : null,
    body: plainText(body),
  }
}

function hashKey({ kind, tenant, id }: DocumentKey): string {
  return createHash('sha256')
    .update(toColumn(JSON.stringify([kind, tenant, id])))
    .digest('hex')
}

function toDocument(row: DocumentTable): DocumentRow {
  return {
    // Only this module writes the column.
    kind: row.kind as DocumentKind,
    tenant: row.tenant,
    id: row.document_id,
    body: JSON.parse(row.body),
    ...(row.run_id !== null && { runId: row.run_id }),
    ...(row.due_at !== null && { dueAt: row.due_at }),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}
