/**
 * Trouble with the file of a SQLite store is noticed: nothing is acknowledged that is not in the file, and acknowledged runs
 * that vanished are reported. Tested as a user would see it: `proviso serve`, HTTP, `proviso verify`.
 */
import { spawnSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { api } from '../server/support.ts'
import { proviso } from '../support.ts'
import { servedStores, until } from './served-store.ts'

const { path, serve } = servedStores()

const verify = (file: string, ...args: string[]) => proviso(['verify', '--store', `sqlite:${file}`, ...args])

interface Verified {
  readonly ok: boolean
  readonly runs: number
  readonly anchor: {
    readonly state: string
    readonly commit: number
    readonly problems: readonly {
      readonly code: string
      readonly message: string
      readonly runs: readonly string[]
    }[]
  }
}

describe('a running server', () => {
  it.each([
    ['deleted', (file: string) => rmSync(file)],
    [
      'replaced',
      (file: string) => {
        copyFileSync(file, `${file}-other`)
        renameSync(`${file}-other`, file)
      },
    ],
    ['left without its log', (file: string) => rmSync(`${file}-wal`)],
    // Into the same file: copying truncates it and writes.
    [
      'overwritten by a copy',
      (file: string) => {
        copyFileSync(file, `${file}-copy`)
        copyFileSync(`${file}-copy`, file)
      },
    ],
    [
      'overwritten in one place',
      (file: string) => {
        const handle = openSync(file, 'r+')
        writeSync(handle, 'x', 5_000)
        closeSync(handle)
      },
    ],
  ])('notices that its file was %s, and acknowledges nothing more', async (what, harm) => {
    const file = path(`${what.replaceAll(' ', '-')}.db`)
    const server = await serve(file)
    await server.complete()
    expect(await until(() => server.call('/readyz'), 200)).toEqual({ status: 'ready' })
    harm(file)
    const refused = await server.start()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60'])
    expect(await refused.json()).toMatchObject({
      code: 'store/replaced',
      hint: expect.stringContaining('proviso restore'),
    })
    expect(await until(() => server.call('/readyz'), 503)).toEqual({
      status: 'store',
      code: 'store/replaced',
      reason: 'A file of the database was deleted, replaced or overwritten while it was open',
      hint: expect.stringContaining('Put the original files back'),
    })
    expect((await server.call('/livez')).status).toBe(200)
    expect(server.stderr()).toMatch(/(deleted|replaced|changed by another program) while it was open/)
  })

  it('continues when the original file is back', async () => {
    const file = path('moved.db')
    const server = await serve(file)
    await server.complete()
    renameSync(file, `${file}-away`)
    expect((await server.start()).status).toBe(503)
    renameSync(`${file}-away`, file)
    await until(() => server.call('/readyz'), 200)
    await server.complete()
    await server.kill('SIGTERM')
    expect(await verify(file)).toMatchObject({ code: 0, stdout: expect.stringContaining('all in order') })
  })
})

describe('a damaged file', () => {
  const harmed = async (name: string, harm: (bytes: Buffer) => void) => {
    const file = path(name)
    const server = await serve(file)
    const runIds = [await server.complete(), await server.complete(), await server.complete()]
    await server.kill('SIGTERM')
    const bytes = readFileSync(file)
    harm(bytes)
    writeFileSync(file, bytes)
    return { file, runIds }
  }

  it('that is no database any more is named by serve and verify, without a promise', async () => {
    const { file } = await harmed('no-database.db', (bytes) => bytes.fill(0x41, 0, 100))
    const started = await serve(file).catch((error: Error) => error.message)
    expect(started).toContain('the file is damaged')
    expect(started).toContain('proviso restore')
    expect(started).not.toContain('not lost')
    const verified = await verify(file)
    expect(verified).toMatchObject({ code: 3, stderr: expect.stringContaining('(store/corrupt)') })
    expect(verified.stdout).toContain('the file is damaged')
    const { code, stdout } = await verify(file, '--json')
    expect([code, JSON.parse(stdout)]).toMatchObject([
      3,
      { ok: false, damage: expect.stringContaining('damaged') },
    ])
  })

  it('is a violation that verify reports', async () => {
    const { file } = await harmed('harmed.db', (bytes) => {
      // The kinds of all pages but the first: tables and indexes.
      for (let at = 4_096; at < bytes.length; at += 4_096) bytes[at] = 0x7f
    })
    const verified = await verify(file)
    expect(verified).toMatchObject({ code: 3, stderr: expect.stringContaining('(store/corrupt)') })
    expect(verified.stderr).not.toContain('not lost')
    const doctor = await proviso(['doctor', '--store', `sqlite:${file}`])
    expect(doctor).toMatchObject({ code: 3, stderr: expect.stringContaining('restore a backup') })
  })
})

describe('acknowledged runs', () => {
  it('of a deleted database are counted by its anchor', async () => {
    const file = path('deleted-later.db')
    const server = await serve(file)
    const runId = await server.complete()
    await server.kill('SIGTERM')
    rmSync(file)
    const { code, stdout, stderr } = await verify(file)
    expect([code, stdout]).toEqual([3, '0 runs, 0 events: acknowledged runs are missing\n'])
    expect(stderr).toMatch(/the file does not exist: its \d+ acknowledged commits are gone \(1 run, /)
    expect(stderr).not.toContain('--accept-loss')
    const json = JSON.parse((await verify(file, '--json')).stdout) as Verified
    expect(json.anchor.problems).toMatchObject([{ code: 'anchor/lost', runs: [runId] }])
  })

  it('are counted by a new anchor when the old one is deleted', async () => {
    const file = path('without-anchor.db')
    const server = await serve(file)
    await server.complete()
    rmSync(`${file}-anchor`)
    await server.complete()
    await vi.waitFor(() => expect(server.stderr()).toContain('-anchor was deleted or replaced'), 10_000)
    expect(existsSync(`${file}-anchor`)).toBe(true)
    await server.complete()
    await server.kill('SIGKILL')
    const { stdout } = await verify(file, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, runs: 3, anchor: { state: 'ok', runs: 3 } })
    rmSync(`${file}-anchor`)
    expect(await verify(file)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(
        'there is no anchor: the loss of acknowledged runs could not be noticed',
      ),
    })
  })

  it('that a damaged log drops are reported by verify, and no process writes until the loss is accepted', async () => {
    const file = path('tail.db')
    const server = await serve(file)
    const first = await server.complete()
    const size = statSync(`${file}-wal`).size
    const lost = [await server.complete(), await server.complete()]
    await server.kill('SIGKILL')
    // One byte of the first frame after the first run: SQLite ignores the log from there on.
    const log = readFileSync(`${file}-wal`)
    log[size + 100] = (log[size + 100] ?? 0) ^ 0xff
    writeFileSync(`${file}-wal`, log)

    const { code, stdout } = await verify(file, '--json')
    expect(code).toBe(3)
    const { ok, runs, anchor } = JSON.parse(stdout) as Verified
    expect([ok, runs, anchor.state]).toEqual([false, 1, 'lost'])
    expect(anchor.problems).toMatchObject([{ code: 'anchor/lost' }])
    expect([...(anchor.problems[0]?.runs ?? [])].sort()).toEqual([...lost].sort())
    const printed = await verify(file)
    expect(printed.stdout).toContain('acknowledged runs are missing')
    expect(printed.stderr).toContain(lost[0])

    await expect(serve(file)).rejects.toThrow(/acknowledged commits of 2 runs vanished/)
    const accept = (...flags: string[]) =>
      proviso(['doctor', '--accept-loss', '--store', `sqlite:${file}`, ...flags])
    const given = /Gives up \d+ commits \(2 runs, \d+ events\): the anchor counts \d+ commits \(3 runs, /
    expect(await accept('--dry-run')).toMatchObject({ code: 0, stderr: expect.stringMatching(given) })
    expect(await accept()).toMatchObject({ code: 2, stderr: expect.stringContaining('Pass --yes') })
    expect((await verify(file)).code, 'a preview changes nothing').toBe(3)
    const accepted = await accept('--yes', '--json')
    expect(accepted).toMatchObject({ code: 0, stderr: expect.stringMatching(given) })
    const { keptAs, lost: givenUp } = JSON.parse(accepted.stdout).accepted
    expect([existsSync(keptAs), givenUp.runs]).toEqual([true, 2])
    expect(accepted.stderr).toContain(`The old anchor is kept as ${keptAs}`)
    expect((await accept('--yes')).stderr).toContain('Nothing to accept')
    const again = await serve(file)
    expect((await again.call(`${api}/runs/${first}`)).status).toBe(200)
    await again.complete()
    await again.kill('SIGKILL')
    expect(await verify(file)).toMatchObject({ code: 0, stdout: expect.stringContaining('2 runs') })
  })

  it.each([
    ['a log that was cut off', (file: string) => truncateSync(`${file}-wal`, 4_200)],
    ['an older copy', (file: string) => copyFileSync(`${file}-older`, file)],
    [
      'an empty file',
      (file: string) => ['', '-wal', '-shm'].map((end) => rmSync(file + end, { force: true })),
    ],
  ])('are missed in %s', async (name, harm) => {
    const file = path(`${name.replaceAll(' ', '-')}.db`)
    const before = await serve(file)
    await before.complete()
    await before.kill('SIGTERM')
    copyFileSync(file, `${file}-older`)
    const server = await serve(file)
    await server.complete()
    await server.kill(name === 'a log that was cut off' ? 'SIGKILL' : 'SIGTERM')
    harm(file)
    await expect(serve(file)).rejects.toThrow(/vanished|is not the one/)
    const { code, stdout } = await verify(file, '--json')
    expect([code, (JSON.parse(stdout) as Verified).anchor.state]).toEqual([3, 'lost'])
  })

  it('are all there after kill -9 under load, and the anchor agrees', async () => {
    const file = path('killed.db')
    const server = await serve(file)
    const acknowledged: string[] = []
    const client = async () => {
      for (;;) acknowledged.push(await server.complete())
    }
    const clients = Promise.allSettled(Array.from({ length: 8 }, client))
    while (acknowledged.length < 30) await new Promise((resolve) => setImmediate(resolve))
    await server.kill('SIGKILL')
    await clients
    const { code, stdout } = await verify(file, '--json')
    const { ok, runs, anchor } = JSON.parse(stdout) as Verified
    expect([code, ok, anchor.state]).toEqual([0, true, 'ok'])
    expect(runs).toBeGreaterThanOrEqual(acknowledged.length)
  })
})

const mountable = path === undefined ? undefined : spawnSync('mount', ['--version']).status === 0
describe.skipIf(!mountable || process.getuid?.() !== 0)('a full disk', () => {
  it('makes readyz 503 with the reason until there is space again', async ({ skip }) => {
    const directory = path('small')
    mkdirSync(directory)
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', directory], {
      encoding: 'utf8',
    })
    if (mounted.status !== 0) skip(`No small disk can be mounted here: ${mounted.stderr}`)
    try {
      const server = await serve(`${directory}/full.db`)
      await server.complete()
      await until(() => server.call('/readyz'), 200)
      // Fills what is left.
      spawnSync('dd', ['if=/dev/zero', `of=${directory}/filler`, 'bs=4k'])
      expect(await until(() => server.call('/readyz'), 503)).toEqual({
        status: 'store',
        code: 'store/unavailable',
        reason: 'The disk of the store is full',
        hint: expect.stringContaining('Free space'),
      })
      rmSync(`${directory}/filler`)
      await until(() => server.call('/readyz'), 200)
      await server.complete()
      await server.kill('SIGTERM')
    } finally {
      spawnSync('umount', ['--lazy', directory])
    }
  })
})
