import fc from 'fast-check'
import { expect, it } from 'vitest'
import { applyEdits } from './edits.ts'

it('keeps every byte that no edit names', () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), fc.nat(), fc.string(), (text, a, b, put) => {
      const [start, end] = [a % (text.length + 1), b % (text.length + 1)].sort((x, y) => x - y) as [
        number,
        number,
      ]
      expect(applyEdits(text, [{ span: [start, end], text: put }])).toBe(
        text.slice(0, start) + put + text.slice(end),
      )
    }),
    { seed: 7 },
  )
})

it('takes edits in any order, and equal ones once', () => {
  const one = { span: [0, 1], text: 'X' } as const
  const two = { span: [2, 3], text: '' } as const
  expect(applyEdits('abc', [two, one, two])).toBe('Xb')
})

it('refuses edits that contradict each other or leave the text', () => {
  expect(
    applyEdits('abc', [
      { span: [0, 2], text: 'x' },
      { span: [1, 3], text: 'y' },
    ]),
  ).toBe(undefined)
  expect(applyEdits('abc', [{ span: [2, 4], text: '' }])).toBe(undefined)
})
