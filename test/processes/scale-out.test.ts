/**
 * One process with the API and two workers on one PostgreSQL: the API executes nothing, a worker that is killed leaves its runs
 * to the other, and workers are replaced one after another without a failed run.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Cluster, missingPostgres, start } from '../../scripts/postgres.mjs'
import { readLog } from '../kill/effects.ts'
import { api } from '../server/support.ts'
import { proviso, requireBuild, root } from '../support.ts'
import { listening } from './listening.ts'
import type { Effect } from './serve.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const envelope = { objective: 'One line about tea', outputContract: { schema: text } }
const steps = ['one', 'two', 'three']
/** The second step takes until the gate is open. */
const chain = {
  envelope,
  draft: {
    nodes: steps.map((id) => ({ id, capabilityId: id === 'two' ? 'waits' : 'step' })),
    edges: steps.slice(1).map((to, index) => ({ from: steps[index], to })),
    output: { node: 'three' },
  },
}

interface Status {
  readonly queue: { readonly due: number }
  readonly runs: { readonly [status: string]: number }
  readonly leases: readonly { readonly owner: string; readonly runs: number }[]
  readonly processes: readonly { readonly owner: string; readonly role: string; readonly isAlive: boolean }[]
}

describe.skipIf(missingPostgres() !== undefined)('an API process and two workers', () => {
  const children = new Set<ChildProcess>()
  let [cluster, folder, address]: [Cluster?, string?, string?] = []
  const effectsFile = () => join(folder ?? '', 'effects')
  const run = (args: readonly string[]) => {
    const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), ...args], {
      env: {
        ...process.env,
        NO_COLOR: '1',
        PROVISO_STORE: cluster?.url ?? '',
        EFFECTS_FILE: effectsFile(),
      },
    })
    children.add(child)
    return child
  }
  const use = ['--use', join(root, 'test/processes/agents.mjs')]

  async function startWorker() {
    const child = run(['worker', ...use, '--lease', '1500', '--poll', '50', '--json'])
    const lines: { readonly status: string; readonly worker: string; readonly completed: number }[] = []
    let [said, errors] = ['', '']
    child.stderr.setEncoding('utf8').on('data', (more: string) => {
      errors += more
    })
    const ended = once(child, 'close').then(([code]) => code as number | null)
    const ready = new Promise<string>((resolve, reject) => {
      child.stdout.setEncoding('utf8').on('data', (more: string) => {
        said += more
        for (let at = said.indexOf('\n'); at >= 0; at = said.indexOf('\n')) {
          lines.push(JSON.parse(said.slice(0, at)))
          said = said.slice(at + 1)
        }
        if (lines[0] !== undefined) resolve(lines[0].worker)
      })
      void ended.then((code) => reject(new Error(`It ended with ${code}: ${errors}`)))
    })
    return { child, ended, lines, name: await ready }
  }

  beforeAll(async () => {
    requireBuild()
    folder = mkdtempSync(join(tmpdir(), 'proviso-scale-out-'))
    cluster = await start()
    ;({ address } = await listening(run(['serve', '--dev', '--port', '0', '--no-execute'])))
  })
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL')
    cluster?.stop()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  const call = async <T>(path: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${address}${api}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    expect(response.ok).toBe(true)
    return (await response.json()) as T
  }
  const begin = (count: number) =>
    Promise.all(
      Array.from({ length: count }, async () => (await call<{ runId: string }>('/runs', chain)).runId),
    )
  const poll = <T>(look: () => T) => expect.poll(look, { interval: 50, timeout: 40_000 })
  const atGate = (ids: readonly string[]) =>
    new Set(
      readLog<Effect>(effectsFile()).flatMap(({ runId, said }) =>
        said === 'waits' && ids.includes(runId) ? [runId] : [],
      ),
    ).size
  const statuses = async (ids: readonly string[]) => {
    const { runs } = await call<{ runs: readonly { runId: string; status: string }[] }>('/runs?limit=100')
    return new Set(runs.filter(({ runId }) => ids.includes(runId)).map(({ status }) => status))
  }
  const openGate = () => writeFileSync(`${effectsFile()}.gate`, '')
  const closeGate = () => rmSync(`${effectsFile()}.gate`)

  it('share the work: the API accepts, workers execute, and one that is killed leaves its runs to the other', async () => {
    const ids = await begin(6)
    const waiting = await call<Status>('/status')
    expect([waiting.queue.due, waiting.leases]).toEqual([6, []])
    expect(waiting.processes).toMatchObject([{ role: 'api', isAlive: true }])
    const [first, second] = await Promise.all([startWorker(), startWorker()])
    await poll(() => atGate(ids)).toBe(6)
    const working = await call<Status>('/status')
    expect(working.queue.due).toBe(0)
    expect(working.leases.reduce((sum, { runs }) => sum + runs, 0)).toBe(6)
    expect(working.processes.map(({ role }) => role).sort()).toEqual(['api', 'worker', 'worker'])
    first.child.kill('SIGKILL')
    await first.ended
    openGate()
    await poll(() => statuses(ids)).toEqual(new Set(['completed']))
    expect(await call<Status>('/status')).toMatchObject({ runs: {}, leases: [], stuck: [] })
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
    expect(second.lines.at(-1)).toMatchObject({ status: 'stopped', worker: second.name })
    const { code, stdout } = await proviso(['verify', '--store', cluster?.url ?? ''])
    expect([code, stdout]).toEqual([0, expect.stringContaining('6')])
  })

  it('are replaced one after another without a failed run or a step done twice', async () => {
    closeGate()
    const [first, second] = await Promise.all([startWorker(), startWorker()])
    const ids = await begin(6)
    await poll(() => atGate(ids)).toBe(6)
    const third = await startWorker()
    first.child.kill('SIGTERM')
    openGate()
    expect(await first.ended).toBe(0)
    const fourth = await startWorker()
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
    await poll(() => statuses(ids)).toEqual(new Set(['completed']))
    const effects = readLog<Effect>(effectsFile()).filter(
      ({ runId, said }) => said !== 'waits' && ids.includes(runId),
    )
    expect(new Set(effects.map(({ key }) => key)).size).toBe(effects.length)
    for (const { child, ended } of [third, fourth]) {
      child.kill('SIGTERM')
      expect(await ended).toBe(0)
    }
    const { processes } = await call<Status>('/status')
    // The one that was killed is listed until it is forgotten.
    expect(processes.filter(({ role }) => role === 'worker')).toHaveLength(1)
  })
})
