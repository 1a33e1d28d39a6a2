import { expect, it, vi } from 'vitest'
import { ProvisoError } from './error.ts'

it('recognises errors of another copy of the package, and nothing else', async () => {
  vi.resetModules()
  const copy = await import('./error.ts')
  expect(copy.ProvisoError).not.toBe(ProvisoError)
  const theirs = new copy.ProvisoError('option/invalid', 'The option is invalid')
  const ours = new ProvisoError('option/invalid', 'The option is invalid')
  for (const { is } of [ProvisoError, copy.ProvisoError])
    expect(
      [theirs, ours, new Error('x'), { code: 'option/invalid' }, null, 'x'].map((each) => is(each)),
    ).toEqual([true, true, false, false, false, false])
})
