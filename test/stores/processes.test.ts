/** Promises about stores that only real processes can show: locks that vanish, tables made once, readers that follow. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { requireBuild, root, runNode } from '../support.ts'

let folder: string
const children: ChildProcess[] = []

// In a hook: when a filter skips every test nothing is made, because nothing would remove it.
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-stores-'))
  requireBuild()
})
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

const run = `{ tenant: 't', events: [{ type: 'log', version: 1, at: 1, planVersion: 0, payload: { event: 'x' } }],
  head: { status: 'running', planVersion: 0, wakeAt: 0 } }`

/** Runs a program that has `open(options)`; gives its lines as they come. */
function program(entryPoint: 'sqlite' | 'postgres', body: string) {
  const open = entryPoint === 'sqlite' ? 'openSqliteStore' : 'openPostgresStore'
  const source = `import { ${open} as open } from 'proviso/stores/${entryPoint}'\n${body}`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source], { cwd: root })
  children.push(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += text
  })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return {
    child,
    ended,
    async line(): Promise<string> {
      const next = await lines.next()
      return next.done ? `ended: ${errors}` : next.value
    },
  }
}

describe('a SQLite file between processes', () => {
  it('is free again as soon as its writer is killed, with everything acknowledged', async () => {
    const options = JSON.stringify({ path: join(folder, 'killed.db') })
    const writer = program(
      'sqlite',
      `const store = await open(${options})
       for (let n = 1; ; n++) { await store.create({ runId: 'r-' + n, ...${run} }); console.log(n) }`,
    )
    let acknowledged = 0
    while (acknowledged < 20) acknowledged = Number(await writer.line())
    const refused = program(
      'sqlite',
      `await open(${options}).catch((error) => console.log(error.code, error.message))`,
    )
    expect(await refused.line()).toBe(
      `store/locked Another process is writing to ${join(folder, 'killed.db')}`,
    )
    writer.child.kill('SIGKILL')
    await writer.ended
    const next = program(
      'sqlite',
      `const store = await open(${options})
       console.log((await store.runs({ limit: 100000 })).length)
       await store.close()`,
    )
    expect(Number(await next.line())).toBeGreaterThan(acknowledged - 1)
    expect(await next.ended).toBe(0)
  })

  it('is followed by a reader in another process', async () => {
    const options = { path: join(folder, 'followed.db') }
    const writer = program(
      'sqlite',
      `const store = await open(${JSON.stringify(options)})
       console.log('open')
       process.stdin.once('data', async () => {
         await store.create({ runId: 'r', ...${run} })
         await store.close()
         process.exit()
       })`,
    )
    expect(await writer.line()).toBe('open')
    const reader = program(
      'sqlite',
      `const store = await open(${JSON.stringify({ ...options, readOnly: true, pollMs: 5 })})
       const alive = setInterval(() => {}, 1000)
       store.onChange(async (runId) => {
         console.log(runId, (await store.read(runId, 0)).length)
         clearInterval(alive)
         await store.close()
       })
       console.log('following')`,
    )
    expect(await reader.line()).toBe('following')
    writer.child.stdin?.write('go\n')
    expect(await reader.line()).toBe('r 1')
    expect(await reader.ended).toBe(0)
  })

  it('is made by one of several processes that come together, and the others are refused', async () => {
    const options = JSON.stringify({ path: join(folder, 'together.db') })
    const body = `const store = await open(${options}).catch((error) => console.log(error.code))
      if (store) { console.log('open'); process.stdin.once('data', () => process.exit()) }`
    const programs = Array.from({ length: 4 }, () => program('sqlite', body))
    const lines = await Promise.all(programs.map((one) => one.line()))
    expect(lines.sort()).toEqual(['open', 'store/locked', 'store/locked', 'store/locked'])
    for (const { child } of programs) child.kill('SIGKILL')
  })
})

describe.skipIf(missingPostgres() !== undefined)('PostgreSQL between processes', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await start()
  })
  afterAll(() => cluster?.stop())

  it('gets its tables once, however many processes come together', async () => {
    const rounds = process.env['PROVISO_LONG'] === '1' ? 25 : 2
    for (let round = 0; round < rounds; round++) {
      const options = JSON.stringify({ url: cluster.url, schema: `round_${round}` })
      const body = `const store = await open(${options})
        await store.create({ runId: String(process.pid), ...${run} })
        console.log((await store.runs({})).length > 0)
        await store.close()`
      const programs = Array.from({ length: 4 }, () => program('postgres', body))
      expect(await Promise.all(programs.map((one) => one.line()))).toEqual(['true', 'true', 'true', 'true'])
      expect(await Promise.all(programs.map((one) => one.ended))).toEqual([0, 0, 0, 0])
    }
  }, 600_000)
})

describe('entry points of stores', () => {
  it.each([
    ['memory', []],
    ['sqlite', ['libsql']],
    ['postgres', ['pg']],
  ] as const)('proviso/stores/%s loads no driver but its own', async (entryPoint, own) => {
    const source = `await import('proviso/stores/${entryPoint}')
      const { createRequire } = await import('node:module')
      const require = createRequire(process.cwd() + '/package.json')
      const loaded = Object.keys(require.cache).join(' ')
      console.log(['libsql', 'pg'].filter((name) => loaded.includes('node_modules/' + name + '/')).join(' '))`
    const done = await runNode(['--input-type=module', '--eval', source])
    expect(done.stderr).toBe('')
    const loaded = done.stdout.trim().split(' ').filter(Boolean)
    expect(loaded.filter((name) => !(own as readonly string[]).includes(name))).toEqual([])
  })
})
