/** Encrypts the stored secrets of agents with the newest key, so that a previous key can be retired. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Records, RegistrationRow } from '../../domain/ports/records.ts'
import { createEndpointSeal, type EndpointSeal } from './endpoint-seal.ts'

export interface Resealed {
  readonly resealed: number
  /** Had the newest key already, or no secrets. */
  readonly current: number
  /** No known key decrypts them. */
  readonly unreadable: readonly Pick<RegistrationRow, 'tenant' | 'capabilityId'>[]
}

export interface ResealRequest {
  /** Only agents of this tenant. Default: all. */
  readonly tenant?: string
  /** For the operations audit. */
  readonly by: string
  /** Only count. Default false. */
  readonly dryRun?: boolean
}

/**
 * Reseals the secrets of all agents in a store. `keys` are 32 bytes each as hex or base64, newest first: the first encrypts,
 * all of them decrypt.
 */
export function resealSecrets(
  records: Pick<Records, 'registrations' | 'operations'>,
  { keys, ...request }: ResealRequest & { readonly keys: readonly string[] },
): Promise<Resealed> {
  if (keys.length === 0)
    throw new ProvisoError(
      'capability/secret-key',
      'Cannot encrypt the secrets of agents: there is no secret key',
    )
  return resealEndpoints(records, createEndpointSeal({ keys, clear: false }), request)
}

/** Tries each row a few times: its agent may register at the same moment, which seals with the newest key as well. */
const tries = 3

export async function resealEndpoints(
  { registrations, operations }: Pick<Records, 'registrations' | 'operations'>,
  seal: EndpointSeal,
  { tenant, by, dryRun = false }: ResealRequest,
): Promise<Resealed> {
  const unreadable: Resealed['unreadable'][number][] = []
  const counts = { resealed: 0, current: 0 }
  const changed = new Map<string, string[]>()
  const list = () => registrations.list(tenant === undefined ? {} : { tenant })
  for (let rows = await list(), left = tries; rows.length > 0 && left > 0; left--) {
    const lost = new Set<string>()
    for (const row of rows) {
      const { capabilityId, endpoint } = row
      const key = { tenant: row.tenant, capabilityId }
      const opened = seal.isCurrent(endpoint) ? 'current' : seal.open(row)
      if (opened === 'current' || opened === undefined) counts.current++
      else if (opened === 'sealed') unreadable.push(key)
      else if (
        dryRun ||
        (await registrations.reseal({ ...key, from: endpoint, to: seal.seal(key, opened) }))
      ) {
        counts.resealed++
        changed.set(row.tenant, [...(changed.get(row.tenant) ?? []), capabilityId])
      } else lost.add(JSON.stringify(key))
    }
    if (lost.size === 0) break
    rows = (await list()).filter((row) =>
      lost.has(JSON.stringify({ tenant: row.tenant, capabilityId: row.capabilityId })),
    )
  }
  for (const [owner, capabilities] of dryRun ? [] : changed)
    await operations.append({
      tenant: owner,
      by,
      action: 'secrets.resealed',
      subject: `${capabilities.length} agents`,
      details: { capabilities },
    })
  return { ...counts, unreadable }
}
