/**
 * Tokens, registrations and exclusive names on a SQL database. Every change is one conditional statement that the database
 * checks by its own clock, so two processes never both win. Statements are idempotent: one whose answer was lost is sent
 * again, and has no second effect.
 */
import { createHash } from 'node:crypto'
import type { Json } from '../../../base/json.ts'
import type { Records, RegistrationRow, Role, TokenRow } from '../../../domain/ports/records.ts'
import { plainText } from '../shared/codec.ts'
import { toColumn } from '../shared/column-text.ts'
import { tokenTaken } from '../shared/token-taken.ts'
import type { Timed } from './dialects/sql-dialect.ts'
import type { SqlDriver } from './sql-driver.ts'
import {
  createRecordStatements,
  type RecordStatements,
  type TimedCapability,
} from './statements/record-statements.ts'
import { ask } from './steps.ts'
import type { NameTable, TokenTable } from './tables.ts'

/** Maximum number of expired names that each take deletes: more than one, so that they never pile up, and bounded. */
const sweepSize = 100

export function createSqlRecords(driver: SqlDriver, nextName: () => string): Records {
  const statements = createRecordStatements(driver.builder, driver.dialect)
  const context: RecordContext = { driver, nextName, time: () => ({ now: driver.now() }) }
  return {
    tokens: createTokens(statements.tokens, context),
    registrations: createRegistrations(statements.registrations, context),
    once: createNames(statements.names, context),
  }
}

interface RecordContext {
  readonly driver: SqlDriver
  /** Makes a name that no other process makes. */
  readonly nextName: () => string
  readonly time: () => Timed
}

function createTokens(
  statements: RecordStatements['tokens'],
  { driver, time }: RecordContext,
): Records['tokens'] {
  return {
    async add(token) {
      const row = {
        token_id: token.tokenId,
        tenant: token.tenant,
        role: token.role,
        name: token.name,
        hash: token.hash,
        expires_at: token.expiresAt ?? null,
        capability_id: token.capabilityId ?? null,
      }
      const [added] = await driver.run(function* (again) {
        const rows = yield* ask<TokenTable>(statements.addToken({ ...row, ...time() }))
        if (rows.length > 0 || !again) return rows
        const there = yield* ask<TokenTable>(statements.token(row))
        return there.filter(({ hash }) => hash === row.hash)
      })
      if (added === undefined) throw tokenTaken(token.tokenId)
      return toToken(added)
    },
    async byHash(hash) {
      const [row] = await driver.run(() => ask<TokenTable>(statements.tokenByHash({ hash, ...time() })))
      return row && toToken(row)
    },
    async list(query) {
      return (await driver.run(() => ask<TokenTable>(statements.tokens(query)))).map(toToken)
    },
    revoke: (tokenId) =>
      driver.run(function* (again) {
        const revoked = yield* ask(statements.revokeToken({ token_id: tokenId, ...time() }))
        if (revoked.length > 0 || !again) return revoked.length > 0
        // The first try of this call may have revoked it.
        const [row] = yield* ask<TokenTable>(statements.token({ token_id: tokenId }))
        return row !== undefined
      }),
  }
}

function createRegistrations(
  statements: RecordStatements['registrations'],
  { driver, time }: RecordContext,
): Records['registrations'] {
  return {
    async put({ tenant, capabilityId, payload, endpoint, ttlMs, tokenId }) {
      const row = {
        tenant,
        capability_id: capabilityId,
        body: plainText(payload),
        endpoint: plainText(endpoint),
        ttl_ms: ttlMs,
        token_id: tokenId,
      }
      const [put] = await driver.run(() =>
        ask<TimedCapability>(statements.putCapability({ ...row, ...time() })),
      )
      return put && toRegistration(put)
    },
    async beat({ tenant, capabilityId }) {
      const key = { tenant, capability_id: capabilityId }
      const [row] = await driver.run(() =>
        ask<TimedCapability>(statements.beatCapability({ ...key, ...time() })),
      )
      return row && toRegistration(row)
    },
    remove: ({ tenant, capabilityId }) =>
      driver.run(function* (again) {
        const key = { tenant, capability_id: capabilityId }
        const removed = yield* ask(statements.removeCapability(key))
        // If the answer to the first try was lost, that try removed it.
        return removed.length > 0 || again
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
