/** Promises of the operations kit over HTTP and in the library: erasure, rotation with overlap, the operations audit. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { openStore } from '../../src/app.ts'
import { createEndpointSeal } from '../seams/server.ts'
import { api, approved, frames, serve, start, tea } from './support.ts'

const folders: string[] = []
// At the end: servers close after each test, and need their files until then.
afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-operations-'))
  folders.push(folder)
  return join(folder, 'runs.db')
}

const filesWith = (path: string, text: string) =>
  [path, `${path}-wal`].filter((name) => existsSync(name) && readFileSync(name).includes(text))

const canary = 'canary-51c9a3f7'

it('erases everything about a subject from the files of a server that runs, and returns a receipt', async () => {
  const path = newPath()
  const store = await openStore(`sqlite:${path}`)
  const { call, tokenFor, app } = await serve({ ...tea, store })
  const inputs = { letter: `${canary} `.repeat(2_000) }
  const body = start({ metadata: { subject: canary }, inputs })
  const stream = await call(`${api}/run.stream`, { body, headers: { 'idempotency-key': 'k-1' } })
  const [first] = await frames(stream)
  const kept = await frames(await call(`${api}/run.stream`, { body: start() }))
  const waiting = await frames(
    await call(`${api}/run.stream`, { body: start({ ...approved, metadata: { subject: canary } }) }),
  )
  expect(filesWith(path, canary).length).toBeGreaterThan(0)

  const preview = await call(`${api}/erase`, { body: { subject: canary, dryRun: true } })
  expect(await preview.json()).toMatchObject({
    dryRun: true,
    runs: [{ runId: first!.runId }],
    unfinished: [waiting[0]!.runId],
    answers: 1,
  })
  const refused = await call(`${api}/erase`, { body: { subject: canary } })
  expect(refused.status).toBe(409)
  expect((await refused.json()).detail).toContain(waiting[0]!.runId)

  await call(`${api}/runs/${waiting[0]!.runId}/cancel`, { body: {} })
  await app.result(waiting[0]!.runId)
  const other = await tokenFor('admin', 'other')
  const theirs = await call(`${api}/erase`, { body: { subject: canary, dryRun: true }, token: other })
  expect(await theirs.json()).toMatchObject({ runs: [], unfinished: [] })

  const erased = await call(`${api}/erase`, { body: { subject: canary, reason: 'asked for' } })
  expect(erased.status).toBe(200)
  const receipt = (await erased.json()) as unknown as { deleted: object; residue: object; runs: object[] }
  expect(receipt).toMatchObject({ deleted: { runs: 2, answers: 1 }, residue: [], by: 'FLEX_TOKEN' })
  expect(filesWith(path, canary)).toEqual([])
  expect((await call(`${api}/runs/${first!.runId}`)).status).toBe(404)
  expect((await call(`${api}/runs/${kept[0]!.runId}`)).status).toBe(200)
  const audit = (await (await call(`${api}/audit?action=run.erased`)).json()) as unknown as Audit
  expect(audit.operations.map(({ subject }) => subject).sort()).toEqual(
    [first!.runId, waiting[0]!.runId].sort(),
  )
  expect(JSON.stringify(audit)).not.toContain(canary)
  const more = await call(`${api}/run.stream`, { body: start() })
  expect((await frames(more)).at(-1)?.type, 'the server continues').toBe('complete')
})

interface Audit {
  readonly operations: readonly { readonly subject: string; readonly action: string; readonly by: string }[]
  readonly next?: number
}

it('erases a run in the library, after a preview', async () => {
  const { app } = await serve(tea)
  const { runId } = await app.run(start().envelope ?? start())
  const preview = await app.previewErasure({ runId, by: 'ann' })
  expect(preview.runs.map((run) => run.runId)).toEqual([runId])
  const receipt = await app.erase({ runId, by: 'ann' })
  expect(receipt).toMatchObject({ scope: { runId }, deleted: { runs: 1 }, by: 'ann' })
  await expect(app.erase({ runId, by: 'ann' })).rejects.toMatchObject({ code: 'run/missing' })
  await expect(app.erase({ by: 'ann' })).rejects.toMatchObject({ code: 'option/invalid' })
})

const agent = {
  capabilityId: 'writer.en',
  version: '1',
  displayName: 'Writer',
  summary: 'Writes',
  inputContract: ['writerBrief'],
  outputContract: ['copyVariants'],
  endpoint: { url: 'http://127.0.0.1:9/' },
}

it('rotates a token: old and new work during the overlap, and both own the registration', async () => {
  const { call, tokenFor, app } = await serve({ ...tea, http: { allowLoopback: true } })
  const old = await tokenFor('agent', 'default', 'writer')
  const register = (token: string) => call(`${api}/capabilities/register`, { body: agent, token })
  const beat = (token: string) => call(`${api}/capabilities/writer.en`, { method: 'PATCH', token })
  expect((await register(old)).status).toBe(201)
  const [row] = (await app.store.records.tokens.list({})).filter(({ name }) => name === 'writer')
  const rotate = (body: object, tokenId = row!.tokenId) => call(`${api}/tokens/${tokenId}/rotate`, { body })
  const rotated = (await (await rotate({ overlap: 3_600 })).json()) as unknown as {
    token: string
    tokenId: string
  }
  for (const token of [old, rotated.token]) expect((await beat(token)).status, 'both beat').toBe(200)
  expect((await register(rotated.token)).status, 'the new one may change it').toBe(200)
  expect((await beat(await tokenFor('agent'))).status, 'another agent may not').toBe(403)
  const last = (await (await rotate({ overlap: 0 }, rotated.tokenId)).json()) as unknown as { token: string }
  expect((await beat(rotated.token)).status, 'no overlap').toBe(401)
  expect((await beat(last.token)).status).toBe(200)
  expect((await beat(old)).status, 'its overlap is not over').toBe(200)
  expect((await rotate({}, 'tok_none')).status).toBe(404)
})

it('lists tokens and registrations in the audit of the tenant alone, in pages', async () => {
  const { call, tokenFor } = await serve({ ...tea, http: { allowLoopback: true } })
  const made = (await (
    await call(`${api}/tokens`, { body: { role: 'agent', name: 'writer' } })
  ).json()) as unknown as { token: string; tokenId: string }
  await call(`${api}/capabilities/register`, { body: agent, token: made.token })
  await call(`${api}/capabilities/register`, { body: agent, token: made.token })
  await call(`${api}/capabilities/writer.en`, { method: 'DELETE', token: made.token })
  await call(`${api}/tokens/${made.tokenId}`, { method: 'DELETE' })
  const page = async (query = '', token?: string) =>
    (await (await call(`${api}/audit${query}`, token ? { token } : {})).json()) as unknown as Audit
  const { operations } = await page()
  expect(operations.map(({ action, by }) => `${action} ${by}`).reverse()).toEqual([
    'token.created FLEX_TOKEN',
    `registration.created writer (${made.tokenId})`,
    `registration.changed writer (${made.tokenId})`,
    `registration.removed writer (${made.tokenId})`,
    'token.revoked FLEX_TOKEN',
  ])
  const first = await page('?limit=2')
  expect(first.operations.length).toBe(2)
  expect((await page(`?limit=3&before=${first.next}`)).operations).toEqual(operations.slice(2, 5))
  const other = await tokenFor('admin', 'other')
  const theirs = (await page('', other)).operations
  expect(theirs.map(({ action }) => action)).toEqual(['token.created'])
})

it('reseals the secrets of agents while it serves, and calls them with the old key gone', async () => {
  const [old, next] = ['a1'.repeat(32), 'b2'.repeat(32)]
  const store = await openStore('memory:')
  const before = await serve({ ...tea, store, http: { allowLoopback: true, secretKeys: [old] } })
  await before.call(`${api}/capabilities/register`, { body: agent })
  const after = await serve({ ...tea, store, http: { allowLoopback: true, secretKeys: [next, old] } })
  const reseal = async () => (await after.call(`${api}/secrets/reseal`, { method: 'POST' })).json()
  expect(await reseal()).toEqual({
    resealed: 1,
    current: 0,
    unreadable: [],
    runs: 0,
    runsUnderWay: 0,
    unknownKeys: [],
  })
  expect(await reseal()).toEqual({
    resealed: 0,
    current: 1,
    unreadable: [],
    runs: 0,
    runsUnderWay: 0,
    unknownKeys: [],
  })
  const [row] = await store.records.registrations.list({})
  const opened = createEndpointSeal({ keys: [next], clear: false }).open(row!)
  expect(opened).toMatchObject({ url: agent.endpoint.url })
})
