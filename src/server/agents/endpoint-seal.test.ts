/** Promises about secrets of agents at rest: sealed, bound to their agent, opened by the right keys alone. */
import { describe, expect, it } from 'vitest'
import { createEndpointSeal, openEndpoint } from './endpoint-seal.ts'

const [first, second] = ['a1'.repeat(32), Buffer.alloc(32, 7).toString('base64')]
const whose = { tenant: 't', capabilityId: 'writer' }
const endpoint = {
  url: 'https://writer.example/work',
  timeoutMs: 5_000,
  keys: [
    { keyId: 'k1', secret: 'psk_newest' },
    { keyId: 'k0', secret: 'psk_before', until: 9 },
  ],
  bearer: 'wanted-by-the-agent',
}
const sealing = (...keys: string[]) => createEndpointSeal({ keys, clear: false })

describe('a sealed endpoint', () => {
  it('shows where the agent is, and none of its secrets', () => {
    const sealed = sealing(first).seal(whose, endpoint)
    expect(sealed).toMatchObject({ url: endpoint.url, timeoutMs: 5_000 })
    expect(JSON.stringify(sealed)).not.toMatch(/psk_|wanted-by|keyId/)
  })

  it.each([
    ['hex', first],
    ['base64', second],
    ['base64 for addresses', Buffer.alloc(32, 255).toString('base64url')],
  ])('is opened by the key that sealed it (%s)', (_, key) => {
    const seal = sealing(key)
    expect(seal.open({ ...whose, endpoint: seal.seal(whose, endpoint) })).toEqual(endpoint)
  })

  it('is never sealed the same way twice', () => {
    const seal = sealing(first)
    expect(seal.seal(whose, endpoint)).not.toEqual(seal.seal(whose, endpoint))
  })

  it('is opened after the key was changed, as long as the one before is given', () => {
    const stored = { ...whose, endpoint: sealing(first).seal(whose, endpoint) }
    expect(sealing(second, first).open(stored)).toEqual(endpoint)
    expect(sealing(second).open(stored)).toBe('sealed')
    const again = { ...whose, endpoint: sealing(second, first).seal(whose, endpoint) }
    expect(sealing(second).open(again), 'the newest seals').toEqual(endpoint)
  })

  it('is of no use to another agent or tenant, nor when a byte was changed', () => {
    const seal = sealing(first)
    const sealed = seal.seal(whose, endpoint) as { sealed: string }
    expect(seal.open({ ...whose, capabilityId: 'other', endpoint: sealed })).toBe('sealed')
    expect(seal.open({ ...whose, tenant: 'u', endpoint: sealed })).toBe('sealed')
    const [version, id, body = ''] = sealed.sealed.split('.')
    const bytes = Buffer.from(body, 'base64url')
    for (let at = 0; at < bytes.length; at++) {
      const bent = Buffer.from(bytes)
      bent[at] = bent[at]! ^ 1
      const text = `${version}.${id}.${bent.toString('base64url')}`
      expect(seal.open({ ...whose, endpoint: { ...sealed, sealed: text } })).toBe('sealed')
    }
  })

  it.each(['', 'v1', 'v1..', 'v2.00000000.AAAA', 'v1.00000000.', '...'])('is not %j', (sealed) => {
    expect(sealing(first).open({ ...whose, endpoint: { url: 'https://x.example', sealed } })).toBe('sealed')
  })

  it('that cannot be opened says which key is missing', () => {
    const stored = { ...whose, endpoint: sealing(first).seal(whose, endpoint) }
    expect(() => openEndpoint(sealing(second), stored)).toThrowError(
      expect.objectContaining({
        code: 'capability/secret-key',
        message: expect.stringContaining('"writer"'),
        hint: expect.stringContaining('PROVISO_SECRET_KEY_PREVIOUS'),
      }),
    )
  })
})

describe('without a key', () => {
  it('nothing is stored, and the error says what to set', () => {
    expect(() => sealing().seal(whose, endpoint)).toThrowError(
      expect.objectContaining({
        code: 'capability/secret-key',
        hint: expect.stringContaining('PROVISO_SECRET_KEY'),
      }),
    )
  })

  it('stores it in the clear where that is allowed, and reports it once', () => {
    let reports = 0
    const seal = createEndpointSeal({ keys: [], clear: () => void reports++ })
    for (let round = 0; round < 3; round++) expect(seal.seal(whose, endpoint)).toEqual(endpoint)
    expect(reports).toBe(1)
    expect(seal.open({ ...whose, endpoint })).toEqual(endpoint)
  })

  it('what was stored in the clear is still read once there is one', () => {
    expect(sealing(first).open({ ...whose, endpoint })).toEqual(endpoint)
    expect(sealing(first).open({ ...whose, endpoint: null })).toBe(undefined)
  })
})

it.each(['', 'password', 'a1'.repeat(31), 'z'.repeat(64), 'x'.repeat(45)])('refuses the key %j', (key) => {
  expect(() => sealing(key)).toThrowError(
    expect.objectContaining({ code: 'option/invalid', hint: expect.stringContaining('openssl rand') }),
  )
})
