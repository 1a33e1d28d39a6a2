/**
 * What happens to processes of a fleet: restarts one after another under load, a worker that stands still for longer than its
 * lease and wakes up, one that dies with permits, and two versions side by side.
 */
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { missingPostgres } from '../../scripts/postgres.mjs'
import { createClient } from '../../src/client/index.ts'
import { afterEachTest } from '../cleanup.ts'
import { buildPreviousVersion, hasCommit } from '../stores/previous-version.ts'
import { proviso } from '../support.ts'
import { chain, envelope, useFleet, type Worker } from './fleet.ts'

const long = process.env['PROVISO_LONG'] === '1'
const poll = <T>(look: () => T) => expect.poll(look, { interval: 50, timeout: 60_000 })
/** The last landed commit whose workers run beside those of this version. */
const before = 'deb8490f2e1a20d8a1bc98254ab85ef15a568cfd'

describe.skipIf(missingPostgres() !== undefined)('a fleet on PostgreSQL', { timeout: 180_000 }, () => {
  const fleet = useFleet()
  const connect = (url: string) => createClient({ url, retry: { attempts: 300, minMs: 50, maxMs: 500 } })
  const stop = async ({ child, ended }: Pick<Worker, 'child' | 'ended'>) => {
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
  }
  const atGate = (ids: readonly string[], pid?: number) =>
    new Set(
      fleet
        .effects()
        .flatMap(({ runId, said, pid: by }) =>
          said === 'waits' && ids.includes(runId) && (pid === undefined || by === pid) ? [runId] : [],
        ),
    ).size

  /** Starts runs, a few at a time, until it is stopped; follows each from its first event to its last. */
  function startLoad(url: string) {
    const client = connect(url)
    let isStopped = false
    const runs: { readonly id: string; readonly status: string; readonly seqs: readonly number[] }[] = []
    const lane = async () => {
      while (!isStopped) {
        const run = await client.runs.start(envelope, { draft: chain('step', 'step', 'step') })
        const seqs: number[] = []
        for await (const { id } of run.events()) seqs.push(id)
        const { status } = await run.result()
        runs.push({ id: run.id, status, seqs })
      }
    }
    const lanes = Promise.all(Array.from({ length: 4 }, lane))
    return {
      runs,
      async stop() {
        isStopped = true
        await lanes
      },
    }
  }

  it('loses no run and no event when API and workers are restarted one after another under load', async () => {
    let api = await fleet.api()
    const { port } = new URL(api.address)
    const workers = [await fleet.worker(), await fleet.worker()]
    const load = startLoad(api.address)
    const more = async () => {
      const now = load.runs.length
      await poll(() => load.runs.length).toBeGreaterThan(now + 4)
    }
    await more()
    for (const worker of workers) {
      const next = fleet.worker()
      await stop(worker)
      await next
      await more()
    }
    await stop(api)
    api = await fleet.api({ port })
    await more()
    await load.stop()
    expect(load.runs.length).toBeGreaterThan(20)
    for (const { id, status, seqs } of load.runs) {
      expect([id, status]).toEqual([id, 'completed'])
      expect(seqs).toEqual(seqs.map((_, index) => index + 1))
    }
    const keys = fleet.effects().map(({ key }) => key)
    expect([keys.length, new Set(keys).size]).toEqual([3 * load.runs.length, 3 * load.runs.length])
    await fleet.verify()
  })

  it('a worker that was stopped for longer than its lease writes nothing when it wakes up', async () => {
    const api = await fleet.api()
    const client = connect(api.address)
    const zombie = await fleet.worker()
    const runs = await Promise.all(
      Array.from({ length: 5 }, () => client.runs.start(envelope, { draft: chain('waits', 'step') })),
    )
    const ids = runs.map(({ id }) => id)
    await poll(() => atGate(ids, zombie.child.pid)).toBe(5)
    zombie.child.kill('SIGSTOP')
    const heir = await fleet.worker()
    await poll(() => atGate(ids, heir.child.pid)).toBe(5)
    // Both now wait at the gate with the same runs, and answer at the same time.
    zombie.child.kill('SIGCONT')
    fleet.openGate()
    for (const run of runs) expect(await run.output()).toEqual({ text: 'Tea' })
    await poll(() => zombie.health().lost).toBe(5)
    await poll(() => heir.health().completed).toBe(5)
    expect(zombie.health()).toMatchObject({ completed: 0, failed: 0 })
    const steps = fleet.effects().filter(({ said }) => said === 'step')
    expect(steps.map(({ pid, runId }) => [pid, runId]).sort()).toEqual(
      ids.map((id) => [heir.child.pid, id]).sort(),
    )
    await fleet.verify()
    await stop(zombie)
  })

  it('a worker with a longer drain lets attempts end after the stop signal', async () => {
    const api = await fleet.api()
    const run = await connect(api.address).runs.start(envelope, { draft: chain('waits') })
    // With none, the attempt is interrupted at once, and another worker repeats it.
    const hasty = await fleet.worker({ args: ['--drain', '0s'] })
    await poll(() => atGate([run.id], hasty.child.pid)).toBe(1)
    await stop(hasty)
    const patient = await fleet.worker({ args: ['--drain', '5m'] })
    await poll(() => atGate([run.id], patient.child.pid)).toBe(1)
    patient.child.kill('SIGTERM')
    await once(patient.child.stderr, 'data')
    fleet.openGate()
    expect(await patient.ended).toBe(0)
    expect([hasty.health().completed, patient.health().completed]).toEqual([0, 1])
  })

  it('a backup is restored only once no process uses the database', async () => {
    // A database of its own: workers of other tests were killed, and count for a while.
    const admin = new pg.Client({ connectionString: fleet.url() })
    await admin.connect()
    await admin.query('create database restored').finally(() => admin.end())
    const store = fleet.url().replace(/postgres$/, 'restored')
    const worker = await fleet.worker({ env: { PROVISO_STORE: store } })
    const folder = mkdtempSync(join(tmpdir(), 'proviso-restore-'))
    afterEachTest(() => rmSync(folder, { recursive: true, force: true }))
    const file = join(folder, 'runs.gz')
    const command = (...args: string[]) => proviso([...args, '--store', store])
    // Beside the worker.
    expect(await command('backup', '--to', file)).toMatchObject({ code: 0 })
    const refused = await command('restore', '--from', file, '--force')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`in use by ${worker.name}`) })
    await stop(worker)
    expect(await command('restore', '--from', file, '--force')).toMatchObject({ code: 0 })
  })

  it('a worker without a store that others reach is refused', async () => {
    const refused = await proviso(['worker', '--store', 'memory:'])
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('Pass --store postgres') })
  })

  it('permits of a worker that was killed return, and the API refuses runs beyond the quota', async () => {
    const env = { PROVISO_LIMITS_CAPABILITIES: 'waits=1', PROVISO_MAX_RUNS: '3' }
    const [api, other] = [await fleet.api({ env }), await fleet.api({ env })]
    const client = connect(api.address)
    const runs = await Promise.all(
      Array.from({ length: 3 }, () => client.runs.start(envelope, { draft: chain('waits') })),
    )
    const ids = runs.map(({ id }) => id)
    // The other process counts the same runs.
    const refused = await fetch(`${other.address}/api/v1/flex/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ envelope, draft: chain('waits') }),
    })
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(await refused.json()).toMatchObject({ code: 'quota/runs' })
    const first = await fleet.worker({ env })
    await poll(() => atGate(ids, first.child.pid)).toBe(1)
    const second = await fleet.worker({ env })
    await poll(async () => (await fleet.status()).limits).toMatchObject([
      { name: 'capabilities/waits', concurrency: 1, held: 1, wanted: 3 },
    ])
    first.child.kill('SIGKILL')
    await first.ended
    await poll(() => atGate(ids, second.child.pid)).toBe(1)
    fleet.openGate()
    for (const run of runs) expect(await run.output()).toEqual({ text: 'Tea' })
    await stop(second)
    expect((await fleet.status()).limits).toEqual([])
  })

  it.skipIf(!long || !hasCommit(before))(
    'two versions side by side finish the runs of each other',
    async () => {
      const previous = await buildPreviousVersion(before)
      try {
        const old = await fleet.worker({ main: previous.main })
        const resting = await fleet.worker({ main: previous.main })
        resting.child.kill('SIGSTOP')
        // This version migrates the tables.
        const api = await fleet.api()
        const client = connect(api.address)
        const begin = async (worker: Worker) => {
          const started = Array.from({ length: 10 }, () =>
            client.runs.start(envelope, { draft: chain('step', 'waits', 'step') }),
          )
          const runs = await Promise.all(started)
          const ids = runs.map(({ id }) => id)
          await poll(() => atGate(ids, worker.child.pid)).toBe(10)
          return { runs, ids }
        }
        const left = await begin(old)
        const next = await fleet.worker()
        old.child.kill('SIGKILL')
        await poll(() => atGate(left.ids, next.child.pid)).toBe(10)
        fleet.openGate()
        for (const run of left.runs) expect(await run.output()).toEqual({ text: 'Tea' })

        fleet.closeGate()
        const back = await begin(next)
        resting.child.kill('SIGCONT')
        next.child.kill('SIGKILL')
        await poll(() => atGate(back.ids, resting.child.pid)).toBe(10)
        fleet.openGate()
        for (const run of back.runs) expect(await run.output()).toEqual({ text: 'Tea' })
        await stop(resting)
        await fleet.verify()
      } finally {
        previous.dispose()
      }
    },
  )
})
