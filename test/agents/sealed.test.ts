/** Promises about secrets of agents in a store that lasts: sealed with the server's key, or not there at all. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import { type AppOptions, createApp } from '../../src/index.ts'
import { leave } from '../journeys/support.ts'
import { readEnv } from '../seams/base.ts'
import { proviso, requireBuild } from '../support.ts'
import { agent, api, copyVariants, isSigned, json, serveAgents, wanted, writer } from './support.ts'

const folder = mkdtempSync(join(tmpdir(), 'proviso-sealed-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [first, second] = ['11'.repeat(32), '22'.repeat(32)]
const withKeys = (key: string, before = '') =>
  readEnv({ PROVISO_SECRET_KEY: key, PROVISO_SECRET_KEY_PREVIOUS: before })

let files = 0
const newFile = () => join(folder, `agents-${++files}.db`)

/** A server on this file; it ends with `leave`. */
async function serveOn(path: string, options: AppOptions = {}) {
  const served = await serveAgents({ env: {}, ...options, store: `sqlite:${path}` })
  return { ...served, end: () => leave(served.app) }
}

/** Everything that is on the disk of a store. */
function bytesOf(path: string): string {
  const names = readdirSync(folder).filter((name) => join(folder, name).startsWith(path))
  return names.map((name) => readFileSync(join(folder, name), 'latin1')).join('')
}

it('neither the signing key nor the bearer token is in the bytes of the store, and calls are signed with it', async () => {
  const path = newFile()
  const served = await serveOn(path, { env: withKeys(first) })
  const writing = await agent(json({ copyVariants }))
  const auth = { kind: 'bearer', token: 'planted-bearer-token' }
  const { signingKey = '' } = await served.register(writer(writing.url, { auth }), await served.agentToken())
  expect((await served.app.run(wanted())).status).toBe('completed')
  expect(isSigned(writing.received[0]!, signingKey)).toBe(true)
  expect(writing.received[0]!.headers['authorization']).toBe('Bearer planted-bearer-token')
  await served.end()
  const bytes = bytesOf(path)
  expect(bytes).toContain('writer.en')
  for (const secret of [signingKey, 'planted-bearer-token', first]) expect(bytes).not.toContain(secret)
})

it('after a change of the key agents are called as before, and are sealed anew when they register again', async () => {
  const path = newFile()
  const writing = await agent(json({ copyVariants }))
  const before = await serveOn(path, { env: withKeys(first) })
  const token = await before.agentToken()
  const { signingKey = '' } = await before.register(writer(writing.url), token)
  await before.end()
  const changed = await serveOn(path, { env: withKeys(second, first) })
  expect((await changed.app.run(wanted())).status).toBe('completed')
  expect(isSigned(writing.received[0]!, signingKey)).toBe(true)
  expect((await changed.register(writer(writing.url), token)).signingKey, 'the key stays').toBe(undefined)
  await changed.end()
  const after = await serveOn(path, { env: withKeys(second) })
  expect((await after.app.run(wanted())).status).toBe('completed')
  expect(isSigned(writing.received[1]!, signingKey)).toBe(true)
})

it('a server with another key calls no agent, says why, and gives a new key to agents that register again', async () => {
  const path = newFile()
  const writing = await agent(json({ copyVariants }))
  const before = await serveOn(path, { env: withKeys(first) })
  const token = await before.agentToken()
  const { signingKey } = await before.register(writer(writing.url), token)
  await before.end()
  const other = await serveOn(path, { env: withKeys(second) })
  const failed = await other.app.run(wanted())
  expect(failed).toMatchObject({ status: 'failed' })
  expect(JSON.stringify(failed.issues)).toContain('PROVISO_SECRET_KEY_PREVIOUS')
  expect(writing.received).toEqual([])
  const again = await other.register(writer(writing.url), token)
  expect(again.signingKey).toMatch(/^psk_/)
  expect(again.signingKey).not.toBe(signingKey)
  expect((await other.app.run(wanted())).status).toBe('completed')
  expect(isSigned(writing.received[0]!, again.signingKey ?? '')).toBe(true)
})

it('without a key the key file beside the database seals, and a key that is set later opens it and reseals', async () => {
  requireBuild()
  const path = newFile()
  const writing = await agent(json({ copyVariants }))
  const before = await serveOn(path)
  const { signingKey = '' } = await before.register(writer(writing.url), await before.agentToken())
  await before.end()
  const key = readFileSync(`${path}-secret-key`, 'utf8').trim()
  expect(key).toMatch(/^[\da-f]{64}$/)
  expect(bytesOf(path)).not.toContain(signingKey)
  const changed = await serveOn(path, { env: withKeys(first) })
  expect((await changed.app.run(wanted())).status).toBe('completed')
  expect(isSigned(writing.received[0]!, signingKey)).toBe(true)
  await changed.end()
  const done = await proviso(['secrets', 'reseal', '--json', '--store', `sqlite:${path}`], {
    env: { PROVISO_SECRET_KEY: first },
  })
  expect(JSON.parse(done.stdout)).toMatchObject({ resealed: 1, unreadable: [] })
  rmSync(`${path}-secret-key`)
  const after = await serveOn(path, { env: withKeys(first) })
  expect((await after.app.run(wanted())).status).toBe('completed')
})

it('where there is neither a key nor a place for one, an agent is refused and nothing of it is stored', async () => {
  // A store of another kind, such as PostgreSQL: no key file.
  const { keyFile: _keyFile, ...store } = { ...(await openSqliteStore({ path: newFile() })) }
  const served = await serveAgents({ env: {}, store })
  const refused = await served.register(writer('http://127.0.0.1:9'), await served.agentToken())
  expect(refused).toMatchObject({
    status: 409,
    code: 'capability/secret-key',
    hint: expect.stringContaining('PROVISO_SECRET_KEY'),
  })
  expect(await served.app.store.records.registrations.list({})).toEqual([])
})

it('in the clear only where the settings allow it, which is reported once', async () => {
  const path = newFile()
  let reported = 0
  const served = await serveOn(path, { http: { clearSecrets: () => void reported++ } })
  const token = await served.agentToken()
  const { signingKey = '' } = await served.register(writer('http://127.0.0.1:9'), token)
  await served.register(writer('http://127.0.0.1:9', { capabilityId: 'writer.de' }), token)
  expect(reported).toBe(1)
  await served.end()
  const store = await openSqliteStore({ path })
  const [row] = await store.records.registrations.list({})
  await store.close()
  expect(row?.endpoint).toMatchObject({ keys: [{ secret: signingKey }] })
})

it.each([
  ['a key that is too short', { PROVISO_SECRET_KEY: 'secret' }, '32 bytes'],
  ['only an older key', { PROVISO_SECRET_KEY_PREVIOUS: first }, 'PROVISO_SECRET_KEY_PREVIOUS'],
])('does not start with %s', async (_, env, words) => {
  await expect(createApp({ env: readEnv(env), http: {} })).rejects.toMatchObject({
    code: 'option/invalid',
    message: expect.stringContaining(words),
  })
})

it('keys of the server are known secrets', () => {
  expect(withKeys(first, `${second}, third`).secrets).toEqual([first, second, 'third'])
})

/** Assembled here, so that scanners of repositories do not find keys in this file. */
const planted = {
  line: `My keys are sk-proj-${'Planted1'.repeat(6)}, AKIA${'PLANTED2PLANTED2'} and ghp_${'Planted3'.repeat(5)}`,
  password: 'planted-password-4',
}
const parts = [
  `sk-proj-${'Planted1'.repeat(6)}`,
  'PLANTED2PLANTED2',
  'Planted3Planted3',
  'planted-password-4',
]

it('secrets in the answer of an agent are sealed in the store, and its caller gets them whole', async () => {
  const path = newFile()
  const served = await serveOn(path, { env: withKeys(first) })
  let signingKey = ''
  const answering = await agent(
    (response) => void response.end(JSON.stringify({ ...planted, echo: `I sign with ${signingKey}` })),
  )
  const schema = {
    type: 'object',
    properties: { line: { type: 'string' }, password: { type: 'string' }, echo: { type: 'string' } },
    required: ['line', 'password', 'echo'],
  } as const
  const registration = writer(answering.url, { inputContract: { type: 'object' }, outputContract: schema })
  signingKey = (await served.register(registration, await served.agentToken())).signingKey ?? ''
  const pem = (said: string) => `-----BEGIN PRIVATE KEY-----${said}-----END PRIVATE KEY-----`
  const body = {
    envelope: {
      objective: 'Log in',
      inputs: { pem: pem(`\n${'MIIEvQ'.repeat(200)}\n`) },
      outputContract: { schema },
    },
    draft: { nodes: [{ id: 'write', capabilityId: 'writer.en' }] },
  }
  const waited: { runId?: string; output?: unknown } = await (
    await served.call(`${api}/runs?wait=20`, { body })
  ).json()
  const wanted = { ...planted, echo: 'I sign with [redacted]' }
  expect(waited.output).toEqual(wanted)
  const { runId } = waited
  expect(await (await served.call(`${api}/runs/${runId}/output`)).json()).toMatchObject({ output: wanted })
  const page = await (await served.call(`${api}/runs/${runId}`)).text()
  for (const part of parts.slice(0, 3)) expect(page).not.toContain(part)
  expect(page).toContain(pem('[redacted]'))
  await served.end()
  const bytes = bytesOf(path)
  for (const part of [...parts, 'MIIEvQ', signingKey]) expect(bytes).not.toContain(part)
})
