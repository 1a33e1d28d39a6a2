/** One tenant with 500 runs does not keep the run of another tenant waiting: slots and claims go to tenants in turn. */
import { afterEach, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { type App, createApp, defineCapability, type Store } from '../../src/index.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const envelope = { objective: 'One line about tea', outputContract: { schema: text } }
const draft = { nodes: [{ id: 'one', capabilityId: 'step' }], output: { node: 'one' } }
const many = 500
const leaseMs = 1_000

const apps: App[] = []
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close({ graceMs: 0 })))
})

/** An app with few slots, and the tenants in the order in which their calls began. */
async function open(store: Store, work: () => Promise<void>) {
  const began: string[] = []
  const step = defineCapability({
    capabilityId: 'step',
    inputContract: { type: 'object' },
    outputContract: text,
    idempotent: true,
    async run(_, { runId }) {
      began.push(runId.split('-')[0] as string)
      await work()
      return { text: 'done' }
    },
  })
  const app = await createApp({
    store,
    env: {},
    capabilities: [step],
    limits: { process: 4 },
    pollMs: 20,
    leaseMs,
  })
  apps.push(app)
  return { app, began }
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

const startMany = (app: App) =>
  Promise.all(
    Array.from({ length: many }, (_, nth) =>
      app.start(envelope, { runId: `big-${nth}`, draft, tenant: 'big' }),
    ),
  )

it('a slot that is free goes to the tenants in turn', async () => {
  let openGate = () => {}
  const gate = new Promise<void>((resolve) => (openGate = resolve))
  const { app, began } = await open(createMemoryStore(), async () => {
    await gate
    await pause(5)
  })
  await startMany(app)
  await app.start(envelope, { runId: 'small-1', draft, tenant: 'small' })
  expect(began).toEqual(['big', 'big', 'big', 'big'])
  openGate()
  await app.result('small-1')
  expect(began.indexOf('small')).toBeLessThan(10)
  expect(began.length).toBeLessThan(many / 2)
})

it('runs that a dead process has left are continued tenant by tenant in turn', async () => {
  const store = createMemoryStore()
  let isDead = false
  const never = new Promise<never>(() => {})
  const dying = await open(
    {
      ...store,
      renew: (given) => (isDead ? never : store.renew(given)),
      append: (given) => (isDead ? never : store.append(given)),
      claim: (given) => (isDead ? never : store.claim(given)),
      release: async (...given) => (isDead ? undefined : store.release(...given)),
    },
    () => never,
  )
  await startMany(dying.app)
  await dying.app.start(envelope, { runId: 'small-1', draft, tenant: 'small' })
  isDead = true
  // All of them are due, the small one last.
  await pause(1.2 * leaseMs)
  // The other process reads slowly, and knows nothing of the runs before.
  const slow: Store = {
    ...store,
    async read(...given) {
      await pause(1)
      return store.read(...given)
    },
  }
  const { app, began } = await open(slow, () => pause(1))
  await app.result('small-1')
  expect(began.indexOf('small')).toBeLessThan(100)
  expect(began.length).toBeLessThan(many / 2)
})
