/** Labels stay bounded for every capability name that callers choose. */
import { expect, it } from 'vitest'
import { boundedLabel, otherLabel } from './metrics.ts'

it('keeps the first values, counts all further ones as other, and cuts long ones', () => {
  const label = boundedLabel(3)
  expect(['a', 'b', 'c', 'd', 'a', 'e'].map(label)).toEqual(['a', 'b', 'c', otherLabel, 'a', otherLabel])
  expect(boundedLabel()('x'.repeat(1000))).toHaveLength(128)
  expect(boundedLabel()(undefined)).toBe('none')
})

it('does not grow with what it is asked', () => {
  const label = boundedLabel()
  const seen = new Set(Array.from({ length: 5_000 }, (_, index) => label(`capability-${index}`)))
  expect(seen.size).toBe(201)
})
