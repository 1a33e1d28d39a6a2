/**
 * An installation on Restate whose parts do not trust the network: the server signs its requests, workers refuse others, ingress,
 * admin API and workers are reached by TLS, and the ingress wants a token. With the real server.
 */
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type Server as HttpServer, request } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { missingRestate } from '../../scripts/restate.mjs'
import { requireBuild, root } from '../support.ts'
import { startBalancer } from './balancer.ts'
import { type Api, type Fleet, startFleet } from './fleet.ts'

const long = process.env['PROVISO_LONG'] === '1'
const missing = missingPostgres() ?? missingRestate()
const token = 'a-token-of-the-ingress'
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const run = {
  envelope: { objective: 'One line about tea', outputContract: { schema: text } },
  draft: { nodes: [{ id: 'one', capabilityId: 'step' }], output: { node: 'one' } },
}

describe.skipIf(!long || missing !== undefined)('on a Restate server that is not trusted blindly', () => {
  let [folder, fleet]: [string?, Fleet?] = []
  const servers: (Server | HttpServer)[] = []
  const path = (name: string) => join(folder ?? '', name)
  const signing = createIdentity()

  beforeAll(async () => {
    requireBuild()
    folder = mkdtempSync(join(tmpdir(), 'proviso-security-'))
    createCertificates(folder)
    writeFileSync(path('identity.pem'), signing.pem)
    const restateSettings = {
      RESTATE_REQUEST_IDENTITY_PRIVATE_KEY_PEM_FILE: path('identity.pem'),
      SSL_CERT_FILE: path('ca.pem'),
    }
    fleet = await startFleet({ root, queue: 'restate', restateSettings })
  }, 120_000)
  afterAll(async () => {
    for (const server of servers) server.close()
    await fleet?.close()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  const opened = () => {
    if (fleet === undefined) throw new Error('The fleet is not started')
    return fleet
  }
  const credentials = () => ({ key: readFileSync(path('key.pem')), cert: readFileSync(path('cert.pem')) })
  const complete = async (api: Api) => {
    const { runId } = await api.call<{ runId: string }>('/runs', run)
    const getStatus = async () => (await api.call<{ run: { status: string } }>(`/runs/${runId}`)).run.status
    await expect.poll(getStatus, { timeout: 20_000 }).toBe('completed')
  }
  const listen = async (server: Server | HttpServer) => {
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `https://localhost:${(server.address() as AddressInfo).port}`
  }

  it('workers take requests that the server has signed, and refuse all others', async () => {
    const env = { PROVISO_RESTATE_IDENTITY_KEYS: signing.publicKey }
    const worker = await opened().startWorker({ env })
    const api = await opened().startApi()
    await complete(api)
    expect(await callDirectly(worker.port, `/invoke/proviso-run/advance`)).toBe(401)
    expect(await callDirectly(worker.port, '/discover')).toBe(401)
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
    // A worker with another key refuses its discovery; an address that is known is not discovered again.
    const balancer = await startBalancer()
    const other = { PROVISO_RESTATE_IDENTITY_KEYS: createIdentity().publicKey }
    await expect(opened().startWorker({ env: other, balancer })).rejects.toThrow(
      /Cannot register this worker.*401/s,
    )
    await balancer.close()
    api.kill('SIGTERM')
    await api.ended
  }, 60_000)

  it('ingress, admin API and workers are reached by TLS, with a token', async () => {
    const { ingress, restate, balancer } = opened()
    const tokens: (string | undefined)[] = []
    const forward = (target: string) =>
      createHttpsServer(credentials(), (incoming, response) => {
        tokens.push(incoming.headers.authorization)
        if (incoming.headers.authorization !== `Bearer ${token}`) {
          response.writeHead(401).end('no token')
          return
        }
        const { method, url, headers } = incoming
        const onward = request(`${target}${url}`, { method, headers }, (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        })
        incoming.pipe(onward.on('error', () => response.destroy()))
      })
    // Ends TLS in front of the workers, as a load balancer does.
    const front = createTlsServer({ ...credentials(), ALPNProtocols: ['h2'] }, (socket) => {
      const target = connect(Number(new URL(balancer.url).port), '127.0.0.1')
      socket.pipe(target).pipe(socket)
      for (const each of [socket, target]) each.on('error', () => socket.destroy() && target.destroy())
    })
    const env = {
      NODE_EXTRA_CA_CERTS: path('ca.pem'),
      PROVISO_RESTATE_INGRESS: await listen(forward(ingress)),
      PROVISO_RESTATE_ADMIN: await listen(forward(restate[0]?.admin ?? '')),
      PROVISO_RESTATE_ADDRESS: await listen(front),
      PROVISO_RESTATE_IDENTITY_KEYS: signing.publicKey,
      PROVISO_RESTATE_TOKEN: token,
    }
    const worker = await opened().startWorker({ env })
    const api = await opened().startApi({ env })
    await complete(api)
    expect(new Set(tokens)).toEqual(new Set([`Bearer ${token}`]))
    const wrong = { ...env, PROVISO_RESTATE_TOKEN: 'another' }
    await expect(opened().startApi({ env: wrong })).rejects.toThrow(/401 no token/)
    for (const each of [worker, api]) each.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
  }, 60_000)
})

/** A signing key of a Restate server, and its public half as Restate and workers write it. */
function createIdentity() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  return {
    pem: privateKey.export({ format: 'pem', type: 'pkcs8' }),
    publicKey: `publickeyv1_${toBase58(raw)}`,
  }
}

function toBase58(bytes: Uint8Array): string {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  let [left, text] = [BigInt(`0x${Buffer.from(bytes).toString('hex')}`), '']
  for (; left > 0n; left /= 58n) text = `${alphabet[Number(left % 58n)]}${text}`
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(Math.max(0, zeros)) + text
}

/** An authority, and a certificate of `localhost`. */
function createCertificates(folder: string): void {
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' })
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...curve, '-days', '2', '-subj', '/CN=test', '-keyout', 'ca.key', '-out', 'ca.pem')
  openssl('req', ...curve, '-subj', '/CN=localhost', '-keyout', 'key.pem', '-out', 'request.pem')
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\n'
  writeFileSync(join(folder, 'extensions'), names)
  const authority = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2']
  openssl('x509', '-req', '-in', 'request.pem', ...authority, '-extfile', 'extensions', '-out', 'cert.pem')
}

/** Status of a request without a signature. */
function callDirectly(port: number, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const session = connectHttp2(`http://127.0.0.1:${port}`)
    session.on('error', reject)
    const stream = session.request({
      ':path': path,
      accept: 'application/vnd.restate.endpointmanifest.v3+json',
    })
    stream.on('error', reject)
    stream.on('response', (headers) => {
      resolve(Number(headers[':status']))
      session.destroy()
    })
    stream.end()
  })
}
