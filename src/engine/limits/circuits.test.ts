import { expect, it } from 'vitest'
import { createCircuits } from './circuits.ts'

function create() {
  let now = 1_000
  const circuits = createCircuits({ failures: 3, openMs: 100, waitMs: 1_000 }, { now: () => now })
  const fail = (times: number) => {
    for (let nth = 0; nth < times; nth++) circuits.observe(['c'], 'unavailable')
  }
  const pass = (hasAlternate = false, waitingSince?: number) =>
    circuits.pass(['c'], { hasAlternate, waitingSince })
  const elapse = (ms: number) => {
    now += ms
  }
  return { circuits, fail, pass, elapse }
}

it('opens after failures in a row: attempts wait, or go to their alternate', () => {
  const { circuits, fail, pass } = create()
  fail(2)
  circuits.observe(['c'], 'ok')
  fail(2)
  expect(pass()).toBe('call')
  fail(1)
  expect([pass(), pass(true)]).toEqual(['wait', 'refuse'])
  expect(circuits.list()).toEqual([{ name: 'c', state: 'open', until: 1_100, failures: 3 }])
})

it('is probed by one attempt, which closes it or doubles the pause', () => {
  const { circuits, fail, pass, elapse } = create()
  fail(3)
  elapse(100)
  expect(circuits.list()[0]?.state).toBe('half-open')
  expect([pass(), pass()]).toEqual(['call', 'wait'])
  fail(1)
  elapse(199)
  expect(pass()).toBe('wait')
  elapse(1)
  expect(pass()).toBe('call')
  circuits.observe(['c'], 'invalid')
  expect([pass(), pass()]).toEqual(['call', 'call'])
  expect(circuits.list()).toEqual([])
})

it('fails attempts that have waited long enough, and calls again if a probe never ends', () => {
  const { fail, pass, elapse } = create()
  fail(3)
  elapse(100)
  expect(pass()).toBe('call')
  elapse(999)
  expect([pass(false, 200), pass(false, 1_199)]).toEqual(['refuse', 'wait'])
  elapse(1)
  expect(pass()).toBe('call')
})

it('counts neither cancelled calls nor calls that were under way when it opened', () => {
  const { circuits, fail, pass, elapse } = create()
  for (let nth = 0; nth < 9; nth++) circuits.observe(['c'], 'cancelled')
  expect(pass()).toBe('call')
  fail(20)
  elapse(100)
  expect(pass()).toBe('call')
})
