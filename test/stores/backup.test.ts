/** `proviso backup`, `restore` and `doctor` as an operator uses them: beside a server under load, after a loss. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, start } from '../../scripts/postgres.mjs'
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import { newRun } from '../../src/testing/stores/sample.ts'
import { api } from '../server/support.ts'
import { proviso, root, runCommand } from '../support.ts'
import { servedStores } from './served-store.ts'

const { path, serve } = servedStores()

interface Written {
  readonly manifest: {
    readonly runs: number
    readonly events: number
    readonly commit: number
    readonly head: string
    readonly sha256: string
  }
}

describe('a SQLite store', () => {
  it('is backed up under load, restored after a loss, and verified against its anchor', async () => {
    const file = path('loaded.db')
    const store = ['--store', `sqlite:${file}`]
    const server = await serve(file)
    const before = [await server.complete(), await server.complete()]
    let isOver = false
    const client = async () => {
      const done: string[] = []
      while (!isOver) done.push(await server.complete())
      return done
    }
    const clients = Promise.all(Array.from({ length: 4 }, client))
    const backup = path('loaded-backup.db')
    const written = await proviso(['backup', '--to', backup, '--json', ...store])
    expect(written).toMatchObject({ code: 0, stderr: expect.stringContaining('Written: ') })
    const { manifest } = JSON.parse(written.stdout) as Written
    isOver = true
    const during = (await clients).flat()
    const last = await server.complete()
    expect((await runCommand(['restore', '--from', backup, '--force', ...store])).stderr).toContain(
      'Another process is writing',
    )
    await server.kill('SIGTERM')

    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
    const preview = await runCommand(['restore', '--from', backup, '--dry-run', '--json', ...store])
    expect(JSON.parse(preview.stdout)).toMatchObject({ dryRun: true, manifest })
    expect(existsSync(file)).toBe(false)
    const restored = await runCommand(['restore', '--from', backup, '--json', ...store])
    expect(restored.code).toBe(0)
    const { newerCommits } = JSON.parse(restored.stdout) as { newerCommits: number }
    expect(newerCommits).toBeGreaterThan(0)
    expect(restored.stderr).toContain(`${newerCommits} acknowledged commits came after this backup`)
    expect(restored.stderr).toContain(`or copy its key file to ${file}-secret-key`)

    const verified = await runCommand(['verify', '--json', ...store])
    expect(verified.code).toBe(0)
    const { runs, commit, head } = manifest as Written['manifest'] & { runs: number }
    expect(JSON.parse(verified.stdout)).toMatchObject({
      ok: true,
      runs,
      anchor: { state: 'ok', commit, head },
    })
    expect(runs).toBeGreaterThanOrEqual(before.length)
    expect(runs).toBeLessThanOrEqual(before.length + during.length + 4)
    const again = await serve(file)
    for (const runId of before) expect((await again.call(`${api}/runs/${runId}`)).status).toBe(200)
    expect((await again.call(`${api}/runs/${last}`)).status).toBe(404)
    await again.complete()
  })

  it('is not overwritten without --force, and kept with it; a damaged backup is refused', async () => {
    const file = path('kept.db')
    const store = ['--store', `sqlite:${file}`]
    const server = await serve(file)
    await server.complete()
    const backup = path('kept-backup.db')
    expect((await runCommand(['backup', '--to', backup, ...store])).code).toBe(0)
    const created = [file, `${file}-wal`, `${file}-anchor`, backup]
    expect(created.map((each) => statSync(each).mode & 0o777)).toEqual(created.map(() => 0o600))
    expect(await runCommand(['backup', '--to', backup, ...store])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('pass --force'),
    })
    await server.complete()
    await server.kill('SIGTERM')
    expect(await runCommand(['restore', '--from', backup, ...store])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the file exists'),
    })
    const forced = await runCommand(['restore', '--from', backup, '--force', '--json', ...store])
    const { keptAs } = JSON.parse(forced.stdout) as { keptAs: string }
    expect(await runCommand(['runs', '--json', '--store', `sqlite:${keptAs}`])).toMatchObject({ code: 0 })
    expect((await runCommand(['verify', ...store])).stdout).toContain('1 run,')

    const bytes = readFileSync(backup)
    bytes[5_000] = (bytes[5_000] ?? 0) ^ 1
    writeFileSync(backup, bytes)
    expect(await runCommand(['restore', '--from', backup, '--force', ...store])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('does not match its manifest'),
    })
    expect((await runCommand(['verify', ...store])).code).toBe(0)
  })

  it('is never the target of its backup, nor the source of its restore, by any name', async () => {
    const file = path('own.db')
    const store = ['--store', `sqlite:${file}`]
    const server = await serve(file)
    const runId = await server.complete()
    symlinkSync(file, path('own-link.db'))
    linkSync(file, path('own-hard.db'))
    mkdirSync(path('own-folder'))
    const names = ['own-link.db', 'own-hard.db', 'own-folder/../own.db']
    const targets = [
      file,
      ...names.map(path),
      ...['-wal', '-shm', '-anchor', '-writer'].map((end) => file + end),
    ]
    for (const to of [...targets, `${file}-secret-key`])
      expect(await runCommand(['backup', '--to', to, '--force', ...store])).toEqual({
        code: 2,
        stdout: '',
        stderr: expect.stringMatching(/Cannot write the backup to .*: .* is (the|a) .*store[\s\S]*--to/),
      })
    for (const from of targets)
      expect(await runCommand(['restore', '--from', from, '--force', ...store])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(`Cannot restore from ${from}: ${from} is the`),
      })
    expect(
      (await runCommand(['backup', '--to', file, '--force', '--store', `sqlite:${path('own-link.db')}`]))
        .code,
    ).toBe(2)
    await server.complete()
    await server.kill('SIGTERM')
    const again = await serve(file)
    expect((await again.call(`${api}/runs/${runId}`)).status).toBe(200)
    await again.kill('SIGTERM')
    expect((await runCommand(['backup', '--to', file, '--force', ...store])).code).toBe(2)
    expect((await runCommand(['verify', ...store])).code).toBe(0)
  })

  it('leaves nothing behind when it cannot be restored, and says why', async () => {
    const file = path('refused.db')
    const store = ['--store', `sqlite:${file}`]
    const server = await serve(file)
    await server.complete()
    const backup = path('refused-backup.db')
    expect((await runCommand(['backup', '--to', backup, ...store])).code).toBe(0)
    const used = await runCommand(['restore', '--from', backup, '--force', ...store])
    expect(used).toMatchObject({ code: 2, stderr: expect.stringContaining('writing to') })
    expect(existsSync(`${file}.partial`)).toBe(false)
    const nowhere = `sqlite:${path('no-such-folder')}/runs.db`
    expect(await runCommand(['restore', '--from', backup, '--store', nowhere])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/the folder does not exist\n +Create .*no-such-folder/),
    })
  })

  it('says why the copy could not be written', async () => {
    const file = path('unwritable.db')
    const server = await serve(file)
    await server.complete()
    const command = [join(root, 'dist/cli/main.js'), 'backup', '--to', path('unwritten.db'), '--store']
    // No file may have more than a kilobyte: the copy fails as on a full disk.
    const limited = ['-c', 'ulimit -f 1; exec "$@"', 'sh', process.execPath, ...command, `sqlite:${file}`]
    const { status, stderr } = spawnSync('sh', limited, { encoding: 'utf8' })
    expect(stderr).toMatch(/Cannot back up .*: .*(full|I\/O)/)
    expect(stderr).toContain('Check the free space')
    expect(status).toBe(2)
    expect(existsSync(path('unwritten.db.partial'))).toBe(false)
  })

  it('is examined by doctor', async () => {
    const file = path('examined.db')
    const store = ['--store', `sqlite:${file}`]
    const server = await serve(file)
    await server.complete()
    // In a process of its own: the files are closed when it ends.
    const healthy = await proviso(['doctor', '--json', ...store])
    const { ok, findings } = JSON.parse(healthy.stdout) as {
      ok: boolean
      findings: { check: string; status: string; detail: string }[]
    }
    expect([healthy.code, ok]).toEqual([0, true])
    chmodSync(`${file}-wal`, 0o644)
    writeFileSync(`${file}-secret-key`, 'ab', { mode: 0o640 })
    const open = await proviso(['doctor', ...store])
    expect(open.stderr).toContain(`can read ${file}-wal (mode 644), ${file}-secret-key (mode 640)`)
    expect(open.stderr).toContain(`Run chmod 600 ${file}-wal ${file}-secret-key`)
    const inFolder = await proviso(['doctor', '--store', `sqlite:${path('')}`])
    expect(inFolder).toMatchObject({ code: 3, stderr: expect.stringContaining('is a folder') })
    expect(inFolder.stderr).not.toContain('chmod')
    const of = (name: string) => findings.find(({ check }) => check === name)
    expect(findings.map(({ check }) => check)).toEqual([
      'permissions',
      'privacy',
      'disk',
      'write',
      'store',
      'anchor',
      'pages',
      'clock',
    ])
    expect(of('privacy')).toMatchObject({ status: 'ok', detail: 'mode 600' })
    expect(of('store')?.detail).toContain('a process writes to it')
    expect(of('anchor')?.detail).toMatch(/all \d+ acknowledged commits are there/)
    await server.kill('SIGTERM')
    copyFileSync(file, `${file}-older`)
    const more = await serve(file)
    await more.complete()
    await more.kill('SIGTERM')
    renameSync(`${file}-older`, file)
    const ill = await runCommand(['doctor', ...store])
    expect(ill).toMatchObject({ code: 3, stderr: expect.stringContaining('--accept-loss') })
    expect(ill.stdout).toMatch(/^CHECK +STATUS +DETAIL\n/)
    expect(ill.stdout).toMatch(/anchor +fail +\d+ acknowledged commits? of 1 run vanished/)
  })
})

describe('a PostgreSQL store', () => {
  let cluster: Cluster | undefined
  beforeAll(async () => {
    cluster = await start()
  })
  afterAll(() => cluster?.stop())

  it('is backed up and restored with every table, and refuses to overwrite rows', async () => {
    const url = cluster?.url ?? ''
    const store = await openPostgresStore({ url })
    for (let n = 0; n < 30; n++) await store.create(newRun(`run-${n}`))
    await runCommand(['token', 'create', '--role', 'admin', '--name', 'Ann', '--store', url])
    const backup = path('pg.jsonl.gz')
    const written = await runCommand(['backup', '--to', backup, '--json', '--store', url])
    expect(JSON.parse(written.stdout)).toMatchObject({ manifest: { kind: 'postgres', runs: 30 } })
    await store.create(newRun('later'))
    expect(await runCommand(['restore', '--from', backup, '--store', url])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('has rows'),
    })
    expect(await runCommand(['restore', '--from', backup, '--force', '--store', url])).toMatchObject({
      code: 0,
    })
    expect(await store.head('later')).toBe(undefined)
    expect((await store.runs({ limit: 100 })).length).toBe(30)
    expect(await store.records.tokens.list({})).toMatchObject([{ name: 'Ann' }])
    await store.close()
    expect((await runCommand(['verify', '--store', url])).stdout).toContain('30 runs')
    const doctor = await runCommand(['doctor', '--json', '--store', url])
    expect(JSON.parse(doctor.stdout)).toMatchObject({
      findings: expect.arrayContaining([expect.objectContaining({ check: 'clock', status: 'ok' })]),
    })
  })
})
