/** Suggests corrections for typos, and none for unrelated words. */
import { expect, it } from 'vitest'
import { closest } from './closest.ts'

const keys = ['objective', 'inputs', 'outputContract', 'id', 'ms', 'max_retries']

it.each([
  ['objectve', 'objective'],
  ['obejctive', 'objective'],
  ['output_contract', 'outputContract'],
  ['OutputContracts', 'outputContract'],
  ['input', 'inputs'],
  ['max_retry', 'max_retries'],
  ['maxRetrys', 'max_retries'],
])('takes %j for %j', (name, meant) => {
  expect(closest(name, keys)).toBe(meant)
})

it.each(['goal', 'x', 'nodes', '', 'is', 'objective'.repeat(10)])('takes %j for nothing', (name) => {
  expect(closest(name, keys)).toBeUndefined()
})
