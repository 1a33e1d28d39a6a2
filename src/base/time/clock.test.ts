import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { timeOrderedId } from './clock.ts'

it('is a UUID of version 7', () => {
  for (let index = 0; index < 100; index++) {
    expect(timeOrderedId(Date.UTC(2026, 0, 1), randomBytes(16))).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  }
})

it('sorts by time, whatever the random part is', () => {
  const times = [0, 1, 255, 256, 2 ** 32 - 1, 2 ** 32, Date.UTC(2026, 0, 1), 2 ** 48 - 1]
  const ids = times.map((time, index) => timeOrderedId(time, new Uint8Array(16).fill(255 - index)))
  expect([...ids].sort()).toEqual(ids)
})
