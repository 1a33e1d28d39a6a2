/** Promises of the command on a PostgreSQL store, tested on the built file against a real server. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { type TcpProxy, tcpProxy } from '../stores/faults/tcp-proxy.ts'
import { root, runCommand } from '../support.ts'
import { approved, file, runFile } from './run-support.ts'

async function query(url: string, text: string, values: readonly string[] = []): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text, [...values])).rows
  } finally {
    await client.end()
  }
}

describe.skipIf(missingPostgres() !== undefined)('proviso on PostgreSQL', () => {
  let cluster: Cluster
  let proxy: TcpProxy
  beforeAll(async () => {
    cluster = await start()
    proxy = await tcpProxy({ host: '127.0.0.1', port: Number(new URL(cluster.url).port) })
  })
  afterAll(async () => {
    await proxy?.close()
    cluster?.stop()
  })

  it('runs, waits for a person, is answered by another process, and is in order', async () => {
    const path = file('postgres.json', runFile({ envelope: approved }))
    const command = (...args: string[]) => runCommand([...args, '--store', cluster.url])
    const begun = await command('run', path, '--run-id', 'r')
    expect(begun).toMatchObject({ code: 6, stdout: '' })
    expect(begun.stderr).toContain('proviso reply r:ask:1')
    expect(JSON.parse((await command('asks', '--json')).stdout)).toMatchObject([{ requestId: 'r:ask:1' }])
    const replied = await command('reply', 'r:ask:1', 'approve', '--by', 'ann', '--file', path)
    expect(replied).toMatchObject({ code: 0, stdout: '{\n  "text": "Tea"\n}\n' })
    expect((await command('runs')).stdout).toMatch(/\br +completed\b/)
    expect((await command('show', 'r')).stdout).toContain('completed')
    expect(await command('replay', 'r', '--file', path)).toMatchObject({ code: 0, stdout: '' })
    expect((await command('verify')).stdout).toMatch(/^1 run, \d+ events: all in order\n$/)
    expect(await command('run', path, '--run-id', 'r')).toMatchObject({ code: 2, stdout: '' })
  })

  it('says which worker a run with a placement waits for, and cancels it without one', async () => {
    const placed = file(
      'placed.json',
      runFile({ envelope: { constraints: { placement: { region: 'eu' } } } }),
    )
    const args = ['run', placed, '--run-id', 'placed', '--store', cluster.url]
    const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), ...args])
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    const [said] = await once(child.stderr.setEncoding('utf8'), 'data')
    expect(said).toContain('left to a process with the labels region=eu')
    expect(await runCommand(['cancel', 'placed', '--by', 'ann', '--store', cluster.url])).toMatchObject({
      code: 0,
    })
    expect(await ended).toBe(3)
  })

  it('names what to correct in the address, and a reader changes nothing', async () => {
    const other = new URL(cluster.url)
    other.pathname = '/absent'
    const absent = await runCommand(['worker', '--store', other.href])
    expect(absent).toMatchObject({ code: 2, stderr: expect.stringContaining('Create the database') })
    await query(cluster.url, 'create database empty_one')
    other.pathname = '/empty_one'
    const empty = await runCommand(['status', '--store', other.href])
    expect(empty.code).toBe(2)
    expect(empty.stderr).toContain('does not have the tables of this version')
    const tables = "select 1 from information_schema.tables where table_schema = 'public'"
    expect(await query(other.href, tables)).toEqual([])
    await query(cluster.url, 'insert into proviso_migrations values ($1, $2)', ['9999_future', '2099'])
    const doctor = await runCommand(['doctor', '--store', cluster.url])
    await query(cluster.url, 'delete from proviso_migrations where name = $1', ['9999_future'])
    expect(doctor).toMatchObject({ code: 3, stdout: expect.stringContaining('has unknown migrations') })
  })

  it('a server that is not there is said to be, without the password', async () => {
    const away = 'postgres://ann:secret@127.0.0.1:1/nowhere'
    const done = await runCommand(['runs', '--store', away])
    expect(done.code).toBe(2)
    expect(done.stderr).toContain('127.0.0.1:1/nowhere')
    expect(done.stderr).not.toContain('secret')
  })

  it('130: a second Ctrl-C leaves at once, although the store does not answer the first', async () => {
    const url = new URL(cluster.url)
    url.port = String(proxy.port)
    const slow = file('slow.json', runFile({ script: [{ text: '{}', delayMs: 600_000 }] }))
    const args = ['run', slow, '--run-id', 'stuck', '--json', '--store', url.href]
    const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), ...args])
    const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
    let pressed = 0
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (!text.includes('"attempt_start"')) return
      proxy.freeze()
      child.kill('SIGINT')
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      if (!text.includes('Press Ctrl-C again to exit at once')) return
      pressed = performance.now()
      child.kill('SIGINT')
    })
    expect(await ended).toBe(130)
    expect(pressed).toBeGreaterThan(0)
    // The command did not wait for an answer of the store.
    expect(performance.now() - pressed).toBeLessThan(10_000)
    // The run is there, and can be cancelled by a process that reaches the store.
    const cancelled = await runCommand(['cancel', 'stuck', '--by', 'ann', '--store', cluster.url])
    expect(cancelled).toMatchObject({ code: 0 })
  })
})
