import { expect, it } from 'vitest'
import { createMemoryStore } from '../../adapters/stores/memory/memory.ts'
import { createPermits, tickMs } from './permits.ts'

const call = (capabilityId: string) => ({ capabilityId, tenant: 'default' })

/** Processes on one store, whose clock and theirs are the same. */
function processes() {
  let now = 1_700_000_000_000
  const clock = { now: () => now, timer: () => () => {} }
  const { documents } = createMemoryStore({ clock }).records
  const begin = (owner: string) => {
    const fleet = { capabilities: { '*': { concurrency: 1 } }, tenants: { default: { concurrency: 1 } } }
    const fail = (cause: unknown) => {
      throw cause
    }
    return createPermits(fleet, { documents, clock, owner, leaseMs: 3_000, onError: fail }, () => {})
  }
  /** Lets the store answer, and time pass. */
  const pass = async (ms: number = tickMs) => {
    for (let turns = 0; turns < 50; turns++) await Promise.resolve()
    now += ms
  }
  return { begin, pass }
}

it('holds the first permits of a process against one that knows the time of the store', async () => {
  const { begin, pass } = processes()
  const [one, other] = [begin('one'), begin('other')]
  // The other one learns the time, and returns what it had.
  other.canTake(call('x'), 'r0')
  await pass()
  expect(other.canTake(call('x'), 'r0')).toBe(true)
  other.leave('r0')
  await pass(2_000)
  other.tick()
  await pass(2_000)
  other.tick()
  await pass()
  one.canTake(call('a'), 'r1')
  await pass()
  expect(one.canTake(call('a'), 'r1')).toBe(true)
  one.take(call('a'), 'r1')
  for (let tries = 0; tries < 5; tries++) {
    expect(other.canTake(call('b'), 'r2'), `try ${tries}`).toBe(false)
    await pass()
  }
  one.release(call('a'))
  await pass(2_000)
  one.tick()
  await pass()
  other.canTake(call('b'), 'r2')
  await pass()
  expect(other.canTake(call('b'), 'r2')).toBe(true)
})
