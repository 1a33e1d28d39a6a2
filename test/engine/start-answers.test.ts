/**
 * Every start gets an answer, through everything that happens to its run and its store meanwhile: also the start of a run that exists,
 * which is how a client continues after a crash.
 */
import { afterEach, describe, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { type App, type AppOptions, createApp, defineCapability, type Store } from '../../src/index.ts'
import { ProvisoError } from '../../src/output/index.ts'

const long = process.env['PROVISO_LONG'] === '1'
const restarts = long ? 1_000 : 40

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const envelope = { objective: 'One line about tea', outputContract: { schema: text } }
const draft = { nodes: [{ id: 'one', capabilityId: 'step' }], output: { node: 'one' } }

const apps: App[] = []
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close({ graceMs: 0 })))
})

/** An app with one capability, which ends when `work` does. */
async function open(
  store: Store,
  { work = async () => {}, ...more }: AppOptions & { work?: () => Promise<void> } = {},
): Promise<App> {
  const step = defineCapability({
    capabilityId: 'step',
    inputContract: { type: 'object' },
    outputContract: text,
    idempotent: true,
    async run() {
      await work()
      return { text: 'done' }
    },
  })
  const app = await createApp({ store, capabilities: [step], leaseMs: 300, pollMs: 20, ...more })
  apps.push(app)
  return app
}

const start = (app: App, runId: string) =>
  app
    .prepare(envelope, { runId, draft })
    .start()
    .then(
      (id) => `started ${id}`,
      (cause: { code?: unknown }) => String(cause.code ?? cause),
    )

/** What the promise settles with, or that it did not within so many milliseconds. */
function within<T>(ms: number, promise: Promise<T>): Promise<T | 'no answer'> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('no answer'), ms)
    void promise.then((value) => {
      clearTimeout(timer)
      resolve(value)
    })
  })
}

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** The store as a process sees it whose runs are created slowly, before or after they are stored. */
function slowToCreate(store: Store, { before = 0, after = 0 }: { before?: number; after?: number }): Store {
  return {
    ...store,
    async create(run) {
      if (before > 0) await pause(before)
      const created = await store.create(run)
      if (after > 0) await pause(after)
      return created
    },
  }
}

const never = new Promise<never>(() => {})
const shortLease = 40

/** The store as a process sees it that can die: nothing of it arrives in the store any more, and its leases end. */
function mortal(store: Store): { readonly store: Store; die(): Promise<void> } {
  let isDead = false
  return {
    store: {
      ...store,
      append: (given) => (isDead ? never : store.append(given)),
      renew: (given) => (isDead ? never : store.renew(given)),
      claim: (given) => (isDead ? never : store.claim(given)),
      release: async (...given) => (isDead ? undefined : store.release(...given)),
    },
    async die() {
      isDead = true
      await pause(1.5 * shortLease)
    },
  }
}

/** Runs that a dead process has left. */
async function abandon(store: Store, ...runIds: readonly string[]): Promise<void> {
  const process = mortal(store)
  const app = await open(process.store, { leaseMs: shortLease, work: () => never })
  for (const runId of runIds) expect(await start(app, runId)).toBe(`started ${runId}`)
  await process.die()
}

describe('the start of a run that exists', () => {
  it.each([
    ['before the store is asked', { before: 300 }],
    ['before the answer arrives', { after: 300 }],
  ])('is refused also when the run is claimed here, %s', async (_, delay) => {
    const store = createMemoryStore()
    await abandon(store, 'old')
    const app = await open(slowToCreate(store, delay))
    expect(await within(3_000, start(app, 'old'))).toBe('run/exists')
    expect(await within(3_000, start(app, 'old'))).toBe('run/exists')
    expect(await within(3_000, app.result('old'))).toMatchObject({ status: 'completed' })
  })

  it(`gets an answer after each of ${restarts} restarts`, async () => {
    const store = createMemoryStore()
    const ids = ['old', 'older', 'oldest']
    await abandon(store, ...ids)
    const answers = new Map<string, number>()
    for (let nth = 0; nth < restarts; nth++) {
      // The moment of the answer moves through the first polls of the new process, which dies with its runs.
      const process = mortal(store)
      const delay = nth % 2 ? { before: nth % 7 } : { after: nth % 11 }
      const options = { leaseMs: shortLease, work: () => never }
      const app = await open(slowToCreate(process.store, delay), options)
      const starts = [...ids, ...ids].map((runId) => start(app, runId))
      for (const answer of await Promise.all(starts.map((each) => within(3_000, each))))
        answers.set(answer, (answers.get(answer) ?? 0) + 1)
      await process.die()
    }
    expect(Object.fromEntries(answers)).toEqual({ 'run/exists': 6 * restarts })
  })
})

describe('a start whose engine closes while the store creates the run', () => {
  it('is rejected when the store does not answer', async () => {
    const app = await open({ ...createMemoryStore(), create: () => never })
    const [first, second] = [start(app, 'new'), start(app, 'new')]
    await app.close({ graceMs: 0 })
    expect(await within(1_000, Promise.all([first, second]))).toEqual(['engine/closed', 'engine/closed'])
    expect(await start(app, 'new')).toBe('engine/closed')
  })

  it('leaves no lease behind when the run is stored after that', async () => {
    const store = createMemoryStore()
    let [asked, answered] = [() => {}, () => {}]
    const isAsked = new Promise<void>((resolve) => (asked = resolve))
    const isAnswered = new Promise<void>((resolve) => (answered = resolve))
    const leaving = await open(
      {
        ...store,
        async create(run) {
          asked()
          await isAnswered
          return store.create(run)
        },
      },
      { leaseMs: 600_000 },
    )
    const begun = start(leaving, 'new')
    await isAsked
    await leaving.close({ graceMs: 0 })
    expect(await begun).toBe('engine/closed')
    answered()
    const staying = await open(store)
    expect(await within(3_000, finished(staying, 'new'))).toBe('completed')
  })
})

describe('a start whose run is claimed here while the store fails', () => {
  it('is rejected with the failure, and the run continues', async () => {
    const store = createMemoryStore()
    await abandon(store, 'old')
    const app = await open({
      ...store,
      async create() {
        await pause(200)
        throw new ProvisoError('store/unavailable', 'The disk is full')
      },
    })
    expect(await within(3_000, start(app, 'old'))).toBe('store/unavailable')
    expect(await within(3_000, finished(app, 'old'))).toBe('completed')
  })
})

describe('a store that does not answer', () => {
  it('is reported to every caller after a lease and five seconds', async () => {
    const store = createMemoryStore()
    await abandon(store, 'old')
    const app = await open({
      ...store,
      create: () => never,
      read: () => never,
      head: () => never,
      claim: () => never,
    })
    const began = performance.now()
    const code = (promise: Promise<unknown>) =>
      promise.then(
        () => 'done',
        (cause: { code?: unknown }) => cause.code,
      )
    const by = 'me'
    const calls = [
      start(app, 'new'),
      start(app, 'new'),
      code(app.result('old')),
      code(app.reply('old', { requestId: 'a', decision: 'approve', valueHash: '', by })),
      code(app.cancel('old', { by })),
      code(app.resume('old', { by })),
      code(app.trigger('old', { policyId: 'p', by })),
      code(app.claim('old')),
      code(app.state('old')),
      code(app.missingCapabilities('old')),
      code(app.taskResults('old')),
      code(app.replay('old')),
      code(app.watch('old').next()),
    ]
    expect(await within(8_000, Promise.all(calls))).toEqual(calls.map(() => 'store/unavailable'))
    expect(performance.now() - began).toBeGreaterThan(5_200)
    // The next start is not blocked by the one before.
    const next = start(app, 'new')
    await app.close({ graceMs: 0 })
    expect(await next).toBe('engine/closed')
  })
})

/** The status of a run that is over; a run that is not stored yet is waited for. */
async function finished(app: App, runId: string): Promise<string> {
  for (;;) {
    const result = await app.result(runId).catch(() => pause(10))
    if (result) return result.status
  }
}
