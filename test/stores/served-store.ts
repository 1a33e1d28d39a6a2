/** `proviso serve` as a process on a SQLite file, for tests that do harm to the file. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { listening } from '../processes/listening.ts'
import { api } from '../server/support.ts'
import { requireBuild, root } from '../support.ts'

export interface ServedStore {
  readonly pid: number
  readonly ended: Promise<number | null>
  readonly stderr: () => string
  call(path: string, body?: unknown): Promise<Response>
  /** Starts a run and returns the response when it is over. */
  start(): Promise<Response>
  /** The same; returns the id of the completed run. */
  complete(): Promise<string>
  kill(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

const agents = `
import { defineCapability } from ${JSON.stringify(join(root, 'dist/index.js'))}
const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
export const write = defineCapability({
  capabilityId: 'write', inputContract: { type: 'object' }, outputContract: text, idempotent: true,
  run: (_, { runId }) => ({ text: runId.repeat(200) }),
})`

const runBody = {
  envelope: {
    objective: 'One line about tea',
    outputContract: {
      schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
    },
  },
  // A chain: its functions are idempotent, so what is between the first and the last may be ahead of the disk.
  draft: {
    nodes: ['outline', 'draft', 'write'].map((id, index, ids) => ({
      id,
      capabilityId: 'write',
      inputs: index === 0 ? {} : { text: { node: ids[index - 1], pointer: '/text' } },
    })),
    output: { node: 'write' },
  },
}

export interface ServedStores {
  /** A path in a folder that is deleted after the tests. */
  path(name: string): string
  serve(file: string, args?: readonly string[], env?: NodeJS.ProcessEnv): Promise<ServedStore>
}

/** For a whole file of tests; servers end after each. */
export function servedStores(): ServedStores {
  const started = new Set<ChildProcess>()
  let folder = ''
  beforeAll(() => {
    requireBuild()
    folder = mkdtempSync(join(tmpdir(), 'proviso-served-'))
    writeFileSync(join(folder, 'agents.mjs'), agents)
  })
  afterEach(() => {
    for (const child of started) child.kill('SIGKILL')
    started.clear()
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return {
    path: (name) => join(folder, name),
    async serve(file, args = [], env = {}) {
      const use = ['--use', join(folder, 'agents.mjs')]
      const child = spawn(
        process.execPath,
        [
          join(root, 'dist/cli/main.js'),
          'serve',
          '--dev',
          '--port',
          '0',
          '--store',
          `sqlite:${file}`,
          ...use,
          ...args,
        ],
        { env: { ...process.env, NO_COLOR: '1', PROVISO_STORE: '', ...env } },
      )
      started.add(child)
      const { address, ended, stderr } = await listening(child)
      const call = (path: string, body?: unknown) =>
        fetch(`${address}${path}`, {
          method: body === undefined ? 'GET' : 'POST',
          headers: { 'content-type': 'application/json' },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        })
      const start = () => call(`${api}/runs?wait=30`, runBody)
      return {
        pid: child.pid ?? 0,
        ended,
        stderr,
        call,
        start,
        async complete() {
          const response = await start()
          const body = (await response.json()) as { runId: string; status: string }
          if (body.status !== 'completed') throw new Error(`Not completed: ${JSON.stringify(body)}`)
          return body.runId
        },
        async kill(signal) {
          child.kill(signal)
          await ended
        },
      }
    },
  }
}

/** Asks until the answer has this status. */
export async function until(ask: () => Promise<Response>, status: number): Promise<unknown> {
  const deadline = Date.now() + 20_000
  for (;;) {
    const response = await ask()
    const body: unknown = await response.json()
    if (response.status === status) return body
    if (Date.now() > deadline) throw new Error(`Still ${response.status}: ${JSON.stringify(body)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
