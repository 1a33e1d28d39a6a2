import { expect, it } from 'vitest'
import { createTextCache } from './text-cache.ts'

it('returns what was kept for the same text', () => {
  const cache = createTextCache<number>()
  cache.set('one', 1)
  expect([cache.get('one'), cache.get('two')]).toEqual([1, undefined])
})

it('evicts the oldest entry first', () => {
  const cache = createTextCache<number>({ entries: 2, length: 10 })
  for (const [index, text] of ['a', 'b', 'c'].entries()) cache.set(text, index)
  expect(['a', 'b', 'c'].map(cache.get)).toEqual([undefined, 1, 2])
})

it('does not keep long texts', () => {
  const cache = createTextCache<number>({ entries: 2, length: 3 })
  cache.set('long', 1)
  expect(cache.get('long')).toBeUndefined()
})
