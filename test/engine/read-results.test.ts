/** The result of a run that another process executed: read from its last event, and from the whole journal if that is older. */
import { afterEach, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { type App, createApp, defineCapability, type Store } from '../../src/index.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const write = defineCapability({
  capabilityId: 'write',
  inputContract: { type: 'object' },
  outputContract: text,
  idempotent: true,
  run: () => ({ text: 'Tea' }),
})
// No schema assures it, so the plan is proved with a warning.
const wish = { constraintId: 'wish', level: 'soft', expr: { '==': [{ var: 'text' }, 'Tea'] } } as const
const envelope = {
  objective: 'One line about tea',
  outputContract: { schema: text, constraints: [wish] },
}
const draft = { nodes: [{ id: 'write', capabilityId: 'write' }], output: { node: 'write' } }

const apps: App[] = []
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close()
})

async function open(store: Store, claim: 'all' | 'none'): Promise<App> {
  const app = await createApp({ env: {}, store, claim, pollMs: 20, capabilities: [write] })
  apps.push(app)
  return app
}

/** The store, with the numbers of events that were read at once. */
function watched(store: Store): { readonly store: Store; readonly reads: number[] } {
  const reads: number[] = []
  const read: Store['read'] = async (...given) => {
    const events = await store.read(...given)
    reads.push(events.length)
    return events
  }
  return { store: { ...store, read }, reads }
}

/** The store as it was when the last event said nothing of warnings. */
function withoutWarnings(store: Store): Store {
  return {
    ...store,
    append: (append) =>
      store.append({
        ...append,
        events: append.events.map((event) => {
          if (event.type !== 'complete') return event
          const { warnings: _, ...payload } = event.payload
          return { ...event, payload }
        }),
      }),
  }
}

it('reads one event, however many the run has', async () => {
  const shared = createMemoryStore()
  const { store, reads } = watched(shared)
  const [accepting] = [await open(store, 'none'), await open(shared, 'all')]
  const run = await accepting.start(envelope, { draft })
  const result = await run.result()
  expect(result).toMatchObject({ status: 'completed', output: { text: 'Tea' }, openAsks: [] })
  expect(result.warnings).toHaveLength(1)
  expect(result.provenance).toEqual([expect.objectContaining({ nodeId: 'write' })])
  expect(reads).toEqual([1])
})

it.each([['with'], ['without']])('is the same from a last event %s warnings', async (which) => {
  const shared = createMemoryStore()
  const executing = await open(which === 'with' ? shared : withoutWarnings(shared), 'all')
  const runId = 'r'
  const here = await executing.run(envelope, { draft, runId })
  const reading = await open(shared, 'none')
  expect(await reading.result(runId)).toEqual(here)
  expect(here.warnings).toHaveLength(1)
})

it('waits for a run that is not over, and does not for one that is unknown', async () => {
  const shared = createMemoryStore()
  const accepting = await open(shared, 'none')
  const run = await accepting.start(envelope, { draft })
  const waiting = run.result()
  const first = await Promise.race([waiting, new Promise((resolve) => setImmediate(resolve, 'waits'))])
  expect(first).toBe('waits')
  await expect(accepting.result('other')).rejects.toThrow('not found')
  await open(shared, 'all')
  expect(await waiting).toMatchObject({ status: 'completed' })
  // A caller that asks again is answered at once.
  expect(await run.result()).toMatchObject({ status: 'completed' })
})
