import { expect, it } from 'vitest'
import { createClaimBackOff } from './claim-back-off.ts'

function create() {
  let now = 0
  const known = new Set<string>()
  const backOff = createClaimBackOff({
    clock: { now: () => now },
    firstMs: 1_000,
    knows: (capabilityId) => known.has(capabilityId),
  })
  return {
    backOff,
    known,
    pass(ms: number) {
      now += ms
    },
  }
}

it('leaves a run to others for a while that doubles up to a minute', () => {
  const { backOff, pass } = create()
  for (const whileMs of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    backOff.add('r', { tenant: 'default', missing: ['cap'] }, undefined)
    pass(whileMs - 1)
    expect(backOff.excludedRuns()).toEqual(['r'])
    pass(1)
    expect(backOff.excludedRuns()).toEqual([])
  }
})

it('takes a run back as soon as a capability is known, something happens, or its timer is due', () => {
  const { backOff, known, pass } = create()
  backOff.add('r', { tenant: 'default', missing: ['one', 'two'] }, undefined)
  known.add('two')
  expect(backOff.excludedRuns()).toEqual([])
  known.clear()
  expect(backOff.excludedRuns()).toEqual(['r'])
  backOff.remove('r')
  expect(backOff.excludedRuns()).toEqual([])
  backOff.add('r', { tenant: 'default', missing: ['one'] }, 300)
  pass(300)
  expect(backOff.excludedRuns()).toEqual([])
})

it('remembers a thousand, and forgets the oldest first', () => {
  const { backOff } = create()
  for (let index = 0; index <= 1_000; index++)
    backOff.add(`r-${index}`, { tenant: 'default', missing: ['cap'] }, undefined)
  const ids = backOff.excludedRuns()
  expect([ids.length, ids[0], ids.at(-1)]).toEqual([1_000, 'r-1', 'r-1000'])
})
