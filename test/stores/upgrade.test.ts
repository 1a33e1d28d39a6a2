/**
 * Promises about versions in turn on one store: a file of the version before is migrated and continued, an older version
 * refuses the migrated file and changes nothing, and a copy from before the upgrade rolls back.
 * `fixtures/version-0007.db.gz` was written by the version before the operations audit: a finished run, a run that waits, a
 * token. That version itself is built from the history of the repository and takes its turns; `PROVISO_PREVIOUS`, the path of a
 * `dist/cli/main.js`, names another one.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, it } from 'vitest'
import { openStore } from '../../src/app.ts'
import { openLibsql } from '../seams/stores.ts'
import { type Finished, root, runCommand, runNode } from '../support.ts'
import { buildPreviousVersion, hasPreviousVersion } from './previous-version.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function oldStore() {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-upgrade-'))
  folders.push(folder)
  const path = join(folder, 'runs.db')
  writeFileSync(path, gunzipSync(readFileSync(join(root, 'test/stores/fixtures/version-0007.db.gz'))))
  return { path, store: `sqlite:${path}` }
}

const ok = (done: Finished): Finished => {
  expect(done).toMatchObject({ code: 0 })
  return done
}

it('migrates the store of the version before, continues its runs, and keeps its tokens', async () => {
  const { store } = oldStore()
  const early = await runCommand(['runs', '--store', store])
  expect(early.code, 'a reader does not migrate').toBe(2)
  expect(early.stderr).toContain('Open it once for writing')
  ok(await runCommand(['reply', 'waits:ask:1', 'approve', '--by', 'ann', '--store', store]))
  const runs = JSON.parse(ok(await runCommand(['runs', '--json', '--store', store])).stdout)
  expect(runs.map(({ status }: { status: string }) => status)).toEqual(['completed', 'completed'])
  ok(await runCommand(['verify', '--store', store]))
  const tokens = JSON.parse(ok(await runCommand(['token', 'list', '--json', '--store', store])).stdout)
  ok(await runCommand(['token', 'rotate', tokens[0].tokenId, '--store', store]))
  ok(await runCommand(['erase', '--subject', 'customer-4711', '--yes', '--store', store]))
  ok(await runCommand(['audit', '--verify', '--store', store]))
}, 60_000)

it('refuses a store of a later version with its migrations by name, and changes nothing', async () => {
  const { path, store } = oldStore()
  await (await openStore(store)).close()
  const connection = openLibsql(path)
  connection.execute(
    `insert into proviso_migrations (name, timestamp) values ('9999_of_a_later_version', '2030-01-01')`,
  )
  connection.execute('pragma wal_checkpoint(truncate)')
  connection.close()
  const before = readFileSync(path)
  await expect(openStore(store)).rejects.toMatchObject({
    code: 'store/newer',
    message: expect.stringContaining('9999_of_a_later_version'),
  })
  expect(readFileSync(path).equals(before)).toBe(true)
})

// On a shallow clone the fixture above stands for the earlier version.
if (hasPreviousVersion())
  it('two versions take turns: upgrade, refusal, rollback, upgrade', async () => {
    const { main, dispose } = await buildPreviousVersion()
    try {
      await takeTurns(main)
    } finally {
      dispose()
    }
  }, 120_000)

async function takeTurns(previous: string): Promise<void> {
  const { path, store } = oldStore()
  const older = (...args: string[]) => runNode([previous, ...args, '--store', store])
  const newer = (...args: string[]) => runCommand([...args, '--store', store])
  ok(await older('verify'))
  const copy = `${path}.before`
  copyFileSync(path, copy)
  ok(await newer('reply', 'waits:ask:1', 'approve', '--by', 'ann'))
  const refused = await older('runs')
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain('unknown migrations')
  ok(await newer('verify'))
  for (const name of [path, `${path}-wal`, `${path}-shm`, `${path}-anchor`]) rmSync(name, { force: true })
  copyFileSync(copy, path)
  ok(await older('verify'))
  ok(await older('reply', 'waits:ask:1', 'approve', '--by', 'ben'))
  ok(await newer('token', 'create', '--role', 'caller'))
  ok(await newer('verify'))
  ok(await newer('audit', '--verify'))
}
