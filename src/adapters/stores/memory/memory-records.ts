/** Tokens, registrations and exclusive names of the memory store, in plain maps. */

import { canonicalJson } from '../../../base/canonical.ts'
import type { Json } from '../../../base/json.ts'
import type { Clock } from '../../../base/time/clock.ts'
import {
  defaultOperationLimit,
  linkOperation,
  type OperationRow,
  unnamedActor,
} from '../../../domain/ports/operations.ts'
import type { Records, RegistrationRow, TokenRow } from '../../../domain/ports/records.ts'
import { registrationOperation, removalOperation, tokenOperation } from '../shared/record-operations.ts'
import { tokenTaken } from '../shared/token-taken.ts'
import { createMemoryDocuments, type MemoryDocuments } from './memory-documents.ts'

type Registered = Omit<RegistrationRow, 'status'>

/** How many names each `take` checks for expiry. */
const sweepSize = 100

export interface MemoryRecords extends Records {
  readonly once: Records['once'] & {
    /** Deletes stored answers about a run, or counts them; returns their number. */
    deleteAbout(runId: string, dryRun: boolean): number
  }
  readonly documents: MemoryDocuments
}

/** `now` of the store that these belong to; it throws once that is closed. */
export function createMemoryRecords({ now }: Pick<Clock, 'now'>): MemoryRecords {
  const operations = createOperations(now)
  return {
    version: async () => operations.count(),
    tokens: createTokens(now, operations),
    registrations: createRegistrations(now, operations),
    once: createNames(now),
    operations,
    documents: createMemoryDocuments(now, operations),
  }
}

function createOperations(now: () => number): Records['operations'] & { count(): number } {
  const rows: OperationRow[] = []
  return {
    count: () => rows.length,
    async append(operation) {
      const row = linkOperation(rows.at(-1), { ...operation, at: now() })
      rows.push(row)
      return row
    },
    async list({ tenant, action, subject, before, limit = defaultOperationLimit }) {
      now()
      return rows
        .filter(
          (row) =>
            (tenant === undefined || row.tenant === tenant) &&
            (action === undefined || row.action === action) &&
            (subject === undefined || row.subject === subject) &&
            (before === undefined || row.seq < before),
        )
        .reverse()
        .slice(0, limit)
    },
  }
}

function createTokens(now: () => number, operations: Records['operations']): Records['tokens'] {
  const tokens = new Map<string, TokenRow>()
  const isOver = ({ revokedAt, expiresAt = Number.POSITIVE_INFINITY }: TokenRow, time: number) =>
    revokedAt !== undefined || expiresAt <= time
  return {
    async add(token, { by = unnamedActor } = {}) {
      const row = { ...token, createdAt: now() }
      if (tokens.has(row.tokenId)) throw tokenTaken(row.tokenId)
      tokens.set(row.tokenId, row)
      await operations.append(tokenOperation('token.created', row, { by }))
      return row
    },
    async rotate({ tokenId, next, overlapMs, by = unnamedActor }) {
      const time = now()
      const before = tokens.get(tokenId)
      if (before === undefined || isOver(before, time)) return undefined
      if (tokens.has(next.tokenId)) throw tokenTaken(next.tokenId)
      const { createdAt: _, expiresAt = Number.POSITIVE_INFINITY, ...kept } = before
      const old = { ...before, expiresAt: Math.min(expiresAt, time + overlapMs) }
      const row = { ...kept, familyId: before.familyId ?? tokenId, ...next, createdAt: time }
      tokens.set(tokenId, old).set(next.tokenId, row)
      await operations.append(tokenOperation('token.rotated', old, { by, more: { next: next.tokenId } }))
      return { old, next: row }
    },
    async byHash(hash) {
      const time = now()
      return [...tokens.values()].filter((row) => row.hash === hash && !isOver(row, time)).sort(byCreation)[0]
    },
    async list({ tenant }) {
      now()
      const rows = [...tokens.values()].filter((row) => tenant === undefined || row.tenant === tenant)
      return rows.sort(byCreation)
    },
    async revoke(tokenId, { by = unnamedActor } = {}) {
      const revokedAt = now()
      const row = tokens.get(tokenId)
      if (row === undefined || row.revokedAt !== undefined) return false
      tokens.set(tokenId, { ...row, revokedAt })
      await operations.append(tokenOperation('token.revoked', row, { by }))
      return true
    },
  }
}

function createRegistrations(now: () => number, operations: Records['operations']): Records['registrations'] {
  const registrations = new Map<string, Registered>()
  const toKey = ({ tenant, capabilityId }: { tenant: string; capabilityId: string }) =>
    JSON.stringify([tenant, capabilityId])
  const shown = (row: Registered): RegistrationRow => ({
    ...row,
    status: row.heartbeatAt + row.ttlMs > now() ? 'active' : 'inactive',
  })
  return {
    async put(row, { by = unnamedActor } = {}) {
      const before = registrations.get(toKey(row))
      if (before && before.tokenId !== row.tokenId && shown(before).status === 'active') return undefined
      const next = { ...row, registeredAt: before?.registeredAt ?? now(), heartbeatAt: now() }
      registrations.set(toKey(row), next)
      await operations.append(registrationOperation(row, { by, isNew: before === undefined }))
      return shown(next)
    },
    async beat(key) {
      const heartbeatAt = now()
      const before = registrations.get(toKey(key))
      if (before === undefined) return undefined
      const next = { ...before, heartbeatAt }
      registrations.set(toKey(key), next)
      return shown(next)
    },
    async remove(key, { by = unnamedActor } = {}) {
      now()
      const isRemoved = registrations.delete(toKey(key))
      if (isRemoved) await operations.append(removalOperation(key, by))
      return isRemoved
    },
    async reseal({ from, to, ...key }) {
      now()
      const before = registrations.get(toKey(key))
      if (before === undefined || canonicalJson(before.endpoint) !== canonicalJson(from)) return false
      registrations.set(toKey(key), { ...before, endpoint: to })
      return true
    },
    async list({ tenant }) {
      now()
      const rows = [...registrations.values()].filter((row) => tenant === undefined || row.tenant === tenant)
      return rows.map(shown).sort(byRegistration)
    },
  }
}

function createNames(now: () => number): MemoryRecords['once'] {
  const names = new Map<string, { body: Json; until: number }>()
  const held = (name: string) => {
    const found = names.get(name)
    return found !== undefined && found.until > now() ? found : undefined
  }
  return {
    async take(name, { body, keepMs }) {
      sweep(names, now())
      const taken = held(name)
      if (taken) return { kind: 'held', body: taken.body }
      // Inserted again, so that the oldest names are swept first.
      names.delete(name)
      names.set(name, { body, until: now() + keepMs })
      return { kind: 'taken' }
    },
    async look(name) {
      now()
      const taken = held(name)
      return taken && { body: taken.body }
    },
    async settle(name, body) {
      const taken = held(name)
      if (taken) names.set(name, { ...taken, body })
    },
    async renew(name, keepMs) {
      const taken = held(name)
      if (taken) names.set(name, { ...taken, until: now() + keepMs })
      return taken !== undefined
    },
    async release(name) {
      now()
      names.delete(name)
    },
    deleteAbout(runId, dryRun) {
      const about = [...names].filter(([, { body }]) => JSON.stringify(body).includes(JSON.stringify(runId)))
      if (!dryRun) for (const [name] of about) names.delete(name)
      return about.length
    },
  }
}

function sweep(names: Map<string, { until: number }>, now: number): void {
  let looked = 0
  for (const [name, { until }] of names) {
    if (looked === sweepSize) return
    looked += 1
    if (until <= now) names.delete(name)
  }
}

function byCreation(one: TokenRow, other: TokenRow): number {
  return one.createdAt - other.createdAt || order(one.tokenId, other.tokenId)
}

function byRegistration(one: RegistrationRow, other: RegistrationRow): number {
  return (
    one.registeredAt - other.registeredAt ||
    order(one.tenant, other.tenant) ||
    order(one.capabilityId, other.capabilityId)
  )
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
