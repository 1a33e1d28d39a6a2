/** What the tests of `proviso/agent` share: a server on a store, agents that are closed after the test, a run of one line. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serveAgent as serveAnyAgent } from 'proviso/agent'
import { z } from 'zod'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import type { HttpOptions, Store } from '../../src/index.ts'
import { createServer, createToken } from '../../src/server/index.ts'
import { afterEachTest } from '../cleanup.ts'
import { leave, open } from '../journeys/support.ts'
import { systemClock } from '../seams/base.ts'
import { flexToken } from '../server/support.ts'
import { api } from './support.ts'

export const Topic = z.object({ topic: z.string() })
export const Line = z.object({ line: z.string() })
export const lineSchema = {
  type: 'object',
  properties: { line: { type: 'string' } },
  required: ['line'],
} as const
export const topicSchema = {
  type: 'object',
  properties: { topic: { type: 'string' } },
  required: ['topic'],
} as const
export const write = ({ topic }: { topic: string }) => ({ line: `Time for ${topic}.` })

export const opened = new Set<{ close(options: { graceMs: number }): Promise<void> }>()
const folders = new Set<string>()
afterEachTest(async () => {
  for (const each of opened) await each.close({ graceMs: 0 })
  opened.clear()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  folders.clear()
})

/** Starts an agent that is closed after the test. */
export const serveAgent: typeof serveAnyAgent = async (options) => {
  const agent = await serveAnyAgent({ onError: () => {}, ...options })
  opened.add(agent)
  return agent
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-calls-'))
  folders.add(folder)
  return folder
}

/** A server on a store, the token of an agent of it, and what callers of it do. */
export async function serve({
  store = createMemoryStore(),
  port = 0,
  http = {},
}: {
  store?: Store
  port?: number
  http?: HttpOptions
} = {}) {
  let address = ''
  const app = await open({ store, http: { allowLoopback: true, callbackUrl: () => address, ...http } })
  const server = createServer({ app }, { auth: { token: flexToken } })
  opened.add(server)
  address = await server.listen({ port })
  const { token } = await createToken(store.records.tokens, { tenant: 'default', role: 'agent', name: 'a' })
  const send = async (path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${flexToken}`, 'content-type': 'application/json' }
    const post = body !== undefined && { method: 'POST', body: JSON.stringify(body) }
    // biome-ignore lint/suspicious/noExplicitAny: answers of many routes
    return (await fetch(`${address}${api}${path}`, { headers, ...post })).json() as Promise<any>
  }
  const envelope = (topic: string) => ({
    objective: 'One line',
    inputs: { topic },
    outputContract: { schema: lineSchema },
  })
  return {
    address,
    send,
    async stop() {
      opened.delete(server)
      await server.close({ graceMs: 0 })
      await leave(app)
    },
    options: { id: 'write', input: Topic, output: Line, server: { url: address, token } } as const,
    run: (topic = 'tea') => send('/runs?wait=20', envelope(topic)),
    start: async (topic = 'tea'): Promise<string> => (await send('/runs', envelope(topic))).runId,
    events: async (runId: string): Promise<readonly string[]> =>
      (await send(`/runs/${runId}/events?limit=1000`)).events.map(({ type }: { type: string }) => type),
    async output(runId: string) {
      await until(async () => /completed|failed/.test((await send(`/runs/${runId}`)).run.status))
      return send(`/runs/${runId}/output`)
    },
  }
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo()))
    await new Promise<void>((resolve) => systemClock.timer(systemClock.now() + 20, resolve))
}
