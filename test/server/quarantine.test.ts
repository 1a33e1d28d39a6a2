/** An operator finds quarantined runs over HTTP and on the command line, sees why, and resumes or cancels them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../src/adapters/stores/open-store.ts'
import { createApp, defineCapability, type Store } from '../../src/index.ts'
import { runCommand } from '../support.ts'
import { api, envelope, local, serve, text } from './support.ts'

const leaseMs = 150
const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }

const reason = '"write" has cost 2 processes their lease: each was too busy to renew it'

describe('quarantined runs', () => {
  let folder: string
  let address: string
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'proviso-quarantine-'))
    address = `sqlite:${join(folder, 'runs.db')}`
    await quarantine(address, ['stuck-1', 'stuck-2', 'stuck-3', 'stuck-4'])
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('are listed, shown, cancelled and resumed on the command line', async () => {
    const proviso = async (...args: string[]) => runCommand([...args, '--store', address])
    const listed = JSON.parse((await proviso('runs', '--status', 'quarantined', '--json')).stdout)
    expect(listed.map(({ runId }: { runId: string }) => runId).sort()).toEqual([
      'stuck-1',
      'stuck-2',
      'stuck-3',
      'stuck-4',
    ])
    const shown = (await proviso('show', 'stuck-1')).stdout
    expect(shown).toMatch(/^status +quarantined$/m)
    expect(shown).toContain(`paused     ${reason}`)
    expect(shown).toContain('continue   proviso resume stuck-1, or proviso cancel stuck-1')
    expect(await proviso('cancel', 'stuck-1', '--by', 'ann')).toMatchObject({ code: 0 })
    const missing = await proviso('resume', 'stuck-2', '--by', 'ann')
    expect(missing).toMatchObject({ code: 2 })
    expect(missing.stderr).toContain('Load them with --file or --use')
    expect(await proviso('resume', 'stuck-2', '--by', 'ann', '--record-only')).toMatchObject({ code: 0 })
    const left = JSON.parse((await proviso('runs', '--status', 'quarantined', '--json')).stdout)
    expect(left).toHaveLength(2)
  })

  it('are listed, explained, counted, resumed and cancelled over HTTP', async () => {
    const { call, app } = await serve({
      store: address,
      capabilities: [local('write', async () => ({ text: 'Tea' }))],
    })
    const count = async () =>
      /^proviso_runs_quarantined (\d+)$/m.exec(await (await call('/metrics')).text())?.[1]
    const { runs } = await (await call(`${api}/runs?status=quarantined`)).json()
    expect(runs.map(({ runId }) => runId).sort()).toEqual(['stuck-3', 'stuck-4'])
    expect(await count()).toBe('2')
    expect(await (await call(`${api}/runs/stuck-3`)).json()).toMatchObject({
      run: { status: 'quarantined' },
      paused: {
        reason,
        quarantined: true,
        hint: expect.stringContaining(`POST ${api}/runs/stuck-3/cancel`),
      },
    })
    const again = await (await call(`${api}/run.resume`, { body: { runId: 'stuck-3' } })).text()
    expect(again).toContain('event: complete')
    expect((await call(`${api}/runs/stuck-4/cancel`, { method: 'POST' })).status).toBe(202)
    expect(await app.result('stuck-4')).toMatchObject({ status: 'cancelled' })
    // The one that was resumed on the command line continues as soon as a process has its capability.
    expect(await app.result('stuck-2')).toMatchObject({ status: 'completed' })
    expect(await count()).toBe('0')
  })
})

/** Leaves runs in the store whose call has cost two processes their lease, as if their loop had stood still. */
async function quarantine(address: string, runIds: readonly string[]): Promise<void> {
  const store = await openStore(address)
  let isStuck = true
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  const late: Store = {
    ...store,
    async renew(request) {
      if (isStuck) await pause(3 * leaseMs)
      return store.renew(request)
    },
  }
  const write = defineCapability({
    capabilityId: 'write',
    inputContract: { type: 'object' },
    outputContract: text,
    idempotent: true,
    async run() {
      while (isStuck) await pause(10)
      return { text: 'Tea' }
    },
  })
  const options = { env: {}, store: late, capabilities: [write], leaseMs, pollMs: 20 }
  const apps = [await createApp(options), await createApp(options)]
  for (const runId of runIds) await apps[0]?.start(envelope(), { draft, runId })
  while ((await store.runs({ status: ['quarantined'] })).length < runIds.length) await pause(20)
  isStuck = false
  await Promise.all(apps.map((app) => app.close({ graceMs: 100 })))
  // A renewal may still be on its way.
  await pause(4 * leaseMs)
  await store.close()
}
