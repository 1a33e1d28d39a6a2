/** Encrypts the stored secrets of agents and webhooks with the newest key, so that a previous key can be retired. */
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import type { Records, RegistrationRow } from '../../domain/ports/records.ts'
import { createEndpointSeal, type EndpointSeal, sealedOwner } from './endpoint-seal.ts'

export interface Resealed {
  readonly resealed: number
  /** Had the newest key already, or no secrets. */
  readonly current: number
  /** No known key decrypts them; `keyId` is that of the key that is missing. Webhooks are named `webhook ID`. */
  readonly unreadable: readonly (Pick<RegistrationRow, 'tenant' | 'capabilityId'> & {
    readonly keyId?: string
  })[]
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
 * Reseals the secrets of all agents and webhooks in a store. `keys` are 32 bytes each as hex or base64, newest first: the first encrypts,
 * all of them decrypt.
 */
export function resealSecrets(
  records: Pick<Records, 'registrations' | 'operations' | 'documents'>,
  { keys, ...request }: ResealRequest & { readonly keys: readonly string[] },
): Promise<Resealed> {
  if (keys.length === 0)
    throw new ProvisoError(
      'capability/secret-key',
      'Cannot encrypt the secrets of agents and webhooks: secret key not found',
    )
  return resealEndpoints(records, createEndpointSeal({ keys, clear: false }), request)
}

/** Tries each row a few times: its agent may register at the same moment, which seals with the newest key as well. */
const tries = 3

export async function resealEndpoints(
  records: Pick<Records, 'registrations' | 'operations' | 'documents'>,
  seal: EndpointSeal,
  { tenant, by, dryRun = false }: ResealRequest,
): Promise<Resealed> {
  const unreadable: (Owner & { readonly keyId?: string })[] = []
  const counts = { resealed: 0, current: 0 }
  const changed = new Map<string, string[]>()
  const list = () => listSealed(records, tenant)
  for (let rows = await list(), left = tries; rows.length > 0 && left > 0; left--) {
    const lost = new Set<string>()
    for (const { owner, endpoint, store } of rows) {
      const opened = seal.isCurrent(endpoint) ? 'current' : seal.open({ ...owner, endpoint })
      if (opened === 'current' || opened === undefined) counts.current++
      else if (opened === 'sealed') unreadable.push({ ...owner, ...readKeyId(endpoint) })
      else if (dryRun || (await store(seal.seal(owner, opened)))) {
        counts.resealed++
        changed.set(owner.tenant, [...(changed.get(owner.tenant) ?? []), owner.capabilityId])
      } else lost.add(JSON.stringify(owner))
    }
    if (lost.size === 0) break
    rows = (await list()).filter(({ owner }) => lost.has(JSON.stringify(owner)))
  }
  for (const [owner, names] of dryRun ? [] : changed)
    await records.operations.append({
      tenant: owner,
      by,
      action: 'secrets.resealed',
      subject: `${names.length} agents and webhooks`,
      details: { capabilities: names },
    })
  return { ...counts, unreadable }
}

/** The id of the key in `v1.KEY-ID.CIPHERTEXT`. */
function readKeyId(endpoint: Json): { readonly keyId?: string } {
  const sealed = isObject(endpoint) ? own(endpoint, 'sealed') : undefined
  const keyId = typeof sealed === 'string' ? /^v1\.([\da-f]{8})\./.exec(sealed)?.[1] : undefined
  return keyId === undefined ? {} : { keyId }
}

type Owner = Pick<RegistrationRow, 'tenant' | 'capabilityId'>

/** An endpoint in the store, and how to replace it if it has not changed. */
interface StoredEndpoint {
  readonly owner: Owner
  readonly endpoint: Json
  readonly store: (to: Json) => Promise<boolean>
}

/** The endpoints of agents and of webhooks. */
async function listSealed(
  { registrations, documents }: Pick<Records, 'registrations' | 'documents'>,
  tenant: string | undefined,
): Promise<StoredEndpoint[]> {
  const of = tenant === undefined ? {} : { tenant }
  const agents = (await registrations.list(of)).map(({ tenant, capabilityId, endpoint }) => {
    const owner = { tenant, capabilityId }
    return {
      owner,
      endpoint,
      store: (to: Json) => registrations.reseal({ ...owner, from: endpoint, to }),
    }
  })
  const webhooks = (await documents.list({ kind: 'webhook', ...of })).map((row) => {
    const { endpoint, ...owner } = sealedOwner(row)
    const { kind, tenant, id, body, version } = row
    const store = async (to: Json) => {
      const next = { ...(body as { [name: string]: Json }), endpoint: to }
      return (await documents.replace({ kind, tenant, id, body: next }, { version })) !== undefined
    }
    return { owner, endpoint, store }
  })
  return [...agents, ...webhooks]
}
