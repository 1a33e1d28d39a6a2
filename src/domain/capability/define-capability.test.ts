/** The errors that a program gets for an invalid capability. */
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
    /^Cannot use the capability "my cap": must match/,
  )
  expect(refusalOf(contracts)).toBe('Cannot use the capability: the property "capabilityId" is missing')
  const { run } = contracts
  expect(refusalOf({ input: {}, output: {}, run })).toBe(
    'Cannot use the capability: the property "id" is missing',
  )
  expect(refusalOf({ id: 'q', input: {}, run })).toBe(
    'Cannot use the capability "q": the property "output" is missing',
  )
  expect(refusalOf({ ...contracts, id: 'q' })).toBe(
    'Cannot use the capability: it has both `id` and `inputContract`',
  )
})
