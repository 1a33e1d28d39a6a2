/** Promises of the operations kit on the command line: erasure, the operations audit, rotation, retention by policy. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSealed, openStore } from '../../src/app.ts'
import { readEnv } from '../../src/env.ts'
import { listening } from '../processes/listening.ts'
import { createEndpointSeal, readSecretKey } from '../seams/server.ts'
import { openLibsql } from '../seams/stores.ts'
import { proviso, root, runCommand } from '../support.ts'
import { approved, file, pathInFolder, runFile } from './run-support.ts'

let stores = 0

type Env = { readonly [name: string]: string }

function newStore() {
  const path = pathInFolder(`operations-${++stores}.db`)
  const store = `sqlite:${path}`
  const cli = (args: readonly string[], { stdin = '', env }: { stdin?: string; env?: Env } = {}) =>
    env ? proviso([...args, '--store', store], { env }) : runCommand([...args, '--store', store], { stdin })
  const json = async (args: readonly string[]) => {
    const { stdout, stderr, code } = await cli([...args, '--json'])
    expect({ stderr, code }).toMatchObject({ code: 0 })
    return JSON.parse(stdout)
  }
  const run = (name: string, content: unknown) =>
    cli(['run', file(`operations-${stores}-${name}.json`, content), '--run-id', name])
  return { path, cli, json, run }
}

/** The files of a store that hold a text. */
function filesWith(path: string, text: string): string[] {
  return [path, `${path}-wal`, `${path}-anchor`].filter(
    (name) => existsSync(name) && readFileSync(name).includes(text),
  )
}

/** The tables of a store that have rows with a text. */
function tablesWith(path: string, text: string): string[] {
  const connection = openLibsql(path)
  const tables = connection.execute(`select name from sqlite_master where type = 'table'`)
  const found = tables
    .map(({ name }) => String(name))
    .filter((name) => JSON.stringify(connection.execute(`select * from "${name}"`)).includes(text))
  connection.close()
  return found
}

const canary = 'canary-7f3a9c51'
const about = (subject: unknown, more: object = {}) =>
  runFile({
    envelope: {
      metadata: { subject },
      // One small value and one that is stored apart, in pieces and as a whole.
      inputs: { note: canary, letter: `${canary} `.repeat(2_000) },
      ...more,
    },
    script: [{ text: `{"text": "Tea for ${canary}"}` }],
  })

it('erase removes every byte of a subject from the files, keeps other runs, and leaves a verifiable audit', async () => {
  const { path, cli, json, run } = newStore()
  expect((await run('first', about(`jane-${canary}`))).code).toBe(0)
  expect((await run('both', about(['joe', `jane-${canary}`]))).code).toBe(0)
  expect((await run('other', runFile())).code).toBe(0)
  expect(filesWith(path, canary).length).toBeGreaterThan(0)

  const preview = await json(['erase', '--subject', `jane-${canary}`, '--dry-run'])
  expect(preview.runs.map(({ runId }: { runId: string }) => runId).sort()).toEqual(['both', 'first'])
  expect(preview).toMatchObject({ dryRun: true, unfinished: [] })
  expect(filesWith(path, canary).length, 'a preview erases nothing').toBeGreaterThan(0)

  const receipt = await json([
    'erase',
    '--subject',
    `jane-${canary}`,
    '--yes',
    '--by',
    'ann',
    '--reason',
    'asked',
  ])
  expect(receipt).toMatchObject({ by: 'ann', reason: 'asked', residue: [], deleted: { runs: 2 } })
  expect(receipt.deleted.values).toBeGreaterThan(0)
  expect(JSON.stringify(receipt)).not.toContain(canary)
  expect(filesWith(path, canary)).toEqual([])

  expect((await json(['runs'])).map(({ runId }: { runId: string }) => runId)).toEqual(['other'])
  expect((await json(['verify'])).ok).toBe(true)
  expect(await json(['audit', '--verify'])).toMatchObject({ ok: true, rows: 3, head: receipt.audit.hash })
  const [tombstone] = await json(['audit', '--subject', 'first'])
  expect(tombstone).toMatchObject({
    action: 'run.erased',
    by: 'ann',
    details: { receiptId: receipt.receiptId },
  })
  const [completed] = await json(['audit', '--subject', receipt.receiptId])
  expect(completed).toMatchObject({ action: 'erasure.completed', details: { receiptHash: receipt.hash } })

  const again = await cli(['erase', '--subject', `jane-${canary}`, '--yes'])
  expect(again.stderr).toContain('Erased: 0 runs')
})

it('erase asks first, names one run, and refuses a run that is not over', async () => {
  const { cli, json, run } = newStore()
  expect((await run('done', runFile())).code).toBe(0)
  expect((await run('waits', runFile({ envelope: approved }))).code).toBe(6)
  const unanswered = await cli(['erase', '--run', 'done'])
  expect(unanswered).toMatchObject({ code: 2 })
  expect(unanswered.stderr).toContain('Pass --yes')
  expect((await cli(['erase', '--run', 'done'], { stdin: 'n\n' })).stderr).toContain('Nothing was erased')
  const open = await cli(['erase', '--run', 'waits', '--yes'])
  expect(open.code).toBe(2)
  expect(open.stderr).toContain('Cannot erase runs that are not over: waits')
  expect(open.stderr).toContain('Cancel them')
  expect((await cli(['erase', '--run', 'none', '--yes'])).stderr).toContain('Run "none" not found')
  const neither = await cli(['erase', '--yes'])
  expect(neither).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('give either a run id or a subject'),
  })
  expect(neither.stderr).toContain('Pass --run ID, or --subject NAME')
  expect((await cli(['erase', '--run', 'done'], { stdin: 'y\n' })).stderr).toMatch(
    /Receipt era_[0-9a-f]{16} of /,
  )
  expect((await json(['runs'])).map(({ runId }: { runId: string }) => runId)).toEqual(['waits'])
})

it('erase marks backups, and restore erases the runs again', async () => {
  const { cli, json, run } = newStore()
  expect((await run('gone', runFile())).code).toBe(0)
  const missing = await cli(['erase', '--run', 'gone', '--yes', '--backups', pathInFolder('no-such-folder')])
  expect(missing).toMatchObject({ code: 2 })
  expect(missing.stderr).toContain('it is not a folder')
  const folder = pathInFolder(`backups-${stores}`)
  mkdirSync(folder)
  const backup = join(folder, 'monday.db')
  await json(['backup', '--to', backup])
  const receipt = await json(['erase', '--run', 'gone', '--yes', '--backups', folder])
  expect(receipt.backups).toEqual([`${backup}.manifest.json`])
  expect(JSON.parse(readFileSync(`${backup}.manifest.json`, 'utf8')).erased).toEqual([
    { receiptId: receipt.receiptId, at: receipt.at, runIds: ['gone'] },
  ])
  const restored = await json(['restore', '--from', backup, '--force'])
  expect(restored.erasedAgain).toBe(1)
  expect(await json(['runs'])).toEqual([])
  expect((await json(['verify'])).ok).toBe(true)
  expect(await json(['audit', '--action', 'run.erased'])).toMatchObject([{ by: 'proviso restore' }])
})

it('erase marks the backups of an erasure by a server from its receipt, once', async () => {
  const { cli, json, run } = newStore()
  expect((await run('gone', runFile())).code).toBe(0)
  const folder = pathInFolder(`backups-${stores}`)
  mkdirSync(folder)
  const backup = join(folder, 'monday.db')
  await json(['backup', '--to', backup])
  const receipt = await json(['erase', '--run', 'gone', '--yes'])
  const file = join(folder, 'receipt.json')
  writeFileSync(file, JSON.stringify(receipt))
  const mark = ['erase', '--receipt', file, '--backups', folder]
  const marked = { receiptId: receipt.receiptId, runs: 1, backups: [`${backup}.manifest.json`] }
  const readErased = () => JSON.parse(readFileSync(`${backup}.manifest.json`, 'utf8')).erased
  expect(await json([...mark, '--dry-run'])).toEqual({ dryRun: true, ...marked })
  expect(readErased()).toBeUndefined()
  for (let twice = 0; twice < 2; twice++) expect(await json(mark)).toEqual(marked)
  expect(readErased()).toEqual([{ receiptId: receipt.receiptId, at: receipt.at, runIds: ['gone'] }])
  expect((await json(['restore', '--from', backup, '--force'])).erasedAgain).toBe(1)

  writeFileSync(file, JSON.stringify({ ...receipt, runs: [] }))
  const changed = await cli(mark)
  expect(changed).toMatchObject({ code: 2 })
  expect(changed.stderr).toContain('it does not match its hash')
  expect(await cli(['erase', '--receipt', file])).toMatchObject({ code: 2 })
})

it('audit reports a row that was changed behind its back', async () => {
  const { path, cli, json } = newStore()
  for (const name of ['a', 'b', 'c']) await json(['token', 'create', '--role', 'caller', '--name', name])
  expect((await json(['audit', '--verify'])).rows).toBe(3)
  const connection = openLibsql(path)
  connection.execute(`update operations_audit set actor = 'another person' where seq = 2`)
  connection.close()
  const found = await cli(['audit', '--verify'])
  expect(found.code).toBe(3)
  expect(found.stderr).toContain('row 2  the row does not match its hash')
})

it('token rotate replaces a token, and the audit names who made, rotated and revoked it', async () => {
  const { cli, json } = newStore()
  const made = await json(['token', 'create', '--role', 'agent', '--capability', 'cap', '--by', 'ann'])
  const rotated = await json(['token', 'rotate', made.tokenId, '--overlap', '1h', '--by', 'ben'])
  expect(rotated).toMatchObject({
    role: 'agent',
    capabilityId: 'cap',
    replaces: made.tokenId,
    familyId: made.tokenId,
  })
  expect(rotated.token).not.toBe(made.token)
  const left = rotated.oldExpiresAt - Date.now()
  expect(left).toBeGreaterThan(3_000_000)
  expect(left).toBeLessThanOrEqual(3_600_000)
  await json(['token', 'revoke', rotated.tokenId, '--by', 'ann'])
  const refused = await cli(['token', 'rotate', rotated.tokenId])
  expect(refused).toMatchObject({ code: 2 })
  expect(refused.stderr).toContain('No valid token')
  const rows = await json(['audit'])
  expect(rows.map(({ action, by }: { action: string; by: string }) => `${action} ${by}`).reverse()).toEqual([
    'token.created ann',
    'token.rotated ben',
    'token.revoked ann',
  ])
  expect(JSON.stringify(rows)).not.toContain(made.token)
})

it('secrets reseal encrypts all agents with the new key, and reports agents that no key opens', async () => {
  const { cli, json } = newStore()
  const [old, next, foreign] = ['a1', 'b2', 'c3'].map((byte) => byte.repeat(32)) as [string, string, string]
  await json(['token', 'create', '--role', 'agent'])
  const store = await openStore(`sqlite:${pathInFolder(`operations-${stores}.db`)}`)
  for (const [capabilityId, key] of [
    ['one', old],
    ['two', old],
    ['lost', foreign],
  ] as const) {
    const endpoint = createEndpointSeal({ keys: [key], clear: false }).seal(
      { tenant: 'default', capabilityId },
      { url: 'https://agents.example/', keys: [{ keyId: 'k', secret: 'psk_x' }] },
    )
    await store.records.registrations.put({
      tenant: 'default',
      capabilityId,
      payload: {},
      endpoint,
      ttlMs: 60_000,
      tokenId: 'tok',
    })
  }
  await store.close()
  const env = { PROVISO_SECRET_KEY: next, PROVISO_SECRET_KEY_PREVIOUS: old }
  const preview = await cli(['secrets', 'reseal', '--dry-run', '--json'], { env })
  expect(JSON.parse(preview.stdout)).toMatchObject({ resealed: 2, current: 0, dryRun: true })
  const done = await cli(['secrets', 'reseal', '--by', 'ann'], { env })
  expect(done.code).toBe(3)
  expect(done.stdout).toContain('Resealed 2 agents and 0 runs; 0 agents had the newest key already')
  expect(done.stderr).toContain(
    `lost of tenant default: no known key decrypts its secrets, they need key ${readSecretKey(foreign).id}`,
  )
  const alone = await cli(['secrets', 'reseal', '--json'], { env: { PROVISO_SECRET_KEY: next } })
  expect(JSON.parse(alone.stdout)).toMatchObject({
    resealed: 0,
    current: 2,
    unreadable: [{ capabilityId: 'lost', keyId: readSecretKey(foreign).id }],
  })
  const [row] = await json(['audit', '--action', 'secrets.resealed'])
  expect(row).toMatchObject({ by: 'ann', details: { capabilities: ['one', 'two'] } })
  expect((await cli(['secrets', 'reseal'])).stderr).toContain('secret key not found')
})

it('secrets reseal encrypts the secrets of runs again, so that the previous key can go', async () => {
  const { path, cli, json } = newStore()
  const [old, next] = ['a1', 'b2'].map((byte) => byte.repeat(32)) as [string, string]
  const content = runFile({ envelope: { inputs: { password: 'planted-password-1' } } })
  const started = file(`operations-${stores}-sealed.json`, content)
  const ran = await cli(['run', started, '--run-id', 'sealed'], { env: { PROVISO_SECRET_KEY: old } })
  expect(ran).toMatchObject({ code: 0 })
  expect(filesWith(path, 'planted-password-1')).toEqual([])
  const env = { PROVISO_SECRET_KEY: next, PROVISO_SECRET_KEY_PREVIOUS: old }
  const preview = await cli(['secrets', 'reseal', '--dry-run', '--json'], { env })
  expect(JSON.parse(preview.stdout)).toMatchObject({ runs: 1, runsUnderWay: 0, runsOfPreviousKeys: 1 })
  const [oldId, newId] = [old, next].map((key) => readSecretKey(key).id) as [string, string]
  expect(filesWith(path, `[sealed:v1.${newId}.`)).toEqual([])
  const done = await cli(['secrets', 'reseal', '--by', 'ann'], { env })
  expect(done).toMatchObject({ code: 0 })
  expect(done.stdout).toContain(
    'Resealed 0 agents and 1 run; 0 agents had the newest key already\nNo run needs a previous key',
  )
  const after = await cli(['secrets', 'reseal', '--json'], { env })
  expect(JSON.parse(after.stdout)).toMatchObject({ runs: 0, runsOfPreviousKeys: 0 })
  const [row] = await json(['audit', '--action', 'secrets.resealed'])
  expect(row).toMatchObject({ by: 'ann', subject: '1 runs', details: { runs: 1 } })
  // The new key alone opens the run, and every chain is still valid.
  const alone = { env: { PROVISO_SECRET_KEY: next } }
  const verified = await cli(['verify', 'sealed', '--json'], alone)
  expect(verified).toMatchObject({ code: 0 })
  const { head } = await json(['audit', '--verify'])
  const audited = await cli(['audit', '--verify'], alone)
  expect(audited).toMatchObject({ code: 0, stdout: `1 row: the chain is intact\nhead ${head}\n` })
  const store = openSealed(
    await openStore(`sqlite:${path}`, { readOnly: true }),
    readEnv({ PROVISO_SECRET_KEY: next }),
  )
  const [start] = await store.read('sealed', 0)
  expect(start?.payload).toMatchObject({ envelope: { inputs: { password: 'planted-password-1' } } })
  await store.close()
  expect(filesWith(path, 'planted-password-1')).toEqual([])
  expect(tablesWith(path, `[sealed:v1.${oldId}.`)).toEqual([])
  expect(tablesWith(path, `[sealed:v1.${newId}.`)).toContain('flex_events')
})

it('secrets reseal reports what is sealed with a key that it does not have', async () => {
  const { path, cli } = newStore()
  const [lost, next] = ['c7', 'd8'].map((byte) => byte.repeat(32)) as [string, string]
  const lostId = readSecretKey(lost).id
  for (const [name, key, inputs] of [
    ['small', lost, { password: 'planted-password-2' }],
    ['large', lost, { password: 'planted-password-3', notes: Array(900).fill('tea tea tea') }],
    ['new', next, { password: 'planted-password-4', text: '[sealed:v1.0a1b2c3d.short]' }],
  ] as const) {
    const content = file(`operations-${stores}-${name}.json`, runFile({ envelope: { inputs } }))
    const ran = await cli(['run', content, '--run-id', name], { env: { PROVISO_SECRET_KEY: key } })
    expect(ran).toMatchObject({ code: 0 })
  }
  const store = await openStore(`sqlite:${path}`)
  const sealed = openSealed(store, readEnv({ PROVISO_SECRET_KEY: lost }))
  await sealed.records.once.take('a response', { body: { password: 'planted-5' }, keepMs: 600_000 })
  await store.close()
  const env = { PROVISO_SECRET_KEY: next }
  for (const flags of [['--dry-run'], []]) {
    const printed = await cli(['secrets', 'reseal', ...flags], { env })
    expect(printed).toMatchObject({ code: 3, stdout: expect.not.stringContaining('No run needs') })
    expect(printed.stderr).toContain(
      `key ${lostId}  sealed 2 runs and 1 stored response, and is not configured`,
    )
    expect(printed.stderr).toContain('PROVISO_SECRET_KEY_PREVIOUS')
  }
  const { stdout } = await cli(['secrets', 'reseal', '--dry-run', '--json'], { env })
  expect(JSON.parse(stdout)).toMatchObject({ unknownKeys: [{ keyId: lostId, runs: 2, rows: 1 }] })
  const both = { ...env, PROVISO_SECRET_KEY_PREVIOUS: lost }
  expect(await cli(['secrets', 'reseal'], { env: both })).toMatchObject({ code: 0 })
})

it('secrets reseal counts with the key file alone', async () => {
  const { path, cli } = newStore()
  const content = runFile({ envelope: { inputs: { password: 'planted-password-6' } } })
  expect((await cli(['run', file(`operations-${stores}-file.json`, content)])).code).toBe(0)
  expect(existsSync(`${path}-secret-key`)).toBe(true)
  expect(await cli(['secrets', 'reseal', '--dry-run'])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('No run needs a previous key'),
  })
})

it('times are refused in words', async () => {
  const { cli } = newStore()
  const expired = await cli(['token', 'create', '--role', 'caller', '--expires', '0d'])
  expect(expired).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('longer than zero') })
  const toml = file('soon.toml', '[retention]\nkeep = "soon"\ntenants = ["acme"]\n')
  const { stderr, code } = await runCommand(['config', '--config', toml])
  expect(code).toBe(2)
  expect(stderr).toContain(
    'retention.keep: must be a whole number and a unit (45s, 30m, 12h, 30d or 4w), or forever, but is the string "soon"',
  )
  expect(stderr).toContain('retention.tenants.0: must be a tenant and a time, such as acme=90d')
  expect(stderr).not.toContain('[smhdw]')
})

it('prune --policy applies the most specific rule, says what each would delete, and is recorded', async () => {
  const { path, cli, json, run } = newStore()
  expect((await run('done', runFile())).code).toBe(0)
  const failing = runFile({ script: [{ text: 'no' }], envelope: { policies: { onNodeFail: 'fail' } } })
  expect((await run('broken', failing)).code).toBe(3)
  const config = (text: string) => file(`retention-${stores}.toml`, `[retention]\n${text}`)
  const kept = config(
    'keep = "1d"\nfailed = "forever"\ntenants = ["acme=1d", "acme.failed=2d"]\nevery_minutes = 5',
  )
  const connection = openLibsql(path)
  connection.execute('update flex_runs set created_at = created_at - 9e7, updated_at = updated_at - 9e7')
  connection.close()
  const would = await json(['prune', '--policy', '--config', kept, '--dry-run'])
  expect(would).toMatchObject({ runs: 1, dryRun: true })
  expect(would.rules.map(({ rule, runs }: { rule: string; runs: number }) => `${rule}: ${runs}`)).toEqual([
    'completed, cancelled runs of acme after 1d: 0',
    'failed runs of acme after 2d: 0',
    'completed, cancelled runs after 1d: 1',
  ])
  expect(await json(['prune', '--policy', '--config', kept, '--yes', '--by', 'ann'])).toMatchObject({
    runs: 1,
  })
  expect((await json(['runs'])).map(({ runId }: { runId: string }) => runId)).toEqual(['broken'])
  const [row] = await json(['audit', '--action', 'runs.pruned'])
  expect(row).toMatchObject({
    by: 'ann',
    subject: 'completed, cancelled runs after 1d',
    details: { runs: 1 },
  })
  expect((await json(['prune', '--older-than', '0s', '--status', 'completed', '--dry-run'])).runs).toBe(0)
  expect((await json(['prune', '--older-than', '0s', '--status', 'failed', '--dry-run'])).runs).toBe(1)
  const none = await cli(['prune', '--policy', '--config', config('every_minutes = 5')])
  expect(none.stderr).toContain('the settings have no retention')
  expect((await cli(['prune'])).stderr).toContain('pass either --older-than or --policy')
  const wrong = await cli(['prune', '--policy', '--config', config('keep = "soon"')])
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toMatch(/retention-\d+\.toml:2/)
})

it('reply takes the approvals of two people, and refuses the same person twice', async () => {
  const { cli, json, run } = newStore()
  const policies = { ...approved.policies, approvers: 2 }
  expect((await run('both', runFile({ envelope: { policies } }))).code).toBe(6)
  const [{ requestId }] = await json(['asks'])
  const work = file(`operations-${stores}-again.json`, runFile())
  const reply = (by: string) => cli(['reply', requestId, 'approve', '--by', by, '--file', work])
  expect((await reply('ann')).code, 'still waits').toBe(6)
  const again = await reply('Ann')
  expect(again.code).toBe(2)
  expect(again.stderr).toContain('needs the approval of 2 different people')
  expect((await reply('ben')).code).toBe(0)
  expect((await json(['verify'])).ok).toBe(true)
})

it('serve records its settings in the audit when they differ from the last start, and deletes by its rules', async () => {
  const { path, json, run } = newStore()
  expect((await run('done', runFile())).code).toBe(0)
  const connection = openLibsql(path)
  connection.execute('update flex_runs set created_at = created_at - 9e7, updated_at = updated_at - 9e7')
  connection.close()
  const config = file(`serve-${stores}.toml`, '[retention]\ncompleted = "1d"\n')
  const serveOnce = async (bodyBytes: string) => {
    const args = ['serve', '--dev', '--port', '0', '--store', `sqlite:${path}`, '--config', config]
    const child = spawn(process.execPath, [
      join(root, 'dist/cli/main.js'),
      ...args,
      '--body-limit',
      bodyBytes,
    ])
    const { address } = await listening(child)
    // The process takes signals before it answers.
    await (await fetch(`${address}/livez`)).text()
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  for (const limit of ['2000000', '2000000', '3000000']) await serveOnce(limit)
  const rows = await json(['audit', '--action', 'settings.changed'])
  expect(rows.map(({ details }: { details: { changed: string[] } }) => details.changed)).toEqual([
    ['server.body_bytes'],
    ['retention.completed', 'server.body_bytes'],
  ])
  expect(rows[0].details.settings).toMatchObject({ 'server.body_bytes': 3_000_000 })
  expect(await json(['runs'])).toEqual([])
  const [pruned] = await json(['audit', '--action', 'runs.pruned'])
  expect(pruned).toMatchObject({ by: 'retention', subject: 'completed runs after 1d' })
  expect((await json(['audit', '--verify'])).ok).toBe(true)
}, 60_000)
