/** A real server on SQLite and a client of it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClientOptions, createClient, type RunEnvelope, type RunEvent } from '../../src/client/index.ts'
import type { AppOptions } from '../../src/index.ts'
import type { ServerOptions } from '../../src/server/index.ts'
import { afterEachFile } from '../cleanup.ts'
import { flexToken, local, serve } from '../server/support.ts'

const folders: string[] = []
afterEachFile(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

/** Delays short enough for tests. */
export const quick = { minMs: 2, maxMs: 20 } as const

export async function serveSqlite(options: AppOptions = {}, more: ServerOptions = {}) {
  const folder = makeFolder()
  const served = await serve({ ...options, store: `sqlite:${join(folder, 'runs.db')}` }, more)
  const connect = (given: Partial<ClientOptions> = {}) =>
    createClient({ url: served.address, token: flexToken, retry: quick, ...given })
  return { ...served, client: connect(), connect }
}

export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'proviso-client-'))
  folders.push(folder)
  return folder
}

export const tea: RunEnvelope = {
  objective: 'Write one line about tea',
  inputs: { topic: 'tea' },
  outputContract: {
    schema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  },
}
export const approvedTea: RunEnvelope = { ...tea, policies: { requiresHitlApproval: true } }
export const draft = { nodes: [{ id: 'write', capabilityId: 'write' }] }
export const writing = { capabilities: [local('write', () => ({ text: 'Tea' }))] }

/** A plan of so many nodes, one after the other. */
export function chain(length: number) {
  const nodes = Array.from({ length }, (_, index) => ({ id: `n${index}`, capabilityId: 'write' }))
  const edges = nodes.slice(1).map(({ id }, index) => ({ from: `n${index}`, to: id }))
  return { nodes, edges, output: { node: `n${length - 1}` } }
}

/** Returns what is wrong with a sequence of events: gaps, repeats, no end. */
export function findFaults(events: readonly RunEvent[]): string[] {
  const wrong = events.flatMap(({ id }, index) =>
    id === index + 1 ? [] : [`event ${id} at position ${index + 1}`],
  )
  return events.at(-1)?.type === 'complete' ? wrong : [...wrong, 'no complete']
}
