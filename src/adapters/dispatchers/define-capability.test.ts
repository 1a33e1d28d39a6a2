/** What a program is told when its capability cannot be used. */
import { expect, it } from 'vitest'
import { type CapabilityDefinition, defineCapability } from './define-capability.ts'

const refusalOf = (given: object): string => {
  try {
    defineCapability(given as CapabilityDefinition)
    return ''
  } catch (error) {
    return (error as Error).message
  }
}

it('names the capability, unless its name is what is missing', () => {
  const contracts = { inputContract: {}, outputContract: {}, run: () => ({}) }
  expect(refusalOf({ ...contracts, capabilityId: 'my cap' })).toMatch(
    /^The capability "my cap" cannot be used: must match/,
  )
  expect(refusalOf({ ...contracts, id: 'q' })).toBe(
    'The capability cannot be used: the property "capabilityId" is missing',
  )
})
