/**
 * Secrets of agents as a store keeps them: sealed with a key that is in the environment and not in the store (AES-256-GCM),
 * bound to the agent whose they are. The key may be changed: what an older one sealed is opened as long as that one is
 * given, too, and sealed anew when the agent registers again. What was stored in the clear before is still read.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { ProvisoError } from '../base/error.ts'
import { isObject, type Json, own } from '../base/json.ts'
import { type Endpoint, readEndpoint } from '../domain/endpoint.ts'

export interface EndpointSealOptions {
  /** The newest first: it seals, all of them open. Each has 32 bytes, as hex or base64. */
  readonly keys: readonly string[]
  /** Whether secrets may be stored as they are while there is no key; a function is told of the first time. */
  readonly clear: boolean | (() => void)
}

/** Whose endpoint it is: what was sealed for one cannot be opened as another's. */
interface Whose {
  readonly tenant: string
  readonly capabilityId: string
}

export interface EndpointSeal {
  /** As the store may have it. Throws `capability/secret-key` where there is no key and secrets must not be in the clear. */
  seal(whose: Whose, endpoint: Endpoint): Json
  /** `sealed`: with a key that is not here, or by somebody else. Nothing if it is no endpoint. */
  open(stored: Whose & { readonly endpoint: Json }): Endpoint | 'sealed' | undefined
}

interface Key {
  readonly id: string
  readonly bytes: Buffer
}

const [ivBytes, tagBytes] = [12, 16]

export function createEndpointSeal({ keys: texts, clear }: EndpointSealOptions): EndpointSeal {
  const keys = texts.map(readKey)
  const [newest] = keys
  let told = false

  return {
    seal(whose, { keys: signing, bearer, ...open }) {
      const secrets = { keys: signing.map((key) => ({ ...key })), ...(bearer !== undefined && { bearer }) }
      if (newest !== undefined) return { ...open, sealed: encrypt(JSON.stringify(secrets), newest, whose) }
      if (clear === false)
        throw new ProvisoError(
          'capability/secret-key',
          'This server has no key to keep the secrets of agents with, and does not store them in the clear',
        )
      if (!told && typeof clear === 'function') clear()
      told = true
      return { ...open, ...secrets }
    },
    open({ endpoint, ...whose }) {
      const sealed = isObject(endpoint) ? own(endpoint, 'sealed') : undefined
      if (typeof sealed !== 'string') return readEndpoint(endpoint)
      const secrets = decrypt(sealed, keys, whose)
      return secrets === undefined ? 'sealed' : readEndpoint({ ...(endpoint as object), ...secrets })
    },
  }
}

/** The endpoint, where not being able to open it is a mistake of whoever runs the server. */
export function openEndpoint(
  seal: EndpointSeal,
  stored: Whose & { readonly endpoint: Json },
): Endpoint | undefined {
  const opened = seal.open(stored)
  if (opened !== 'sealed') return opened
  throw new ProvisoError(
    'capability/secret-key',
    `The secrets of "${stored.capabilityId}" were sealed with a key that this server does not have`,
    { hint: 'Set PROVISO_SECRET_KEY_PREVIOUS to that key, or let the agent register again' },
  )
}

/** `v1.<key id>.<base64url of nonce, tag and what is sealed>`. */
function encrypt(text: string, { id, bytes }: Key, whose: Whose): string {
  const iv = randomBytes(ivBytes)
  const cipher = createCipheriv('aes-256-gcm', bytes, iv).setAAD(bindingOf(whose))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `v1.${id}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}`
}

function decrypt(sealed: string, keys: readonly Key[], whose: Whose): object | undefined {
  const [version, id, body = ''] = sealed.split('.')
  const key = version === 'v1' ? keys.find((each) => each.id === id) : undefined
  const bytes = Buffer.from(body, 'base64url')
  if (key === undefined || bytes.length < ivBytes + tagBytes) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key.bytes, bytes.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(bindingOf(whose))
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()])
    return JSON.parse(text.toString('utf8'))
  } catch {
    // The tag is wrong: not sealed by us, or for another agent. The caller says so.
    return undefined
  }
}

function bindingOf({ tenant, capabilityId }: Whose): Buffer {
  return Buffer.from(JSON.stringify(['proviso endpoint', tenant, capabilityId]))
}

/** Names a key without telling it. */
function readKey(text: string): Key {
  const bytes = /^[\da-f]{64}$/i.test(text)
    ? Buffer.from(text, 'hex')
    : /^[\w+/-]{43}=?$/.test(text)
      ? Buffer.from(text, 'base64')
      : undefined
  if (bytes === undefined)
    throw new ProvisoError(
      'option/invalid',
      'A key for the secrets of agents must have 32 bytes, written as 64 hex digits or as base64',
      { hint: 'Make one with `openssl rand -hex 32`' },
    )
  const id = createHash('sha256').update('proviso key id').update(bytes).digest('hex').slice(0, 8)
  return { id, bytes }
}
