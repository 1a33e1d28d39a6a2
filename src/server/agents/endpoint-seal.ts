/**
 * Encrypts the secrets of agents for the store with AES-256-GCM. The key comes from the environment or from the key file
 * beside the store, never from the store, and the agent's id is bound as associated data. Keys can be rotated: previous keys still decrypt, and a secret is
 * encrypted with the newest key when its agent registers again. Secrets stored in the clear are still read.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { ProvisoError } from '../../base/errors/error.ts'
import { isObject, type Json, own } from '../../base/json.ts'
import { type Endpoint, readEndpoint, type SigningKey } from '../../domain/capability/endpoint.ts'
import type { DocumentRow } from '../../domain/ports/documents.ts'

// Creates and rotates the keys that sign calls to an agent and its callbacks. A key is returned once, when it is created.

/** How long the previous key stays valid after a rotation: for calls in flight, and for processes that have not reloaded it. */
const overlapMs = 24 * 3_600_000

interface Keys {
  readonly keys: readonly SigningKey[]
  /** Present only when a key was created. */
  readonly issued?: SigningKey
}

/** Returns the valid keys, at most two. Creates one if no key is valid or a rotation is requested. */
export function renewKeys(
  before: readonly SigningKey[],
  given: { rotate: boolean; now: number; newSecret?: () => string },
): Keys {
  const { rotate, now, newSecret = newSigningSecret } = given
  const alive = before.filter(({ until }) => until === undefined || until > now)
  const [newest] = alive
  if (newest !== undefined && !rotate) return { keys: alive }
  const issued: SigningKey = {
    keyId: randomBytes(4).toString('hex'),
    secret: newSecret(),
  }
  if (newest === undefined) return { keys: [issued], issued }
  const until = Math.min(newest.until ?? Number.POSITIVE_INFINITY, now + overlapMs)
  return { keys: [issued, { ...newest, until }], issued }
}

function newSigningSecret(): string {
  return `psk_${randomBytes(32).toString('base64url')}`
}

interface EndpointSealOptions {
  /**
   * Keys of 32 bytes, as hex or base64, newest first: the first encrypts, all of them decrypt. A function returns them for each
   * secret, and may make a first key.
   */
  readonly keys: readonly string[] | ((isSealing: boolean) => readonly Key[])
  /** Whether secrets may be stored in the clear while there is no key. A function allows it and is called the first time. */
  readonly clear: boolean | (() => void)
}

/** The owner of an endpoint. It is bound into the ciphertext, so that one agent's secrets cannot be opened as another's. */
interface EndpointOwner {
  readonly tenant: string
  readonly capabilityId: string
}

export interface EndpointSeal {
  /** Returns the form for the store. Throws `capability/secret-key` if there is no key and secrets must not be stored in the clear. */
  seal(owner: EndpointOwner, endpoint: Endpoint): Json
  /** Returns `sealed` if no known key decrypts it, and `undefined` if the stored value is not an endpoint. */
  open(stored: EndpointOwner & { readonly endpoint: Json }): Endpoint | 'sealed' | undefined
  /** Whether a stored endpoint is encrypted with the newest key, or there is none. */
  isCurrent(stored: Json): boolean
}

interface Key {
  readonly id: string
  readonly bytes: Buffer
}

const [ivBytes, tagBytes] = [12, 16]

export function createEndpointSeal({ keys: given, clear }: EndpointSealOptions): EndpointSeal {
  const known = typeof given === 'function' ? [] : given.map(readSecretKey)
  const keys = typeof given === 'function' ? given : () => known
  let reported = false

  return {
    seal(owner, { keys: signing, bearer, ...open }) {
      const secrets = { keys: signing.map((key) => ({ ...key })), ...(bearer !== undefined && { bearer }) }
      const [newest] = keys(true)
      if (newest !== undefined) return { ...open, sealed: encrypt(JSON.stringify(secrets), newest, owner) }
      if (clear === false)
        throw new ProvisoError(
          'capability/secret-key',
          'Cannot store the secrets of agents and webhooks: this server has no secret key and may not store them in the clear',
        )
      if (!reported && typeof clear === 'function') clear()
      reported = true
      return { ...open, ...secrets }
    },
    isCurrent(stored) {
      if (!isObject(stored)) return true
      const [sealed, [newest]] = [own(stored, 'sealed'), keys(false)]
      return typeof sealed === 'string' && newest !== undefined && sealed.startsWith(`v1.${newest.id}.`)
    },
    open({ endpoint, ...owner }) {
      const sealed = isObject(endpoint) ? own(endpoint, 'sealed') : undefined
      if (typeof sealed !== 'string') return readEndpoint(endpoint)
      const secrets = decrypt(sealed, keys(false), owner)
      return secrets === undefined ? 'sealed' : readEndpoint({ ...(endpoint as object), ...secrets })
    },
  }
}

/** Opens an endpoint. Throws if it cannot be decrypted, which means that the server lacks a key. */
export function openEndpoint(
  seal: EndpointSeal,
  stored: EndpointOwner & { readonly endpoint: Json },
): Endpoint | undefined {
  const opened = seal.open(stored)
  if (opened !== 'sealed') return opened
  throw new ProvisoError(
    'capability/secret-key',
    `Cannot decrypt the secrets of "${stored.capabilityId}": this server does not have their key`,
    { hint: 'Set PROVISO_SECRET_KEY_PREVIOUS to that key, or register the agent again' },
  )
}

// Webhooks are stored as documents, with their URL and keys as an endpoint.

/** The id is bound into the ciphertext: the secrets of one webhook cannot be opened as another's, or as an agent's. */
export function webhookOwner(tenant: string, id: string): EndpointOwner {
  return { tenant, capabilityId: `webhook ${id}` }
}

/** The endpoint of a stored webhook, with its owner. */
export function sealedOwner({ tenant, id, body }: DocumentRow) {
  const endpoint: Json = isObject(body) ? ((own(body, 'endpoint') ?? null) as Json) : null
  return { ...webhookOwner(tenant, id), endpoint }
}

/** Format: `v1.<key id>.<base64url of nonce, tag and ciphertext>`. */
function encrypt(text: string, { id, bytes }: Key, owner: EndpointOwner): string {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', bytes, iv).setAAD(toAssociatedData(owner))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `v1.${id}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`
}

function decrypt(sealed: string, keys: readonly Key[], owner: EndpointOwner): object | undefined {
  const [version, id, body = ''] = sealed.split('.')
  const key = version === 'v1' ? keys.find((each) => each.id === id) : undefined
  const bytes = Buffer.from(body, 'base64url')
  if (key === undefined || bytes.length < ivBytes + tagBytes) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(toAssociatedData(owner))
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()])
    return JSON.parse(text.toString('utf8'))
  } catch {
    // Wrong tag: encrypted with another key, or for another agent. The caller reports it.
    return undefined
  }
}

function toAssociatedData({ tenant, capabilityId }: EndpointOwner): Buffer {
  return Buffer.from(JSON.stringify(['proviso endpoint', tenant, capabilityId]))
}

/** Parses a key and derives an id that does not reveal it. */
export function readSecretKey(text: string): Key {
  const bytes = /^[\da-f]{64}$/i.test(text)
    ? Buffer.from(text, 'hex')
    : /^[\w+/-]{43}=?$/.test(text)
      ? Buffer.from(text, 'base64')
      : undefined
  if (bytes === undefined)
    throw new ProvisoError(
      'option/invalid',
      'A secret key must have 32 bytes, written as 64 hex digits or as base64',
      {
        hint: 'Check PROVISO_SECRET_KEY and PROVISO_SECRET_KEY_PREVIOUS; generate a key with `openssl rand -hex 32`',
      },
    )
  const id = createHash('sha256').update('proviso key id').update(bytes).digest('hex').slice(0, 8)
  return { id, bytes }
}
