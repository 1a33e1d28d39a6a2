/** The statements about tokens, registrations, names and the operations audit. */
import { type Kysely, sql } from 'kysely'
import { defaultOperationLimit, type OperationQuery } from '../../../../domain/ports/operations.ts'
import type { SqlDialect, Timed } from '../dialects/sql-dialect.ts'
import type { Statement } from '../steps.ts'
import type { CapabilityTable, NameTable, OperationTable, Tables, TokenTable } from '../tables.ts'
import { createTemplates, type Templates } from './templates.ts'

/** A registration with the time at which it was read. */
export type TimedCapability = CapabilityTable & Timed

type Key = Pick<CapabilityTable, 'tenant' | 'capability_id'>
type Put = Omit<CapabilityTable, 'status' | 'registered_at' | 'last_seen_at'> & Timed
type Take = Pick<NameTable, 'name_hash' | 'name' | 'body' | 'take_id'> & Timed & { readonly keepMs: number }

/** `templates`: one set for all, so that the names of their statements differ. */
export function createRecordStatements(
  db: Kysely<Tables>,
  dialect: SqlDialect,
  templates: Templates = createTemplates('k', dialect.lists),
) {
  return {
    tokens: createTokenStatements(db, dialect, templates),
    registrations: createRegistrationStatements(db, dialect, templates),
    names: createNameStatements(db, dialect, templates),
    operations: createOperationStatements(db, dialect, templates),
  }
}

export type RecordStatements = ReturnType<typeof createRecordStatements>

function createTokenStatements(db: Kysely<Tables>, dialect: SqlDialect, templates: Templates) {
  return {
    addToken: templates.query<Omit<TokenTable, 'created_at' | 'revoked_at'> & Timed>((param) =>
      db
        .insertInto('api_tokens')
        .values({
          token_id: param('token_id'),
          tenant: param('tenant'),
          role: param('role'),
          name: param('name'),
          hash: param('hash'),
          created_at: dialect.now(param),
          expires_at: param('expires_at'),
          revoked_at: null,
          capability_id: param('capability_id'),
          family_id: param('family_id'),
          task_roles: param('task_roles'),
        })
        .onConflict((conflict) => conflict.column('token_id').doNothing())
        .returningAll(),
    ),

    token: templates.one<{ token_id: string }>((param) =>
      db.selectFrom('api_tokens').selectAll().where('token_id', '=', param('token_id')),
    ),

    tokenByHash: templates.one<{ hash: string } & Timed>((param) =>
      db
        .selectFrom('api_tokens')
        .selectAll()
        .where('hash', '=', param('hash'))
        .where('revoked_at', 'is', null)
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', dialect.now(param))]))
        .orderBy('created_at')
        .orderBy('token_id')
        .limit(1),
    ),

    tokens({ tenant }: { readonly tenant?: string }): Statement {
      let query = db.selectFrom('api_tokens').selectAll()
      if (tenant !== undefined) query = query.where('tenant', '=', tenant)
      return query.orderBy('created_at').orderBy('token_id').compile()
    },

    revokeToken: templates.query<{ token_id: string } & Timed>((param) =>
      db
        .updateTable('api_tokens')
        .set({ revoked_at: dialect.now(param) })
        .where('token_id', '=', param('token_id'))
        .where('revoked_at', 'is', null)
        .returningAll(),
    ),

    /** Ends a valid token after the overlap, or earlier if it ends earlier. */
    expireToken: templates.query<{ token_id: string; overlapMs: number } & Timed>((param) => {
      const now = dialect.now(param)
      const until = sql<number>`${now} + ${param('overlapMs')}`
      return db
        .updateTable('api_tokens')
        .set((eb) => ({
          expires_at: eb
            .case()
            .when(sql<boolean>`expires_at is null or expires_at > ${until}`)
            .then(until)
            .else(eb.ref('expires_at'))
            .end(),
        }))
        .where('token_id', '=', param('token_id'))
        .where('revoked_at', 'is', null)
        .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)]))
        .returningAll()
    }),
  }
}

function createRegistrationStatements(db: Kysely<Tables>, dialect: SqlDialect, templates: Templates) {
  return {
    /** Overwrites an active registration only for its own token; a concurrent writer waits for the row and is checked then. */
    putCapability: templates.query<Put>((param) => {
      const now = dialect.now(param)
      return db
        .insertInto('flex_capabilities')
        .values({
          tenant: param('tenant'),
          capability_id: param('capability_id'),
          body: param('body'),
          endpoint: param('endpoint'),
          status: 'active',
          registered_at: now,
          last_seen_at: now,
          ttl_ms: param('ttl_ms'),
          token_id: param('token_id'),
        })
        .onConflict((conflict) =>
          conflict
            .columns(['tenant', 'capability_id'])
            .doUpdateSet((eb) => ({
              body: eb.ref('excluded.body'),
              endpoint: eb.ref('excluded.endpoint'),
              status: eb.ref('excluded.status'),
              last_seen_at: eb.ref('excluded.last_seen_at'),
              ttl_ms: eb.ref('excluded.ttl_ms'),
              token_id: eb.ref('excluded.token_id'),
            }))
            .where((eb) =>
              eb.or([
                eb('flex_capabilities.token_id', '=', eb.ref('excluded.token_id')),
                eb(sql`flex_capabilities.last_seen_at + flex_capabilities.ttl_ms`, '<=', now),
              ]),
            ),
        )
        .returningAll()
        .returning(now.as('now'))
    }),

    beatCapability: templates.query<Key & Timed>((param) =>
      db
        .updateTable('flex_capabilities')
        .set({ last_seen_at: dialect.now(param), status: 'active' })
        .where('tenant', '=', param('tenant'))
        .where('capability_id', '=', param('capability_id'))
        .returningAll()
        .returning(dialect.now(param).as('now')),
    ),

    capability: templates.one<Key & Timed>((param) =>
      db
        .selectFrom('flex_capabilities')
        .selectAll()
        .select(dialect.now(param).as('now'))
        .where('tenant', '=', param('tenant'))
        .where('capability_id', '=', param('capability_id')),
    ),

    resealCapability: templates.query<Key & { from: string; to: string }>((param) =>
      db
        .updateTable('flex_capabilities')
        .set({ endpoint: param('to') })
        .where('tenant', '=', param('tenant'))
        .where('capability_id', '=', param('capability_id'))
        .where('endpoint', '=', param('from'))
        .returning('capability_id'),
    ),

    removeCapability: templates.query<Key>((param) =>
      db
        .deleteFrom('flex_capabilities')
        .where('tenant', '=', param('tenant'))
        .where('capability_id', '=', param('capability_id'))
        .returning('capability_id'),
    ),

    capabilities: templates.query<Timed>((param) =>
      db
        .selectFrom('flex_capabilities')
        .selectAll()
        .select(dialect.now(param).as('now'))
        .orderBy('registered_at')
        .orderBy('tenant')
        .orderBy('capability_id'),
    ),

    capabilitiesByTenant: templates.query<Timed & { tenant: string }>((param) =>
      db
        .selectFrom('flex_capabilities')
        .selectAll()
        .select(dialect.now(param).as('now'))
        .where('tenant', '=', param('tenant'))
        .orderBy('registered_at')
        .orderBy('capability_id'),
    ),
  }
}

function createNameStatements(db: Kysely<Tables>, dialect: SqlDialect, templates: Templates) {
  return {
    /** Returns a row if the caller holds the name now. A repeated call still holds it. */
    takeName: templates.query<Take>((param) => {
      const now = dialect.now(param)
      return db
        .insertInto('once_names')
        .values({
          name_hash: param('name_hash'),
          name: param('name'),
          body: param('body'),
          taken_at: now,
          expires_at: sql<number>`${now} + ${param('keepMs')}`,
          take_id: param('take_id'),
        })
        .onConflict((conflict) =>
          conflict
            .column('name_hash')
            .doUpdateSet((eb) => ({
              body: eb.ref('excluded.body'),
              taken_at: eb.ref('excluded.taken_at'),
              expires_at: eb.ref('excluded.expires_at'),
              take_id: eb.ref('excluded.take_id'),
            }))
            .where((eb) =>
              eb.or([
                eb('once_names.expires_at', '<=', now),
                eb('once_names.take_id', '=', eb.ref('excluded.take_id')),
              ]),
            ),
        )
        .returning('name_hash')
    }),

    heldName: templates.one<{ name_hash: string } & Timed>((param) =>
      db
        .selectFrom('once_names')
        .select('body')
        .where('name_hash', '=', param('name_hash'))
        .where('expires_at', '>', dialect.now(param)),
    ),

    settleName: templates.query<{ name_hash: string; body: string } & Timed>((param) =>
      db
        .updateTable('once_names')
        .set({ body: param('body') })
        .where('name_hash', '=', param('name_hash'))
        .where('expires_at', '>', dialect.now(param)),
    ),

    renewName: templates.query<{ name_hash: string; keepMs: number } & Timed>((param) => {
      const now = dialect.now(param)
      return db
        .updateTable('once_names')
        .set({ expires_at: sql<number>`${now} + ${param('keepMs')}` })
        .where('name_hash', '=', param('name_hash'))
        .where('expires_at', '>', now)
        .returning('name_hash')
    }),

    releaseName: templates.query<{ name_hash: string }>((param) =>
      db.deleteFrom('once_names').where('name_hash', '=', param('name_hash')),
    ),

    /** Expired names, oldest first; a name whose row is locked is skipped. */
    sweepNames: templates.query<Timed & { limit: number }>((param) => {
      const expired = db
        .selectFrom('once_names')
        .select('name_hash')
        .where('expires_at', '<=', dialect.now(param))
        .orderBy('expires_at')
        .limit(param('limit'))
      return db
        .deleteFrom('once_names')
        .where('name_hash', 'in', dialect.locks.forUpdateSkipLocked(expired, 'once_names'))
    }),
  }
}

function createOperationStatements(db: Kysely<Tables>, dialect: SqlDialect, templates: Templates) {
  return {
    time: templates.one<Timed>((param) => ({
      compile: () => sql`select ${dialect.now(param)} as now`.compile(db),
    })),

    newest: templates.one<object>(() =>
      db.selectFrom('operations_audit').select(['seq', 'hash']).orderBy('seq', 'desc').limit(1),
    ),

    /** Returns no row if another process has written this number meanwhile. */
    insert: templates.query<OperationTable>((param) =>
      db
        .insertInto('operations_audit')
        .values({
          seq: param('seq'),
          at: param('at'),
          tenant: param('tenant'),
          actor: param('actor'),
          action: param('action'),
          subject: param('subject'),
          details: param('details'),
          prev: param('prev'),
          hash: param('hash'),
        })
        .onConflict((conflict) => conflict.column('seq').doNothing())
        .returning('seq'),
    ),

    list({ tenant, action, subject, before, limit = defaultOperationLimit }: OperationQuery): Statement {
      let query = db.selectFrom('operations_audit').selectAll()
      if (tenant !== undefined) query = query.where('tenant', '=', tenant)
      if (action !== undefined) query = query.where('action', '=', action)
      if (subject !== undefined) query = query.where('subject', '=', subject)
      if (before !== undefined) query = query.where('seq', '<', before)
      return query.orderBy('seq', 'desc').limit(limit).compile()
    },
  }
}
