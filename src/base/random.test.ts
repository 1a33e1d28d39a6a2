import { expect, it } from 'vitest'
import { takeRandomBytes } from './random.ts'

it('gives no byte twice, also where the pool is refilled', () => {
  const ids = Array.from({ length: 2_000 }, () => Buffer.from(takeRandomBytes(16)).toString('hex'))
  expect(new Set(ids).size).toBe(2_000)
  expect(ids.every((id) => id.length === 32)).toBe(true)
})
