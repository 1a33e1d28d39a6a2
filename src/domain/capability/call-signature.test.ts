/** Signatures are those of the shared vectors, which `agents/python` is tested with as well. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type Signed, sign, verify } from './call-signature.ts'

interface Vector extends Signed {
  readonly name: string
  readonly secret: string
  readonly signature: string
  /** Seconds since 1970. */
  readonly now: number
  readonly verdict: 'good' | 'forged' | 'stale'
}

const file = new URL('../../../agents/signature-vectors.json', import.meta.url)
const vectors: readonly Vector[] = JSON.parse(readFileSync(file, 'utf8'))

describe('a signature', () => {
  it.each(vectors)('of $name is $verdict', ({ secret, signature, now, verdict, ...signed }) => {
    expect(verify(signed, { signature, secrets: [secret], now: now * 1_000 })).toBe(verdict)
    // The same over bytes, as it arrives.
    const body = new TextEncoder().encode(String(signed.body))
    expect(verify({ ...signed, body }, { signature, secrets: [secret], now: now * 1_000 })).toBe(verdict)
  })

  it.each(vectors.filter(({ verdict }) => verdict !== 'forged'))(
    'of $name is the last of those in the header',
    ({ secret, signature, ...signed }) => {
      const last = signature.split(',').at(-1)?.trim().replace(/^v1=/, '')
      expect(sign(signed, [secret])).toBe(`v1=${last}`)
    },
  )
})
