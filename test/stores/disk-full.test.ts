/**
 * T5 on real files: a process whose SQLite file may not grow any further, or whose disk is full, continues by itself as soon
 * as there is room again; what it acknowledged is there.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import { loadEvents, verifyHistory } from '../seams/engine.ts'
import { requireBuild, root } from '../support.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-disk-'))
  requireBuild()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const most = 2_000

/**
 * Runs until something is refused, and twenty runs beyond; says what was refused first, and which runs were answered. A
 * caller who is refused waits until there is free space, and is not refused again.
 */
const source = (path: string) => `
  import { once } from 'node:events'
  import { createApp, defineCapability } from 'proviso'
  import { openSqliteStore } from 'proviso/stores/sqlite'
  const real = await openSqliteStore({ path: ${JSON.stringify(path)} })
  let refused = false
  const reporting = (work) => (given) => work(given).catch((error) => {
    if (!refused) console.log(JSON.stringify({ refused: error.code, cause: error.cause?.code }))
    refused = true
    throw error
  })
  const store = { ...real, create: reporting(real.create), append: reporting(real.append) }
  const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
  const write = defineCapability({
    capabilityId: 'write', inputContract: { type: 'object' }, outputContract: schema, idempotent: true,
    run: (_, { runId }) => ({ text: runId.repeat(500) }),
  })
  const app = await createApp({ store, capabilities: [write], pollMs: 50, leaseMs: 1000 })
  const envelope = { objective: 'Write', inputs: {}, outputContract: { schema } }
  const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
  const freed = once(process.stdin, 'data')
  console.log('open')
  const answered = []
  for (let nth = 0, beyond = 0; beyond < 20 && nth < ${most}; nth++) {
    const runId = 'run-' + nth
    const start = () => app.start(envelope, { runId, draft })
    await start().catch(async (error) => {
      // Nothing was stored: the caller gets an error, and may retry.
      if (error.code !== 'store/unavailable') throw error
      await freed
      await start()
    })
    const { status } = await app.result(runId)
    answered.push([runId, status])
    if (refused) beyond++
  }
  await app.close()
  await real.close()
  process.stdin.destroy()
  console.log(JSON.stringify({ answered }))
`

/** Lets a process work until it is refused something, frees space, and compares what it answered with the file. */
async function trial(path: string, disk: { scarce(pid: number): void; plenty(pid: number): void }) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', source(path)], { cwd: root })
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  let errors = ''
  child.stderr.on('data', (text) => {
    errors += text
  })
  const lines: string[] = []
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line)
      if (line === 'open') disk.scarce(child.pid ?? 0)
      if (line.includes('refused')) {
        disk.plenty(child.pid ?? 0)
        child.stdin.write('freed')
      }
    }
    expect({ code: await ended, errors }).toEqual({ code: 0, errors: '' })
  } finally {
    child.kill('SIGKILL')
  }
  const [, refusal, last] = lines
  const { answered } = JSON.parse(last ?? '{}') as { answered: [string, string][] }
  const store = await openSqliteStore({ path })
  const runs = await store.runs({ limit: 2 * most })
  expect(new Set(runs.map(({ runId }) => runId))).toEqual(new Set(answered.map(([runId]) => runId)))
  for (const [runId, status] of answered) {
    expect(status).toBe('completed')
    const head = await store.head(runId)
    const audit = await store.audit(runId)
    expect(verifyHistory(await loadEvents(store, runId), { ...(head && { head }), audit })).toEqual([])
  }
  await store.close()
  return { refusal: JSON.parse(refusal ?? '{}') as { refused: string; cause: string }, answered }
}

function command(program: string, ...args: string[]): string | undefined {
  const done = spawnSync(program, args, { encoding: 'utf8' })
  return done.status === 0 ? undefined : `${program} ${args.join(' ')}: ${done.error?.message ?? done.stderr}`
}

function must(program: string, ...args: string[]): void {
  const failed = command(program, ...args)
  if (failed !== undefined) throw new Error(failed)
}

const noLimits = command('prlimit', '--version')
if (noLimits !== undefined)
  console.warn(`Limits of processes cannot be set here, their test is skipped: ${noLimits}`)

describe.skipIf(noLimits !== undefined)('a SQLite file that may not grow', () => {
  it('refuses clearly, and is written to again once it may', async () => {
    const { refusal, answered } = await trial(join(folder, 'limited.db'), {
      scarce: (pid) => must('prlimit', '--pid', String(pid), '--fsize=400000:unlimited'),
      plenty: (pid) => must('prlimit', '--pid', String(pid), '--fsize=unlimited'),
    })
    expect(refusal.refused).toBe('store/unavailable')
    expect(refusal.cause).toMatch(/^SQLITE_(FULL|IOERR)/)
    expect(answered.length).toBeGreaterThan(20)
  }, 120_000)
})

const mountable = mkdtempSync(join(tmpdir(), 'proviso-mount-'))
const noMount = command('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mountable)
if (noMount === undefined) must('umount', mountable)
else console.warn(`No small disk can be mounted here, the test of a full one is skipped: ${noMount}`)
rmSync(mountable, { recursive: true })

describe.skipIf(noMount !== undefined)('a full disk', () => {
  it('is reported clearly, loses nothing, and the process continues once there is space', async () => {
    const directory = join(folder, 'small')
    mkdirSync(directory)
    must('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory)
    try {
      const { refusal, answered } = await trial(join(directory, 'full.db'), {
        scarce: () => {},
        plenty: () => must('mount', '-o', 'remount,size=64m', directory),
      })
      expect(refusal).toEqual({
        refused: 'store/unavailable',
        cause: expect.stringMatching(/^SQLITE_(FULL|IOERR)/),
      })
      expect(answered.length).toBeGreaterThan(20)
    } finally {
      // The driver releases a closed file when it is collected.
      must('umount', '--lazy', directory)
    }
  }, 120_000)
})
