/** T15: for any address of an agent, only public addresses are ever dialled; checked with real servers on this machine. */
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import type { AttemptResult } from '../../src/index.ts'
import type { Dispatch } from '../../src/types.ts'
import {
  type AddressFilterOptions,
  createAddressFilter,
  createCallbacks,
  createWorkerQueue,
  httpDispatcher,
} from '../seams/agents.ts'
import { systemClock } from '../seams/base.ts'
import { parseCapability } from '../seams/domain.ts'
import { agent, json, status } from './support.ts'

/** Listens where a forged address would lead, and counts who came. */
let trap: { server: Server; port: number; visits: number }
beforeAll(async () => {
  trap = { server: createServer(), port: 0, visits: 0 }
  trap.server.on('connection', (socket) => {
    trap.visits++
    socket.destroy()
  })
  // Both families, every address of the machine.
  await new Promise<void>((resolve) => trap.server.listen({ port: 0, host: '::', ipv6Only: false }, resolve))
  trap.port = (trap.server.address() as { port: number }).port
})
afterAll(() => new Promise((resolve) => trap.server.close(resolve)))

const parsed = parseCapability({ capabilityId: 'a', kind: 'http', inputContract: {}, outputContract: {} })
if (!parsed.ok) throw new Error('A capability')
const capability = parsed.value

/** One call to this address, by the dispatcher itself, as if it had been registered. */
async function dial(url: string, options: AddressFilterOptions = {}): Promise<AttemptResult> {
  // Schemes and ports are let through: the address alone decides.
  const guard = createAddressFilter({ schemes: ['http:', 'https:'], ports: 'any', ...options })
  const { once, documents } = createMemoryStore().records
  const callbacks = createCallbacks({
    once,
    clock: systemClock,
    findAttempt: async () => undefined,
    getSecrets: () => [],
    refresh: async () => {},
    onAnswer: async () => {},
    onUnawaited: async () => {},
  })
  const { isAwaited } = callbacks
  const dispatcher = httpDispatcher({
    addressFilter: guard,
    clock: systemClock,
    findEndpoint: () => ({ url, keys: [{ keyId: 'k', secret: 'psk_key' }] }),
    callbacks,
    workers: createWorkerQueue({ documents, clock: systemClock, isAwaited, getSecrets: () => [] }),
  })
  try {
    return await dispatcher.dispatch(dispatch)
  } finally {
    await guard.close()
  }
}

const dispatch: Dispatch = {
  runId: 'r',
  nodeId: 'n',
  attempt: 1,
  idempotencyKey: 'k',
  capability,
  bundle: {
    objective: '',
    inputs: {},
    instructions: '',
    specialInstructions: [],
    returns: {},
    clarifications: [],
  },
  rao: false,
  constraints: {},
  calls: 1,
  signal: new AbortController().signal,
  onEvent: () => {},
}

/** Every way that we know of to write an address that is not public; `PORT` is where the trap listens. */
const forms = [
  'http://127.0.0.1:PORT/',
  'http://127.0.0.2:PORT/',
  'http://127.255.255.254:PORT/',
  'http://127.1:PORT/',
  'http://127.0.1:PORT/',
  'http://0177.0.0.1:PORT/',
  'http://0x7f.0.0.1:PORT/',
  'http://0x7f000001:PORT/',
  'http://2130706433:PORT/',
  'http://017700000001:PORT/',
  'http://0:PORT/',
  'http://0.0.0.0:PORT/',
  'http://127.0.0.1.:PORT/',
  'http://１２７.0.0.1:PORT/',
  'http://127。0。0。1:PORT/',
  'http://①②⑦.⓪.⓪.①:PORT/',
  'http://%31%32%37.0.0.1:PORT/',
  'http://[::1]:PORT/',
  'http://[::]:PORT/',
  'http://[0:0:0:0:0:0:0:1]:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://[::ffff:7f00:1]:PORT/',
  'http://[::127.0.0.1]:PORT/',
  'http://[::ffff:0:127.0.0.1]:PORT/',
  'http://[64:ff9b::127.0.0.1]:PORT/',
  'http://[64:ff9b:1::7f00:1]:PORT/',
  'http://[2002:7f00:1::]:PORT/',
  'http://[2001:0:7f00:1::]:PORT/',
  'http://[fe80::1]:PORT/',
  'http://[fec0::1]:PORT/',
  'http://[fd00::1]:PORT/',
  'http://[fc00::1]:PORT/',
  'http://[ff02::1]:PORT/',
  'http://[100::1]:PORT/',
  'http://[2001:db8::1]:PORT/',
  'http://[4000::1]:PORT/',
  'http://10.0.0.1:PORT/',
  'http://172.16.0.1:PORT/',
  'http://192.168.0.1:PORT/',
  'http://100.64.0.1:PORT/',
  'http://169.254.169.254:PORT/latest/meta-data/',
  'http://192.0.0.8:PORT/',
  'http://192.88.99.1:PORT/',
  'http://198.18.0.1:PORT/',
  'http://203.0.113.1:PORT/',
  'http://224.0.0.1:PORT/',
  'http://240.0.0.1:PORT/',
  'http://255.255.255.255:PORT/',
  'http://localhost:PORT/',
  'http://localhost.:PORT/',
  'http://LOCALHOST:PORT/',
  'http://user@127.0.0.1:PORT/',
  'http://example.com:pass@127.0.0.1:PORT/',
  'http://127.0.0.1:PORT#@example.com/',
  'http://example.com\\@127.0.0.1:PORT/',
  'https://127.0.0.1:PORT/',
  'http:127.0.0.1:PORT',
  'ftp://127.0.0.1:PORT/',
  'file:///etc/passwd',
  'unix:///var/run/docker.sock',
  'data:text/plain,hello',
  'gopher://127.0.0.1:PORT/_x',
  'not a url',
  '',
]

const resolvesTo = (...answers: readonly string[][]) => {
  let asked = 0
  return async () =>
    (answers[Math.min(asked++, answers.length - 1)] ?? []).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }))
}

describe('an address that is not public', () => {
  it(`is never dialled, in any of ${forms.length} forms`, async () => {
    expect(forms.length).toBeGreaterThanOrEqual(40)
    const passed: string[] = []
    for (const form of forms) {
      const url = form.replace('PORT', String(trap.port))
      const { outcome, notApplied, issues, usage } = await dial(url, { resolve: resolvesTo(['127.0.0.1']) })
      const refused = outcome === 'provider_error' && notApplied && issues[0]?.code === 'address/refused'
      if (!refused || usage.calls !== 0) passed.push(form)
    }
    expect(passed).toEqual([])
    expect(trap.visits).toBe(0)
  })

  it('is not dialled under a public name in either family, and not when one of several answers is it', async () => {
    for (const answer of [
      ['127.0.0.1'],
      ['::1'],
      ['::ffff:127.0.0.1'],
      ['10.0.0.1'],
      ['93.184.216.34', '127.0.0.1'],
    ])
      expect(
        await dial(`http://agents.example:${trap.port}/`, { resolve: resolvesTo(answer) }),
      ).toMatchObject({
        outcome: 'provider_error',
        notApplied: true,
        issues: [{ code: 'address/refused' }],
      })
    expect(trap.visits).toBe(0)
  })

  it('is not dialled when a name changes its meaning between registration and call', async () => {
    const resolve = resolvesTo(['93.184.216.34'], ['127.0.0.1'])
    const options = { schemes: ['http:'], ports: 'any', resolve } as const
    expect(
      await createAddressFilter(options).inspect(`http://rebinding.example:${trap.port}/`),
    ).toBeUndefined()
    const called = await dial(`http://rebinding.example:${trap.port}/`, options)
    expect(called).toMatchObject({ outcome: 'provider_error', issues: [{ code: 'address/refused' }] })
    expect(trap.visits).toBe(0)
  })

  it('the address that was checked is the one that is dialled: a name is asked once per connection', async () => {
    const good = await agent(json({}))
    let asked = 0
    const resolve = async () => {
      asked++
      return [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.3', family: 4 }]
    }
    const called = await dial(`http://changing.example:${good.port}/`, { resolve, allow: ['127.0.0.1/32'] })
    expect(called.outcome).toBe('ok')
    expect(good.received).toHaveLength(1)
    expect(asked).toBe(1)
  })

  it('is not reached by redirects, not even where both ends are allowed', async () => {
    const last = await agent(json({}))
    for (const code of [301, 302, 303, 307, 308]) {
      const to = [`http://127.0.0.1:${trap.port}/`, `${last.url}/`]
      for (const location of to) {
        const first = await agent(status(code, { location }))
        const called = await dial(first.url, { allowLoopback: true })
        expect(called).toMatchObject({
          outcome: 'provider_error',
          issues: [{ message: expect.stringContaining('redirects') }],
        })
      }
    }
    expect(last.received).toEqual([])
    expect(trap.visits).toBe(0)
  })
})

describe('what may be dialled', () => {
  it('the trap works: it counts every connection', async () => {
    const before = trap.visits
    await dial(`http://127.0.0.1:${trap.port}/`, { allowLoopback: true })
    expect(trap.visits).toBe(before + 1)
  })

  it('is https on port 443 unless the settings allow more', () => {
    const guard = createAddressFilter()
    expect(guard.check('https://agents.example/work')).toBeUndefined()
    expect(guard.check('http://agents.example/')?.message).toContain('http:')
    expect(guard.check('https://agents.example:8443/')?.message).toContain('8443')
    expect(createAddressFilter({ ports: [443, 8443] }).check('https://agents.example:8443/')).toBeUndefined()
  })

  it('this machine, in development, and nothing else that is private', () => {
    const guard = createAddressFilter({ allowLoopback: true })
    for (const url of ['http://127.0.0.1:8080/', 'http://localhost:1/', 'http://[::1]:80/'])
      expect(guard.check(url)).toBeUndefined()
    for (const url of ['http://10.0.0.1/', 'https://10.0.0.1/', 'http://169.254.169.254/', 'http://0.0.0.0/'])
      expect(guard.check(url)?.code).toBe('address/refused')
  })

  it('hosts, ports and ranges that the operator names, and no neighbours of theirs', async () => {
    const resolve = resolvesTo(['10.9.9.9'])
    const guard = createAddressFilter({
      allow: ['agents.internal', '10.0.0.5:8080', '10.1.0.0/16', '[fd00::5]:80'],
      resolve,
    })
    for (const url of [
      'http://agents.internal:99/',
      'http://10.0.0.5:8080/',
      'https://10.1.2.3/',
      'http://[fd00::5]/',
    ])
      expect(await guard.inspect(url), url).toBeUndefined()
    for (const url of [
      'http://10.0.0.5:8081/',
      'https://10.2.0.1/',
      'https://other.internal/',
      'http://[fd00::6]/',
    ])
      expect((await guard.inspect(url))?.code, url).toBe('address/refused')
  })

  it('a list that cannot be read is a mistake of the operator, reported at once', () => {
    expect(() => createAddressFilter({ allow: ['10.0.0.0/99'] })).toThrow('is not a host, address or range')
    expect(() => createAddressFilter({ allow: ['a:b:c:d:e:f:g:h:i'] })).toThrow(
      'is not a host, address or range',
    )
  })
})
