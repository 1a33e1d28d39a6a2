/** Starts many runs that wait for a person, and prints what they added to this process. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineCapabilities, envelope, loadProviso } from './proviso.mjs'

const count = Number(process.argv[2])
const folder = mkdtempSync(join(tmpdir(), 'proviso-bench-'))
const { createApp, defineCapability, openSqliteStore } = await loadProviso()
const store = await openSqliteStore({ path: join(folder, 'paused.sqlite') })
const app = await createApp({ store, capabilities: defineCapabilities(defineCapability, ['a']) })
const waits = { ...envelope, policies: { requiresHitlApproval: true } }
const draft = { nodes: [{ id: 'a', capabilityId: 'a' }], output: { node: 'a' } }

// The first ones pay for compiled code, for caches of the runtime and for that of SQLite.
await startWaiting(2_000)
const before = measure()
await startWaiting(count)
const after = measure()
const per = (name) => ((after[name] - before[name]) * 1000) / count
console.log(
  JSON.stringify({
    runs: count,
    active: app.active,
    heapPerThousand: per('heapUsed'),
    rssPerThousand: per('rss'),
  }),
)
await app.close()
await store.close()
rmSync(folder, { recursive: true, force: true })

async function startWaiting(many) {
  for (let done = 0; done < many; done += 100) {
    const results = await Promise.all(Array.from({ length: 100 }, () => app.run(waits, { draft })))
    const other = results.find(({ status }) => status !== 'awaiting_hitl')
    if (other) throw new Error(`A run is ${other.status}: ${JSON.stringify(other.issues)}`)
  }
}

function measure() {
  for (let i = 0; i < 5; i++) globalThis.gc()
  return process.memoryUsage()
}
