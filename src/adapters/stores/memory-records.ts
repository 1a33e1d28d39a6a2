/** Tokens, registrations and names that only one may take, in plain maps. */
import type { Clock } from '../../base/clock.ts'
import type { Json } from '../../base/json.ts'
import type { Records, RegistrationRow, TokenRow } from '../../domain/ports/records.ts'

type Registered = Omit<RegistrationRow, 'status'>

export function createMemoryRecords({ now }: Pick<Clock, 'now'>): Records {
  const tokens = new Map<string, TokenRow>()
  const registrations = new Map<string, Registered>()
  const names = new Map<string, { body: Json; until: number }>()
  const keyOf = ({ tenant, capabilityId }: { tenant: string; capabilityId: string }) =>
    JSON.stringify([tenant, capabilityId])
  const shown = (row: Registered): RegistrationRow => ({
    ...row,
    status: row.heartbeatAt + row.ttlMs > now() ? 'active' : 'inactive',
  })

  return {
    tokens: {
      async add(token) {
        const row = { ...token, createdAt: now() }
        tokens.set(row.tokenId, row)
        return row
      },
      async byHash(hash) {
        for (const row of tokens.values()) {
          const over = row.revokedAt !== undefined || (row.expiresAt ?? Infinity) <= now()
          if (row.hash === hash && !over) return row
        }
        return undefined
      },
      async list({ tenant }) {
        return [...tokens.values()].filter((row) => tenant === undefined || row.tenant === tenant)
      },
      async revoke(tokenId) {
        const row = tokens.get(tokenId)
        if (row === undefined || row.revokedAt !== undefined) return false
        tokens.set(tokenId, { ...row, revokedAt: now() })
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
        const before = registrations.get(keyOf(key))
        if (before === undefined) return undefined
        const next = { ...before, heartbeatAt: now() }
        registrations.set(keyOf(key), next)
        return shown(next)
      },
      remove: async (key) => registrations.delete(keyOf(key)),
      async list({ tenant }) {
        const rows = [...registrations.values()].map(shown)
        return rows.filter((row) => tenant === undefined || row.tenant === tenant)
      },
    },

    once: {
      async take(name, { body, keepMs }) {
        for (const [held, { until }] of names) if (until <= now()) names.delete(held)
        const held = names.get(name)
        if (held) return { kind: 'held', body: held.body }
        names.set(name, { body, until: now() + keepMs })
        return { kind: 'taken' }
      },
      async settle(name, body) {
        const held = names.get(name)
        if (held) names.set(name, { ...held, body })
      },
      async release(name) {
        names.delete(name)
      },
    },
  }
}
