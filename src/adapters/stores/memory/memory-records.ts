/** Tokens, registrations and exclusive names of the memory store, in plain maps. */

import type { Json } from '../../../base/json.ts'
import type { Clock } from '../../../base/time/clock.ts'
import type { Records, RegistrationRow, TokenRow } from '../../../domain/ports/records.ts'
import { tokenTaken } from '../shared/token-taken.ts'

type Registered = Omit<RegistrationRow, 'status'>

/** How many names each `take` checks for expiry. */
const sweepSize = 100

/** `now` of the store that these belong to; it throws once that is closed. */
export function createMemoryRecords({ now }: Pick<Clock, 'now'>): Records {
  const tokens = new Map<string, TokenRow>()
  const registrations = new Map<string, Registered>()
  const names = new Map<string, { body: Json; until: number }>()
  const keyOf = ({ tenant, capabilityId }: { tenant: string; capabilityId: string }) =>
    JSON.stringify([tenant, capabilityId])
  const held = (name: string) => {
    const found = names.get(name)
    return found !== undefined && found.until > now() ? found : undefined
  }
  const shown = (row: Registered): RegistrationRow => ({
    ...row,
    status: row.heartbeatAt + row.ttlMs > now() ? 'active' : 'inactive',
  })

  return {
    tokens: {
      async add(token) {
        const row = { ...token, createdAt: now() }
        if (tokens.has(row.tokenId)) throw tokenTaken(row.tokenId)
        tokens.set(row.tokenId, row)
        return row
      },
      async byHash(hash) {
        const time = now()
        const isOver = ({ revokedAt, expiresAt = Infinity }: TokenRow) =>
          revokedAt !== undefined || expiresAt <= time
        return [...tokens.values()].filter((row) => row.hash === hash && !isOver(row)).sort(byCreation)[0]
      },
      async list({ tenant }) {
        now()
        const rows = [...tokens.values()].filter((row) => tenant === undefined || row.tenant === tenant)
        return rows.sort(byCreation)
      },
      async revoke(tokenId) {
        const revokedAt = now()
        const row = tokens.get(tokenId)
        if (row === undefined || row.revokedAt !== undefined) return false
        tokens.set(tokenId, { ...row, revokedAt })
        return true
      },
    },

    registrations: {
      async put(row) {
        const before = registrations.get(keyOf(row))
        if (before && before.tokenId !== row.tokenId && shown(before).status === 'active') return undefined
        const next = { ...row, registeredAt: before?.registeredAt ?? now(), heartbeatAt: now() }
        registrations.set(keyOf(row), next)
        return shown(next)
      },
      async beat(key) {
        const heartbeatAt = now()
        const before = registrations.get(keyOf(key))
        if (before === undefined) return undefined
        const next = { ...before, heartbeatAt }
        registrations.set(keyOf(key), next)
        return shown(next)
      },
      async remove(key) {
        now()
        return registrations.delete(keyOf(key))
      },
      async list({ tenant }) {
        now()
        const rows = [...registrations.values()].filter(
          (row) => tenant === undefined || row.tenant === tenant,
        )
        return rows.map(shown).sort(byRegistration)
      },
    },

    once: {
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
      async release(name) {
        now()
        names.delete(name)
      },
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
