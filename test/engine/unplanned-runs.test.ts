/** Runs that were accepted and not planned, in a process that lacks what they were accepted with. */
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { createApp, defineCapability } from '../../src/index.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const write = defineCapability({
  capabilityId: 'write',
  inputContract: { type: 'object' },
  outputContract: text,
  idempotent: true,
  run: () => ({ text: 'Tea' }),
})
const envelope = { objective: 'One line about tea', outputContract: { schema: text } }

it('leaves an accepted run to a process that has its capabilities, instead of rejecting its plan', async () => {
  const store = createMemoryStore()
  const shared = { store, env: {}, pollMs: 20, leaseMs: 200 }
  // Accepts the run, and is stopped before it is planned.
  const accepting = await createApp({
    ...shared,
    capabilities: [write],
    planner: { name: 'slow', draft: () => new Promise(() => {}) },
  })
  await accepting.start(envelope, { runId: 'r' })
  await accepting.close({ graceMs: 0 })
  const missing: string[] = []
  const other = await createApp({ ...shared, onMissing: (_runId, ids) => missing.push(...ids) })
  await expect.poll(() => missing).toContain('write')
  expect((await other.state('r')).finished).toBe(undefined)
  const able = await createApp({ ...shared, capabilities: [write] })
  expect(await able.result('r')).toMatchObject({ status: 'completed', output: { text: 'Tea' } })
  await other.close()
  await able.close()
})

it('rejects a plan that needs what no process had', async () => {
  const app = await createApp({ env: {} })
  const rejected = await app.run(envelope)
  expect(rejected).toMatchObject({ status: 'failed', error: { type: 'PLAN_REJECTED' } })
  await app.close()
})
