/** A whole installation in real processes: PostgreSQL, Restate, a load balancer, API and workers. For tests and the kill campaign. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Cluster, start as startPostgres } from '../../scripts/postgres.mjs'
import { type RestateServer, startCluster } from '../../scripts/restate.mjs'
import { readLog } from '../kill/effects.ts'
import { listening } from '../processes/listening.ts'
import type { Effect } from '../processes/serve.ts'
import { type Balancer, startBalancer } from './balancer.ts'

export type QueueMode = 'local' | 'restate'

export interface Worker {
  /** Its name on leases. */
  readonly name: string
  readonly pid: number
  /** Where it listens for Restate. */
  readonly port: number
  readonly ended: Promise<number | null>
  /** Its health lines. */
  readonly lines: readonly { readonly status: string; readonly lost: number }[]
  kill(signal: NodeJS.Signals): void
  stderr(): string
}

export interface Api {
  readonly address: string
  readonly ended: Promise<number | null>
  call<T>(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<T>
  kill(signal: NodeJS.Signals): void
  stderr(): string
}

export interface StartOptions {
  /** Default: that of the fleet. */
  readonly queue?: QueueMode
  readonly args?: readonly string[]
  readonly env?: Environment
  /** The path of the command. Default: the build in this folder. */
  readonly main?: string
  /** In front of this worker. Default: the balancer of the fleet. */
  readonly balancer?: Balancer
}

type Environment = Readonly<Record<string, string>>

export interface Fleet {
  readonly postgres: Cluster
  /** The nodes of Restate. */
  readonly restate: readonly RestateServer[]
  /** In front of the workers. */
  readonly balancer: Balancer
  /** In front of the nodes of Restate: ingress and admin API. */
  readonly ingress: string
  startWorker(options?: StartOptions): Promise<Worker>
  startApi(options?: StartOptions): Promise<Api>
  effects(): readonly Effect[]
  /** Steps that are `gated` or `waits` end while the gate is open; it is closed at first. */
  openGate(): void
  closeGate(): void
  close(): Promise<void>
}

export interface FleetOptions {
  /** The folder of the repository. */
  readonly root: string
  readonly queue: QueueMode
  /** Nodes of Restate. Default 1, and 0 without this queue. */
  readonly nodes?: number
  readonly leaseMs?: number
  /** The module with the capabilities. Default: that of the process tests. */
  readonly use?: string
  /** Environment variables of the Restate server. */
  readonly restateSettings?: Environment
}

const api = '/api/v1/flex'

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { root, queue, nodes = queue === 'local' ? 0 : 1, leaseMs, restateSettings } = options
  const folder = mkdtempSync(join(tmpdir(), 'proviso-fleet-'))
  const effectsFile = join(folder, 'effects')
  const closing: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })]
  const children = new Set<ChildProcessWithoutNullStreams>()
  const postgres = await startPostgres()
  closing.push(() => postgres.stop())
  const restate = nodes === 0 ? [] : await startCluster(nodes, restateSettings)
  closing.push(() => Promise.all(restate.map((node) => node.stop())))
  const [balancer, ingress, admin] = await Promise.all([startBalancer(), startBalancer(), startBalancer()])
  for (const each of [balancer, ingress, admin]) closing.push(() => each.close())
  for (const node of restate) {
    ingress.add(Number(new URL(node.ingress).port))
    admin.add(Number(new URL(node.admin).port))
  }

  const spawnCommand = (
    args: readonly string[],
    { queue: mode = queue, env = {}, main = join(root, 'dist/cli/main.js') }: StartOptions,
  ) => {
    const child = spawn(process.execPath, [main, ...args, '--queue', mode], {
      env: {
        ...process.env,
        NO_COLOR: '1',
        PROVISO_STORE: postgres.url,
        PROVISO_LOG: 'silent',
        EFFECTS_FILE: effectsFile,
        PROVISO_RESTATE_INGRESS: ingress.url,
        PROVISO_RESTATE_ADMIN: admin.url,
        PROVISO_RESTATE_ADDRESS: balancer.url,
        ...env,
      },
    })
    children.add(child)
    child.once('close', () => children.delete(child))
    return child
  }
  const use = ['--use', options.use ?? join(root, 'test/processes/agents.mjs')]

  return {
    postgres,
    restate,
    balancer,
    ingress: ingress.url,
    async startWorker(started = {}) {
      const { queue: mode = queue, args = [], balancer: front = balancer } = started
      const port = await freePort()
      if (mode === 'restate') front.add(port)
      const lease = leaseMs === undefined ? [] : ['--lease', String(leaseMs)]
      const given = ['worker', ...use, ...lease, '--json', '--restate-port', String(port), ...args]
      const env = { PROVISO_RESTATE_ADDRESS: front.url, ...started.env }
      const child = spawnCommand(given, { ...started, env })
      child.once('close', () => front.remove(port))
      return readWorker(child, port)
    },
    async startApi(started = {}) {
      const args = ['serve', '--dev', '--port', '0', '--no-execute', ...use, ...(started.args ?? [])]
      const child = spawnCommand(args, started)
      const { address, ended, stderr } = await listening(child)
      return {
        address,
        ended,
        stderr,
        kill: (signal) => void child.kill(signal),
        async call<T>(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) {
          const response = await fetch(`${address}${api}${path}`, {
            method: body === undefined ? 'GET' : 'POST',
            headers: { 'content-type': 'application/json', ...headers },
            ...(body !== undefined && { body: JSON.stringify(body) }),
          })
          if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
          return (await response.json()) as T
        },
      }
    },
    effects: () => readLog<Effect>(effectsFile),
    openGate: () => writeFileSync(`${effectsFile}.gate`, ''),
    closeGate: () => rmSync(`${effectsFile}.gate`, { force: true }),
    async close() {
      for (const child of children) child.kill('SIGKILL')
      await Promise.all([...children].map((child) => once(child, 'close')))
      for (const close of closing.toReversed()) await close()
    },
  }
}

/** Resolves when the worker says that it is ready; rejects with its messages if it ends before. */
async function readWorker(child: ChildProcessWithoutNullStreams, port: number): Promise<Worker> {
  const lines: { readonly status: string; readonly worker: string; readonly lost: number }[] = []
  let [said, errors] = ['', '']
  child.stderr.setEncoding('utf8').on('data', (more: string) => {
    errors += more
  })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const name = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (more: string) => {
      said += more
      for (let at = said.indexOf('\n'); at >= 0; at = said.indexOf('\n')) {
        lines.push(JSON.parse(said.slice(0, at)))
        said = said.slice(at + 1)
      }
      if (lines[0] !== undefined) resolve(lines[0].worker)
    })
    void ended.then((code) => reject(new Error(`The worker ended with ${code}: ${errors}`)))
  })
  return {
    name,
    pid: child.pid ?? 0,
    port,
    ended,
    lines,
    kill: (signal) => void child.kill(signal),
    stderr: () => errors,
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
