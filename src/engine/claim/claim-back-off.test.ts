import { expect, it } from 'vitest'
import { createElsewhere } from './claim-back-off.ts'

function create() {
  let now = 0
  const known = new Set<string>()
  const elsewhere = createElsewhere({
    clock: { now: () => now },
    firstMs: 1_000,
    knows: (capabilityId) => known.has(capabilityId),
  })
  return {
    elsewhere,
    known,
    pass(ms: number) {
      now += ms
    },
  }
}

it('leaves a run to others for a while that doubles up to a minute', () => {
  const { elsewhere, pass } = create()
  for (const whileMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    elsewhere.put('r', { tenant: 'default', missing: ['cap'] }, undefined)
    pass(whileMs - 1)
    expect(elsewhere.ids()).toEqual(['r'])
    pass(1)
    expect(elsewhere.ids()).toEqual([])
  }
})

it('takes a run back as soon as a capability is known, something happens, or its timer is due', () => {
  const { elsewhere, known, pass } = create()
  elsewhere.put('r', { tenant: 'default', missing: ['one', 'two'] }, undefined)
  known.add('two')
  expect(elsewhere.ids()).toEqual([])
  known.clear()
  expect(elsewhere.ids()).toEqual(['r'])
  elsewhere.forget('r')
  expect(elsewhere.ids()).toEqual([])
  elsewhere.put('r', { tenant: 'default', missing: ['one'] }, 300)
  pass(300)
  expect(elsewhere.ids()).toEqual([])
})

it('remembers a thousand, and forgets the oldest first', () => {
  const { elsewhere } = create()
  for (let index = 0; index <= 1_000; index++)
    elsewhere.put(`r-${index}`, { tenant: 'default', missing: ['cap'] }, undefined)
  const ids = elsewhere.ids()
  expect([ids.length, ids[0], ids.at(-1)]).toEqual([1_000, 'r-1', 'r-1000'])
})
