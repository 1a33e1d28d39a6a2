/** An API process and workers of the built command on one PostgreSQL, for a whole file of tests. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import { type Cluster, start } from '../../scripts/postgres.mjs'
import { readLog } from '../kill/effects.ts'
import { listening } from '../processes/listening.ts'
import type { Effect } from '../processes/serve.ts'
import { proviso, requireBuild, root } from '../support.ts'

type Environment = { readonly [name: string]: string }

interface Health {
  readonly status: string
  readonly worker: string
  readonly completed: number
  readonly failed: number
  readonly lost: number
}

export interface Worker {
  readonly child: ChildProcessWithoutNullStreams
  /** Name of the process on its leases. */
  readonly name: string
  readonly ended: Promise<number | null>
  /** The latest health line. */
  health(): Health
}

export interface Status {
  readonly queue: { readonly due: number }
  readonly runs: { readonly [status: string]: number }
  readonly leases: readonly { readonly owner: string; readonly runs: number; readonly expired: number }[]
  readonly limits: readonly { readonly name: string; readonly held: number; readonly wanted: number }[]
}

const built = join(root, 'dist/cli/main.js')
const use = ['--use', join(root, 'test/processes/agents.mjs')]

/** A new database for each test, and the processes on it. */
export function useFleet() {
  const children = new Set<ChildProcessWithoutNullStreams>()
  let [cluster, folder, nth]: [Cluster?, string?, number?] = []
  const url = () => cluster?.url ?? ''
  const effectsFile = () => join(folder ?? '', `effects-${nth}`)
  beforeAll(async () => {
    requireBuild()
    cluster = await start()
    folder = mkdtempSync(join(tmpdir(), 'proviso-fleet-'))
  })
  afterEach(async () => {
    for (const child of children) {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    }
    children.clear()
    nth = (nth ?? 0) + 1
  })
  afterAll(() => {
    cluster?.stop()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })

  const run = (args: readonly string[], env: Environment, main = built) => {
    const child = spawn(process.execPath, [main, ...args], {
      env: {
        ...process.env,
        NO_COLOR: '1',
        PROVISO_STORE: url(),
        EFFECTS_FILE: effectsFile(),
        ...env,
      },
    })
    children.add(child)
    return child
  }

  return {
    url,
    async api(given: { readonly port?: string; readonly env?: Environment } = {}) {
      const { port = '0', env = {} } = given
      const child = run(['serve', '--dev', '--port', port, '--no-execute'], env)
      return { child, ...(await listening(child)) }
    },
    async worker(
      given: { readonly env?: Environment; readonly main?: string; readonly args?: readonly string[] } = {},
    ): Promise<Worker> {
      const { env = {}, main, args = [] } = given
      const settings = ['--lease', '1500', '--poll', '50', '--health-every', '1s', '--json']
      const child = run(['worker', ...use, ...settings, ...args], env, main)
      const lines: Health[] = []
      let [said, errors] = ['', '']
      child.stderr.setEncoding('utf8').on('data', (more: string) => {
        errors += more
      })
      const ended = once(child, 'close').then(([code]) => code as number | null)
      await new Promise<void>((resolve, reject) => {
        child.stdout.setEncoding('utf8').on('data', (more: string) => {
          said += more
          for (let at = said.indexOf('\n'); at >= 0; at = said.indexOf('\n')) {
            lines.push(JSON.parse(said.slice(0, at)))
            said = said.slice(at + 1)
          }
          if (lines.length > 0) resolve()
        })
        void ended.then((code) => reject(new Error(`It ended with ${code}: ${errors}`)))
      })
      const health = () => lines.at(-1) as Health
      return { child, ended, health, name: health().worker }
    },
    /** As after a crash of the database. */
    restartDatabase: () => cluster?.restartImmediate(),
    effects: () => readLog<Effect>(effectsFile()),
    /** Steps that wait end while the gate is open; it is closed at first. */
    openGate: () => writeFileSync(`${effectsFile()}.gate`, ''),
    closeGate: () => rmSync(`${effectsFile()}.gate`),
    async status(): Promise<Status> {
      const { stdout } = await proviso(['status', '--json', '--store', url()])
      return JSON.parse(stdout)
    },
    /** Every journal of the database is in order. */
    async verify() {
      const { code, stdout, stderr } = await proviso(['verify', '--store', url()])
      expect([code, stderr, stdout]).toEqual([0, '', expect.stringContaining('all in order')])
    },
  }
}

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
export const envelope = { objective: 'One line about tea', outputContract: { schema: text } }

/** Steps in a row, by the capabilities of `agents.mjs`. */
export function chain(...capabilities: readonly string[]) {
  const nodes = capabilities.map((capabilityId, index) => ({ id: `n${index}`, capabilityId }))
  const edges = nodes.slice(1).map(({ id }, index) => ({ from: `n${index}`, to: id }))
  return { nodes, edges, output: { node: nodes.at(-1)?.id ?? '' } }
}
