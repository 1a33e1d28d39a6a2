/** The order of claims, and claims that arrive when the process is shutting down. */
import { expect, it } from 'vitest'
import { createMemoryStore } from '../../adapters/stores/memory/memory.ts'
import { systemClock } from '../../base/time/clock.ts'
import type { Claim, Store } from '../../domain/ports/store.ts'
import { newRun, runningHead } from '../../testing/stores/sample.ts'
import { createRunPoller } from './run-poller.ts'

it('a tenant with thousands of due runs does not delay the claim of the runs of another', async () => {
  const store = createMemoryStore()
  const create = (runId: string, tenant: string, wakeAt: number) =>
    store.create(newRun(runId, { tenant, head: { ...runningHead, wakeAt } }))
  const due = 3_000
  for (let nth = 0; nth < due; nth++) await create(`big-${nth}`, 'big', 1)
  for (let nth = 0; nth < 40; nth++) await create(`small-${nth}`, 'small', 2)
  const order: string[] = []
  await new Promise<void>((resolve, reject) => {
    const poller = createRunPoller({
      store,
      clock: systemClock,
      owner: 'me',
      leaseMs: 60_000,
      pollMs: 60_000,
      placements: [],
      own: undefined,
      excludedRuns: () => [],
      actors: new Map(),
      freeSlots: () => 1_000,
      onClaim({ tenant }) {
        order.push(tenant)
        if (order.length < due + 40) return
        poller.close()
        poller.end()
        resolve()
      },
      onLeaseLost: () => {},
      onError: reject,
    })
    poller.open()
  })
  expect(order.indexOf('small'), 'after the first page of the big tenant').toBe(32)
  expect(order.lastIndexOf('small'), 'and all of them long before its last run').toBeLessThan(due / 5)
})

it('releases the runs that a poll claims while the process shuts down', async () => {
  const store = createMemoryStore()
  await store.create(newRun('late', { head: { ...runningHead, wakeAt: 1 } }))
  const claimed: string[] = []
  const { poller, asked, answered } = createHeldPoller(store, ({ runId }) => claimed.push(runId))
  poller.open()
  await asked.opened
  const closing = poller.close()
  answered.open()
  await closing
  poller.end()
  expect(claimed).toEqual([])
  const [claim] = await store.claim({ owner: 'another', leaseMs: 60_000, limit: 1 })
  expect(claim?.runId, 'another process gets it at once').toBe('late')
})

it('polls again for a run that came while it polled', async () => {
  const store = createMemoryStore()
  const claimed = createGate()
  const { poller, asked, answered } = createHeldPoller(store, claimed.open)
  poller.open()
  await asked.opened
  await store.create(newRun('meanwhile', { head: { ...runningHead, wakeAt: 1 } }))
  poller.onFree()
  answered.open()
  await claimed.opened
  await poller.close()
  poller.end()
})

/** A poller whose first claim is answered when the gate `answered` is open. It polls by itself only once. */
function createHeldPoller(store: Store, onClaim: (claim: Claim) => void) {
  const asked = createGate()
  const answered = createGate()
  const poller = createRunPoller({
    store: {
      ...store,
      async claim(query) {
        const claims = await store.claim(query)
        asked.open()
        await answered.opened
        return claims
      },
    },
    clock: systemClock,
    owner: 'me',
    leaseMs: 60_000,
    pollMs: 3_600_000,
    placements: [],
    own: undefined,
    excludedRuns: () => [],
    actors: new Map(),
    freeSlots: () => 1_000,
    onClaim,
    onLeaseLost: () => {},
    onError: (cause) => expect.unreachable(String(cause)),
  })
  return { poller, asked, answered }
}

function createGate() {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
