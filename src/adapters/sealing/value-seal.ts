/**
 * Encrypts the secrets of runs with AES-256-GCM under keys derived from the server's secret keys. The run is bound as
 * associated data. The nonce is derived from run and text (a synthetic initialisation vector): the same secret has the same
 * reference within one run, so that values stay comparable, and another one in every other run.
 */
import { createCipheriv, createDecipheriv, createHmac, hkdfSync } from 'node:crypto'

/** A secret key: 32 bytes, and an id that does not reveal them. */
export interface SecretKey {
  readonly id: string
  readonly bytes: Buffer
}

export interface ValueSeal {
  /** Returns the reference for a text of an owner: a run, or another row. */
  seal(owner: string, text: string): string
  /** Undefined if no known key opens it, or it belongs to another owner. */
  open(owner: string, reference: string): string | undefined
  /** How references begin that a previous key has made. */
  previousBeginnings(): readonly string[]
  /** Ids of all known keys. */
  keyIds(): readonly string[]
}

interface Derived {
  readonly id: string
  readonly cipher: Buffer
  readonly nonce: Buffer
}

const [ivBytes, tagBytes] = [12, 16]

/** Newest key first: it encrypts, and all of them decrypt. `keys` is called for each secret, and may make a first key. */
export function createValueSeal(keys: (isSealing: boolean) => readonly SecretKey[]): ValueSeal {
  let known: { readonly keys: readonly SecretKey[]; readonly derived: readonly Derived[] } | undefined
  const derive = (isSealing: boolean): readonly Derived[] => {
    const now = keys(isSealing)
    if (known?.keys !== now) known = { keys: now, derived: now.map(deriveKeys) }
    return known.derived
  }
  return {
    seal(owner, text) {
      const [newest] = derive(true)
      if (newest === undefined) throw new Error('Cannot seal a value: secret key not found')
      return encrypt(owner, text, newest)
    },
    open(owner, reference) {
      const [, id = '', body = ''] = /^\[sealed:v1\.([\da-f]{8})\.([\w-]+)\]$/.exec(reference) ?? []
      const key = derive(false).find((each) => each.id === id)
      return key && decrypt(owner, body, key)
    },
    previousBeginnings: () =>
      derive(false)
        .slice(1)
        .map(({ id }) => `[sealed:v1.${id}.`),
    keyIds: () => derive(false).map(({ id }) => id),
  }
}

function deriveKeys({ id, bytes }: SecretKey): Derived {
  const derive = (purpose: string) =>
    Buffer.from(hkdfSync('sha256', bytes, '', `proviso journal ${purpose}`, 32))
  return { id, cipher: derive('cipher'), nonce: derive('nonce') }
}

function encrypt(owner: string, text: string, { id, cipher: key, nonce }: Derived): string {
  const iv = createHmac('sha256', nonce)
    .update(JSON.stringify([owner, text]))
    .digest()
    .subarray(0, ivBytes)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(toAssociatedData(owner))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return `[sealed:v1.${id}.${Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64url')}]`
}

function decrypt(owner: string, body: string, { cipher: key }: Derived): string | undefined {
  const bytes = Buffer.from(body, 'base64url')
  if (bytes.length < ivBytes + tagBytes) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), {
    authTagLength: tagBytes,
  })
    .setAAD(toAssociatedData(owner))
    .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString(
      'utf8',
    )
  } catch {
    // Wrong tag: a text that only looks like a reference, or the reference of another run.
    return undefined
  }
}

function toAssociatedData(owner: string): Buffer {
  return Buffer.from(JSON.stringify(['proviso journal', owner]))
}
