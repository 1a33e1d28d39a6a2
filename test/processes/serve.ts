/** Real processes of the built command on one PostgreSQL, and how tests speak with them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect } from 'vitest'
import { type Cluster, start } from '../../scripts/postgres.mjs'
import { openPostgresStore } from '../../src/adapters/stores/postgres/postgres.ts'
import type { Store } from '../../src/index.ts'
import { readLog } from '../kill/effects.ts'
import { api, frames, type SseFrame } from '../server/support.ts'
import { proviso, requireBuild, root } from '../support.ts'
import { listening } from './listening.ts'

export interface Process {
  readonly address: string
  readonly pid: number
  /** Ends with the code of the process; `null` after a kill. */
  readonly ended: Promise<number | null>
  /** A request in JSON: GET, or POST with a body. */
  call(path: string, body?: unknown): Promise<Response>
  /** A run that is begun here; resolves with all its frames when it waits or is over. */
  run(body: unknown): Promise<readonly SseFrame[]>
  /** All frames of a run, once it is over. */
  followed(runId: string): Promise<readonly SseFrame[]>
  kill(signal: 'SIGTERM' | 'SIGKILL'): void
  /** Resolves when the process has said this. */
  says(words: string): Promise<void>
  stderr(): string
}

/** A line of `agents.mjs`. */
export interface Effect {
  readonly pid: number
  readonly at: number
  readonly runId: string
  readonly nodeId: string
  readonly attempt: number
  readonly key: string
  readonly said: string
}

export interface Processes {
  readonly cluster: Cluster
  /** Reads what the processes have left. */
  readonly store: Store
  serve(env?: { readonly [name: string]: string }): Promise<Process>
  effects(): readonly Effect[]
  /** Steps that are `gated` end while the gate is open; it is closed at first. */
  openGate(): void
  closeGate(): void
  /** `proviso verify` on all runs of the database. */
  verify(): Promise<string>
}

/** For a whole file of tests: the database begins before them, and everything ends after them. */
export function processes(): Processes {
  const started = new Set<ChildProcess>()
  let [cluster, store, folder]: [Cluster?, Store?, string?] = []
  beforeAll(async () => {
    requireBuild()
    folder = mkdtempSync(join(tmpdir(), 'proviso-processes-'))
    cluster = await start()
    store = await openPostgresStore({ url: cluster.url })
  })
  afterAll(async () => {
    for (const child of started) child.kill('SIGKILL')
    await store?.close()
    cluster?.stop()
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
  })
  const present = <T>(value: T | undefined): T => {
    if (value === undefined) throw new Error('The database has not begun yet')
    return value
  }
  const effectsFile = () => join(present(folder), 'effects')
  return {
    get cluster() {
      return present(cluster)
    },
    get store() {
      return present(store)
    },
    serve: (env = {}) =>
      serve(started, { PROVISO_STORE: present(cluster).url, EFFECTS_FILE: effectsFile(), ...env }),
    effects: () => readLog<Effect>(effectsFile()),
    openGate: () => writeFileSync(`${effectsFile()}.gate`, ''),
    closeGate: () => rmSync(`${effectsFile()}.gate`),
    async verify() {
      const { code, stdout, stderr } = await proviso(['verify', '--store', present(cluster).url])
      expect([code, stderr]).toEqual([0, ''])
      return stdout.trim()
    },
  }
}

/** Resolves when the process says where it listens. */
async function serve(started: Set<ChildProcess>, env: { readonly [name: string]: string }): Promise<Process> {
  const agents = join(root, 'test/processes/agents.mjs')
  const args = ['serve', '--dev', '--port', '0', '--preset', 'marketing', '--use', agents]
  const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), ...args], {
    env: { ...process.env, NO_COLOR: '1', ...env },
  })
  started.add(child)
  const { address, ended, says, stderr } = await listening(child)
  const call = (path: string, body?: unknown) =>
    fetch(`${address}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  return {
    address,
    pid: child.pid ?? 0,
    ended,
    call,
    run: async (body) => frames(await call(`${api}/run.stream`, body)),
    async followed(runId) {
      const headers = { accept: 'text/event-stream' }
      return frames(await fetch(`${address}${api}/runs/${encodeURIComponent(runId)}/events`, { headers }))
    },
    kill: (signal) => void child.kill(signal),
    says,
    stderr,
  }
}
