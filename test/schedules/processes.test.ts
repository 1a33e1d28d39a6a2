/** Schedules of real processes on one PostgreSQL: one run per tick, also when a process is killed at the worst moment. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import { type App, createApp, type Store } from '../../src/index.ts'
import { requireBuild, root } from '../support.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const envelope = { objective: 'One line about tea', outputContract: { schema: text } }
const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }

/** A process that executes the runs of the store and starts those of schedules; `after`: the call after which it is killed. */
const source = (url: string, after: string) => `
import { createApp, defineCapability } from 'proviso'
import { openPostgresStore } from 'proviso/stores/postgres'
const store = await openPostgresStore({ url: ${JSON.stringify(url)} })
const { documents } = store.records
const killed = (name) => async (...given) => {
  if (name === 'replace' && ${JSON.stringify(after)} === 'start' && given[0].kind === 'schedule') process.kill(process.pid, 'SIGKILL')
  const done = await documents[name](...given)
  if (name === 'claimDue' && ${JSON.stringify(after)} === 'claim' && given[0].kind === 'schedule' && done.length > 0)
    process.kill(process.pid, 'SIGKILL')
  return done
}
const records = { ...store.records, documents: { ...documents, claimDue: killed('claimDue'), replace: killed('replace') } }
await createApp({
  store: { ...store, records },
  leaseMs: 600,
  pollMs: 50,
  env: {},
  capabilities: [defineCapability({
    capabilityId: 'write', inputContract: { type: 'object' }, outputContract: ${JSON.stringify(text)}, idempotent: true,
    run: () => ({ text: 'Tea' }),
  })],
})
console.log('open')
`

describe.skipIf(missingPostgres() !== undefined)('schedules of several processes', () => {
  const children = new Set<ChildProcess>()
  let [cluster, store, app]: [Cluster?, Store?, App?] = []
  beforeAll(async () => {
    requireBuild()
    cluster = await start()
    store = await openPostgresStore({ url: cluster.url })
    // Adds and reads: it starts nothing.
    app = await createApp({ store, claim: 'none', env: {} })
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    await app?.close()
    await store?.close()
    cluster?.stop()
  })
  const schedules = () => (app as App).schedules

  async function execute(after = 'nothing') {
    const args = ['--input-type=module', '--eval', source(cluster?.url ?? '', after)]
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] })
    children.add(child)
    const ended = new Promise<NodeJS.Signals | null>((resolve) =>
      child.on('close', (_, signal) => resolve(signal)),
    )
    const [line] = await Promise.all([
      createInterface({ input: child.stdout })[Symbol.asyncIterator]().next(),
    ])
    expect(line.value).toBe('open')
    return { child, ended }
  }

  /** The runs of a schedule by tick, as their correlation ids say. */
  async function listTicks(scheduleId: string) {
    const runs = (await store?.runs({ limit: 100 })) ?? []
    const ticks: string[] = []
    for (const { runId } of runs) {
      const [first] = (await store?.read(runId, 0, 1)) ?? []
      const id = first?.type === 'start' ? (first.payload.correlationId ?? '') : ''
      if (id.startsWith(`${scheduleId}@`)) ticks.push(id)
    }
    return ticks.sort()
  }

  it.each(['claim', 'start'])(
    'a process that is killed after the %s of a tick leaves it to another: one run, none lost',
    async (after) => {
      const dying = await execute(after)
      const at = new Date(Date.now() + 300).toISOString()
      await schedules().add({ scheduleId: after, at, envelope, draft })
      expect(await dying.ended).toBe('SIGKILL')
      expect(await schedules().get(after)).toMatchObject({ status: 'active', past: [] })
      const { child, ended } = await execute()
      await expect.poll(async () => (await schedules().get(after)).status, { timeout: 30_000 }).toBe('done')
      expect(await listTicks(after)).toEqual([`${after}@${at}`])
      const { past } = await schedules().get(after)
      expect(past).toEqual([{ at: Date.parse(at), runId: expect.any(String) }])
      expect(await app?.result(past[0]?.runId ?? '')).toMatchObject({ status: 'completed' })
      child.kill('SIGKILL')
      await ended
    },
  )

  it('two processes start one run per tick, and no tick is lost when one of them is killed', async () => {
    const [first, second] = [await execute(), await execute()]
    const timing = { cron: '* * * * * *', missed: 'all' } as const
    await schedules().add({ scheduleId: 'seconds', ...timing, envelope, draft })
    const newest = async () => (await schedules().get('seconds')).past[0]?.at ?? 0
    await expect.poll(newest, { timeout: 30_000 }).toBeGreaterThan(0)
    first.child.kill('SIGKILL')
    await first.ended
    const before = await newest()
    await expect.poll(newest, { timeout: 30_000 }).toBeGreaterThanOrEqual(before + 2_000)
    const paused = await schedules().change('seconds', { isPaused: true })
    second.child.kill('SIGKILL')
    await second.ended
    const past = [...paused.past].reverse().map(({ at }) => at)
    expect(past).toEqual(past.map((_, nth) => (past[0] ?? 0) + nth * 1_000))
    const known = past.map((at) => `seconds@${new Date(at).toISOString()}`)
    const ticks = await listTicks('seconds')
    expect(new Set(ticks).size).toBe(ticks.length)
    expect(ticks).toEqual(expect.arrayContaining(known))
  })
})
