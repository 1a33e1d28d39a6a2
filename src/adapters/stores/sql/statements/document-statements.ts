/** The statements about documents of a server. */
import { type Kysely, sql } from 'kysely'
import type { DocumentQuery } from '../../../../domain/ports/documents.ts'
import type { SqlDialect, Timed } from '../dialects/sql-dialect.ts'
import type { Statement } from '../steps.ts'
import type { DocumentTable, Tables } from '../tables.ts'
import { createTemplates, type Param, type Templates } from './templates.ts'

export interface InsertedDocument
  extends Omit<DocumentTable, 'version' | 'created_at' | 'updated_at' | 'change_id'> {
  /** Due this long after now, by the clock of the database, instead of `due_at`. */
  readonly due_in: number | null
}

export type DocumentChange = InsertedDocument & Timed & Pick<DocumentTable, 'change_id'>

/** `templates`: their prefix keeps the names of statements on one connection apart. */
export function createDocumentStatements(
  db: Kysely<Tables>,
  dialect: SqlDialect,
  templates: Templates = createTemplates('d', dialect.lists),
) {
  return {
    add: templates.query<DocumentChange>((param) => {
      const now = dialect.now(param)
      return db
        .insertInto('flex_documents')
        .values({
          key_hash: param('key_hash'),
          kind: param('kind'),
          tenant: param('tenant'),
          document_id: param('document_id'),
          run_id: param('run_id'),
          due_at: sql<
            number | null
          >`coalesce(${dialect.now(param)} + ${param('due_in')}, ${param('due_at')})`,
          body: param('body'),
          version: 1,
          created_at: now,
          updated_at: now,
          change_id: param('change_id'),
        })
        .onConflict((conflict) => conflict.column('key_hash').doNothing())
        .returningAll()
    }),

    replace: templates.query<DocumentChange & { version: number }>((param) =>
      db
        .updateTable('flex_documents')
        .set((eb) => ({
          run_id: param('run_id'),
          due_at: sql<
            number | null
          >`coalesce(${dialect.now(param)} + ${param('due_in')}, ${param('due_at')})`,
          body: param('body'),
          version: eb('version', '+', 1),
          updated_at: dialect.now(param),
          change_id: param('change_id'),
        }))
        .where('key_hash', '=', param('key_hash'))
        .where('version', '=', param('version'))
        .returningAll(),
    ),

    remove: templates.query<{ key_hash: string }>((param) =>
      db.deleteFrom('flex_documents').where('key_hash', '=', param('key_hash')).returning('key_hash'),
    ),

    find: templates.one<{ key_hash: string }>((param) =>
      db.selectFrom('flex_documents').selectAll().where('key_hash', '=', param('key_hash')),
    ),

    changed: templates.query<{ change_id: string; kind: string }>((param) =>
      db
        .selectFrom('flex_documents')
        .selectAll()
        .where('kind', '=', param('kind'))
        .where('change_id', '=', param('change_id')),
    ),

    list({ kind, tenant, prefix, limit, after }: DocumentQuery): Statement {
      let query = db.selectFrom('flex_documents').selectAll().where('kind', '=', kind)
      if (tenant !== undefined) query = query.where('tenant', '=', tenant)
      if (prefix !== undefined)
        query = query.where(sql<boolean>`substr(document_id, 1, ${prefix.length}) = ${prefix}`)
      if (after !== undefined)
        query = query.where((eb) =>
          eb.or([
            eb('created_at', '<', after.createdAt),
            eb('created_at', '=', after.createdAt).and('document_id', '<', after.id),
          ]),
        )
      // In the order of the index `newest`, so that a page reads its own rows alone.
      query = query.orderBy('created_at', 'desc').orderBy('document_id', 'desc')
      return (limit === undefined ? query : query.limit(limit)).compile()
    },

    ...createDueStatements(db, dialect, templates),
  }
}

interface Claim extends Timed {
  kind: string
  limit: number
  leaseMs: number
  change_id: string
}

interface ClaimWithin extends Claim {
  tenant: string
  prefix: string
}

function createDueStatements(db: Kysely<Tables>, dialect: SqlDialect, templates: Templates) {
  const selectDue = <P extends Claim>(param: Param<P>) =>
    db
      .selectFrom('flex_documents')
      .select('key_hash')
      .where('kind', '=', param('kind'))
      .where('due_at', '<=', dialect.now(param))
      .orderBy('due_at')
      .limit(param('limit'))
  const claim = <P extends Claim>(param: Param<P>, due: ReturnType<typeof selectDue>) => {
    const now = dialect.now(param)
    return db
      .updateTable('flex_documents')
      .set((eb) => ({
        due_at: sql<number>`${now} + ${param('leaseMs')}`,
        version: eb('version', '+', 1),
        updated_at: now,
        change_id: param('change_id'),
      }))
      .where('key_hash', 'in', dialect.locks.forUpdateSkipLocked(due, 'flex_documents'))
      .returningAll()
  }
  return {
    claimDue: templates.query<Claim>((param) => claim(param, selectDue(param))),

    claimDueWithin: templates.query<ClaimWithin>((param) => {
      const prefix = param('prefix')
      const due = selectDue(param)
        .where('tenant', '=', param('tenant'))
        .where(sql<boolean>`substr(document_id, 1, length(${prefix})) = ${prefix}`)
      return claim(param, due)
    }),

    nextDue: templates.one<Timed & { kind: string }>((param) =>
      db
        .selectFrom('flex_documents')
        .select('due_at')
        .select(dialect.now(param).as('now'))
        .where('kind', '=', param('kind'))
        .where('due_at', 'is not', null)
        .orderBy('due_at')
        .limit(1),
    ),
  }
}
