/**
 * Tokens, registrations and exclusive names on a SQL database. Every change is one conditional statement that the database
 * checks by its own clock, so two processes never both win; changes of tokens and registrations are recorded in the
 * operations audit in the same transaction. Statements are idempotent: one whose answer was lost is sent again, and has no
 * second effect.
 */
import { createHash } from 'node:crypto'
import type { Json } from '../../../base/json.ts'
import { type NewOperation, unnamedActor } from '../../../domain/ports/operations.ts'
import type { Records, RegistrationRow, Role, TokenRow } from '../../../domain/ports/records.ts'
import { plainText } from '../shared/codec.ts'
import { toColumn } from '../shared/column-text.ts'
import { registrationOperation, removalOperation, tokenOperation } from '../shared/record-operations.ts'
import { tokenTaken } from '../shared/token-taken.ts'
import type { Timed } from './dialects/sql-dialect.ts'
import { createSqlDocuments } from './documents.ts'
import { createSqlOperations, recordOperation, type TransactionEnds } from './operations.ts'
import type { SqlDriver } from './sql-driver.ts'
import {
  createRecordStatements,
  type RecordStatements,
  type TimedCapability,
} from './statements/record-statements.ts'
import { ask, type Steps } from './steps.ts'
import type { NameTable, OperationTable, TokenTable } from './tables.ts'

/** Maximum number of expired names that each take deletes: more than one, so that they never pile up, and bounded. */
const sweepSize = 100

export function createSqlRecords(driver: SqlDriver, nextName: () => string, ends: TransactionEnds): Records {
  const statements = createRecordStatements(driver.builder, driver.dialect)
  let changes = 0
  const { recordNews } = driver
  /** Notifies after the transaction; one that recorded nothing may notify for a concurrent one, which does no harm. */
  let unsent = false
  const notifying: SqlDriver = recordNews
    ? {
        ...driver,
        async transaction(steps) {
          const result = await driver.transaction(steps)
          if (unsent) recordNews.notifyOthers()
          unsent = false
          return result
        },
      }
    : driver
  const context: RecordContext = {
    driver: notifying,
    nextName,
    time: () => ({ now: driver.now() }),
    record(operation) {
      changes += 1
      unsent = true
      return recordOperation(statements.operations, operation, { now: driver.now() })
    },
    ...ends,
  }
  return {
    async version() {
      // A single writer knows its changes: a read of the file would wait for the commits that are being synced.
      if (driver.chain) return changes
      const [newest] = await driver.run(() =>
        ask<Pick<OperationTable, 'seq'>>(statements.operations.newest({})),
      )
      return newest?.seq ?? 0
    },
    ...(recordNews && { onChange: recordNews.add }),
    tokens: createTokens(statements.tokens, context),
    registrations: createRegistrations(statements.registrations, context),
    once: createNames(statements.names, context),
    operations: createSqlOperations(driver, statements.operations, ends),
    documents: createSqlDocuments(context),
  }
}

interface RecordContext extends TransactionEnds {
  readonly driver: SqlDriver
  /** Makes a name that no other process makes. */
  readonly nextName: () => string
  readonly time: () => Timed
  /** Writes a row of the operations audit, last in a transaction. */
  readonly record: (operation: NewOperation) => Steps<unknown>
}

type TokenStatements = RecordStatements['tokens']

function createTokens(
  statements: TokenStatements,
  { driver, time, record, begin, commit }: RecordContext,
): Records['tokens'] {
  return {
    async add(token, { by = unnamedActor } = {}) {
      const [added] = await driver.transaction(function* (again) {
        const there = again ? yield* findAdded(statements, token) : []
        if (there.length > 0) return there
        const [, rows = []] = yield [begin, statements.addToken({ ...toTokenTable(token), ...time() })]
        if (rows.length > 0) yield* record(tokenOperation('token.created', token, { by }))
        yield [commit]
        return rows as unknown as TokenTable[]
      })
      if (added === undefined) throw tokenTaken(token.tokenId)
      return toToken(added)
    },
    rotate: ({ tokenId, next, overlapMs, by = unnamedActor }) =>
      driver.transaction(function* (again) {
        const [there] = again ? yield* findAdded(statements, next) : []
        const [before] = there ? yield* ask<TokenTable>(statements.token({ token_id: tokenId })) : []
        if (there && before) return { old: toToken(before), next: toToken(there) }
        const expire = statements.expireToken({ token_id: tokenId, overlapMs, ...time() })
        const [, [expired] = []] = yield [begin, expire]
        if (expired === undefined) {
          yield [commit]
          return undefined
        }
        const old = toToken(expired as unknown as TokenTable)
        const { tenant, role, name, capabilityId, familyId = tokenId, taskRoles } = old
        const token = {
          ...next,
          tenant,
          role,
          name,
          familyId,
          ...(capabilityId !== undefined && { capabilityId }),
          ...(taskRoles && { taskRoles }),
        }
        const [row] = yield* ask<TokenTable>(statements.addToken({ ...toTokenTable(token), ...time() }))
        if (row === undefined) throw tokenTaken(next.tokenId)
        yield* record(tokenOperation('token.rotated', old, { by, more: { next: next.tokenId } }))
        yield [commit]
        return { old, next: toToken(row) }
      }),
    async byHash(hash) {
      const [row] = await driver.run(() => ask<TokenTable>(statements.tokenByHash({ hash, ...time() })))
      return row && toToken(row)
    },
    async list(query) {
      return (await driver.run(() => ask<TokenTable>(statements.tokens(query)))).map(toToken)
    },
    revoke: (tokenId, { by = unnamedActor } = {}) =>
      driver.transaction(function* (again) {
        const [, [revoked] = []] = yield [begin, statements.revokeToken({ token_id: tokenId, ...time() })]
        if (revoked !== undefined)
          yield* record(tokenOperation('token.revoked', toToken(revoked as unknown as TokenTable), { by }))
        yield [commit]
        if (revoked !== undefined || !again) return revoked !== undefined
        // The first try of this call may have revoked it.
        const [row] = yield* ask<TokenTable>(statements.token({ token_id: tokenId }))
        return row !== undefined
      }),
  }
}

/** Finds the token that an earlier try of the same call has added. */
function* findAdded(
  statements: TokenStatements,
  { tokenId, hash }: Pick<TokenRow, 'tokenId' | 'hash'>,
): Steps<TokenTable[]> {
  const there = yield* ask<TokenTable>(statements.token({ token_id: tokenId }))
  return there.filter((row) => row.hash === hash)
}

function toTokenTable(
  token: Omit<TokenRow, 'createdAt' | 'revokedAt'>,
): Omit<TokenTable, 'created_at' | 'revoked_at'> {
  return {
    token_id: token.tokenId,
    tenant: token.tenant,
    role: token.role,
    name: token.name,
    hash: token.hash,
    expires_at: token.expiresAt ?? null,
    capability_id: token.capabilityId ?? null,
    family_id: token.familyId ?? null,
    task_roles: token.taskRoles ? JSON.stringify(token.taskRoles) : null,
  }
}

function createRegistrations(
  statements: RecordStatements['registrations'],
  { driver, time, record, begin, commit }: RecordContext,
): Records['registrations'] {
  return {
    async put({ tenant, capabilityId, payload, endpoint, ttlMs, tokenId }, { by = unnamedActor } = {}) {
      const row = {
        tenant,
        capability_id: capabilityId,
        body: plainText(payload),
        endpoint: plainText(endpoint),
        ttl_ms: ttlMs,
        token_id: tokenId,
      }
      const put = await driver.transaction(function* () {
        const [, [before] = [], [after] = []] = yield [
          begin,
          statements.capability({ tenant, capability_id: capabilityId, ...time() }),
          statements.putCapability({ ...row, ...time() }),
        ]
        if (after !== undefined)
          yield* record(
            registrationOperation({ tenant, capabilityId, tokenId }, { by, isNew: before === undefined }),
          )
        yield [commit]
        return after as unknown as TimedCapability | undefined
      })
      return put && toRegistration(put)
    },
    async beat({ tenant, capabilityId }) {
      const key = { tenant, capability_id: capabilityId }
      const [row] = await driver.run(() =>
        ask<TimedCapability>(statements.beatCapability({ ...key, ...time() })),
      )
      return row && toRegistration(row)
    },
    remove: ({ tenant, capabilityId }, { by = unnamedActor } = {}) =>
      driver.transaction(function* (again) {
        const key = { tenant, capability_id: capabilityId }
        const [, removed = []] = yield [begin, statements.removeCapability(key)]
        if (removed.length > 0) yield* record(removalOperation({ tenant, capabilityId }, by))
        yield [commit]
        // If the answer to the first try was lost, that try removed it.
        return removed.length > 0 || again
      }),
    reseal: ({ tenant, capabilityId, from, to }) =>
      driver.run(function* (again) {
        const key = { tenant, capability_id: capabilityId }
        const sealed = { from: plainText(from), to: plainText(to) }
        const changed = yield* ask(statements.resealCapability({ ...key, ...sealed }))
        return changed.length > 0 || again
      }),
    async list({ tenant }) {
      const rows = await driver.run(() =>
        ask<TimedCapability>(
          tenant === undefined
            ? statements.capabilities(time())
            : statements.capabilitiesByTenant({ tenant, ...time() }),
        ),
      )
      return rows.map(toRegistration)
    },
  }
}

function createNames(
  statements: RecordStatements['names'],
  { driver, nextName, time }: RecordContext,
): Records['once'] {
  return {
    take(name, { body, keepMs }) {
      const row = { ...hashName(name), name, body: plainText(body), take_id: nextName() }
      return driver.run(function* () {
        for (;;) {
          const [taken = []] = yield [
            statements.takeName({ ...row, keepMs, ...time() }),
            statements.sweepNames({ limit: sweepSize, ...time() }),
          ]
          if (taken.length > 0) return { kind: 'taken' } as const
          const [held] = yield* ask<Pick<NameTable, 'body'>>(statements.heldName({ ...row, ...time() }))
          if (held) return { kind: 'held', body: JSON.parse(held.body) as Json } as const
          // It was released or expired between the two statements: try again.
        }
      })
    },
    async look(name) {
      const statement = () => statements.heldName({ ...hashName(name), ...time() })
      const [held] = await driver.run(() => ask<Pick<NameTable, 'body'>>(statement()))
      return held && { body: JSON.parse(held.body) as Json }
    },
    async settle(name, body) {
      const row = { ...hashName(name), body: plainText(body) }
      await driver.run(() => ask(statements.settleName({ ...row, ...time() })))
    },
    async renew(name, keepMs) {
      const row = { ...hashName(name), keepMs }
      const renewed = await driver.run(() => ask(statements.renewName({ ...row, ...time() })))
      return renewed.length > 0
    },
    async release(name) {
      await driver.run(() => ask(statements.releaseName(hashName(name))))
    },
  }
}

/** Hashes the text as it is stored: UTF-8 would make all lone surrogates the same. */
function hashName(name: string): Pick<NameTable, 'name_hash'> {
  return { name_hash: createHash('sha256').update(toColumn(name)).digest('hex') }
}

function toToken(row: TokenTable): TokenRow {
  return {
    tokenId: row.token_id,
    tenant: row.tenant,
    // Only this module writes the column.
    role: row.role as Role,
    name: row.name,
    hash: row.hash,
    createdAt: row.created_at,
    ...(row.expires_at !== null && { expiresAt: row.expires_at }),
    ...(row.revoked_at !== null && { revokedAt: row.revoked_at }),
    ...(row.capability_id !== null && { capabilityId: row.capability_id }),
    ...(row.family_id !== null && { familyId: row.family_id }),
    ...(row.task_roles !== null && { taskRoles: JSON.parse(row.task_roles) as string[] }),
  }
}

function toRegistration(row: TimedCapability): RegistrationRow {
  return {
    tenant: row.tenant,
    capabilityId: row.capability_id,
    payload: JSON.parse(row.body),
    endpoint: JSON.parse(row.endpoint),
    status: row.last_seen_at + row.ttl_ms > row.now ? 'active' : 'inactive',
    registeredAt: row.registered_at,
    heartbeatAt: row.last_seen_at,
    ttlMs: row.ttl_ms,
    tokenId: row.token_id,
  }
}
