/** How entries of the settings become limits. */
import { expect, it } from 'vitest'
import { readLimits } from './limit-rules.ts'

it('joins a limit of attempts at once and one of starts in a time', () => {
  expect(readLimits(['render=4', 'render=100/1m', '*=2'])).toEqual({
    render: { concurrency: 4, rate: { count: 100, perMs: 60_000 } },
    '*': { concurrency: 2 },
  })
})

it('refuses two limits of a kind for one name', () => {
  expect(() => readLimits(['render=4', 'render=5'])).toThrow('second of its kind for "render"')
  expect(() => readLimits(['render=4/1m', 'render=5/1h'])).toThrow('second of its kind for "render"')
})
