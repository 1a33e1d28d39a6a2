/** What goes wrong before a run is delivered by Restate: each says what cannot be done, and which option changes it. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApp } from 'proviso'
import { afterEach, describe, expect, it } from 'vitest'
import { missingPostgres, start } from '../../scripts/postgres.mjs'
import { loadSdk } from '../../src/adapters/queues/restate/load-sdk.ts'
import { proviso, requireBuild } from '../support.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

describe('the queue on Restate', () => {
  it('needs a store that several processes share', async () => {
    requireBuild()
    const worker = await proviso(['worker', '--store', 'memory:', '--queue', 'restate'])
    const served = await proviso([
      'serve',
      '--dev',
      '--port',
      '0',
      '--store',
      'memory:',
      '--queue',
      'restate',
    ])
    for (const { code, stderr } of [worker, served]) {
      expect(code).toBe(2)
      expect(stderr).toContain('Cannot use the queue "restate": it needs a PostgreSQL store, got memory')
    }
  })

  it('does not combine with runs of one process only, and names a mistake in its options', async () => {
    const queue = { kind: 'restate' } as const
    await expect(createApp({ queue, claim: 'own' })).rejects.toThrow('Cannot use a queue with `claim: "own"`')
    const wrong = { ...queue, ingress: 'localhost:8080', prot: 9080 } as never
    await expect(createApp({ queue: wrong })).rejects.toMatchObject({
      code: 'option/invalid',
      issues: [{ at: { pointer: '/queue/ingress' } }, { at: { pointer: '/queue/prot' } }],
    })
  })

  it('reads its settings from the file, the environment and flags', async () => {
    requireBuild()
    const { stdout } = await proviso(['config', '--json'], {
      env: { PROVISO_QUEUE: 'restate', PROVISO_RESTATE_PORT: '9999' },
    })
    expect(stdout).toMatch(/queue\.mode[\s\S]*restate/)
    expect(stdout).toMatch(/queue\.port[\s\S]*9999/)
    const refused = await proviso(['worker', '--queue', 'kafka'])
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('queue.mode')])
  })

  it('is loaded on Node 20 without a change to the global Promise', async () => {
    const before = Object.getOwnPropertyNames(Promise)
    const sdk = await loadSdk()
    const handler = sdk.createEndpointHandler({ services: [], logger: () => {} })
    expect(typeof handler).toBe('function')
    expect(Object.getOwnPropertyNames(Promise)).toEqual(before)
  })
})

describe.skipIf(missingPostgres() !== undefined)('a server that is not there', () => {
  const serve = async (answer: (path: string) => number): Promise<string> => {
    const server: Server = createServer((request, response) => {
      response.writeHead(answer(request.url ?? '')).end('{"message":"cannot reach the deployment"}')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    closing.push(() => new Promise((resolve) => server.close(resolve)))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('is an error after ten seconds: the ingress, and the registration', { timeout: 40_000 }, async () => {
    const cluster = await start()
    closing.push(() => cluster.stop())
    const restate = await serve((path) => (path === '/deployments' ? 503 : 200))
    const base = { store: cluster.url, capabilities: [], env: {} }
    const noIngress = createApp({
      ...base,
      queue: { kind: 'restate', ingress: 'http://127.0.0.1:9', port: 0 },
    })
    const refused = createApp({
      ...base,
      queue: { kind: 'restate', ingress: restate, admin: restate, port: 0 },
    })
    await Promise.all([
      expect(noIngress).rejects.toMatchObject({
        code: 'queue/unavailable',
        exitCode: 2,
        message: expect.stringContaining('Cannot use Restate at http://127.0.0.1:9: '),
        hint: expect.stringContaining('--restate-ingress'),
      }),
      expect(refused).rejects.toMatchObject({
        code: 'queue/unavailable',
        message: expect.stringContaining(`Cannot register this worker at ${restate}`),
        hint: expect.stringContaining('--restate-address'),
      }),
    ])
  })
})
