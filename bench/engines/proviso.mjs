/**
 * Proviso on SQLite: envelope and draft read and proved, every attempt in the journal before and after its call. The start and
 * the end of a run wait for the disk, its idempotent functions do not.
 */
import { join } from 'node:path'
import { compile } from '../../scripts/compile.mjs'
import { edges, nodeIds, work } from './dag.mjs'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }

/** The engine as modules of its own, compiled from the sources; the package exports only a part of it. */
export async function loadProviso() {
  const { programs, dispose } = await compile({
    app: 'src/app.ts',
    capability: 'src/domain/capability/define-capability.ts',
    sqlite: 'src/adapters/stores/sqlite/sqlite.ts',
    memory: 'src/adapters/stores/memory/memory.ts',
  })
  const [{ createApp }, { defineCapability }, { openSqliteStore }, { createMemoryStore }] = await Promise.all(
    Object.values(programs).map((path) => import(path)),
  )
  process.once('exit', dispose)
  return { createApp, defineCapability, openSqliteStore, createMemoryStore }
}

export function defineCapabilities(defineCapability, ids) {
  return ids.map((capabilityId) =>
    defineCapability({
      capabilityId,
      inputContract: { type: 'object', properties: {} },
      outputContract: text,
      idempotent: true,
      run: () => work(capabilityId),
    }),
  )
}

export const envelope = {
  objective: 'Measure',
  inputs: { text: 'x' },
  outputContract: { schema: text },
}

/** Each node takes what the nodes before it gave. */
export const draft = {
  nodes: nodeIds.map((id) => ({
    id,
    capabilityId: id,
    inputs: Object.fromEntries(
      edges.filter(([, to]) => to === id).map(([from]) => [from, { node: from, pointer: '/text' }]),
    ),
  })),
  output: { node: 'z' },
}

/** `ahead` false: every commit waits for the disk. */
export async function openProviso(folder, ahead = true) {
  const { createApp, defineCapability, openSqliteStore } = await loadProviso()
  const path = join(folder, `proviso-${ahead}.sqlite`)
  const store = await openSqliteStore({ path, synchronous: 'FULL', ahead })
  const app = await createApp({ store, capabilities: defineCapabilities(defineCapability, nodeIds) })
  return {
    name: 'proviso',
    settings: `SQLite (libsql), WAL, synchronous=FULL, ${
      ahead
        ? 'the log synced before anything leaves the process; local functions do not wait'
        : 'the log synced after every commit (ahead: false)'
    }`,
    async run() {
      const { status, issues } = await app.run(envelope, { draft })
      if (status !== 'completed') throw new Error(`${status}: ${JSON.stringify(issues)}`)
    },
    async close() {
      await app.close()
      await store.close()
    },
  }
}
