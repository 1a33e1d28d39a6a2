import { expect, it } from 'vitest'
import { createMissingCapabilityNotice } from './missing-capabilities.ts'

it('prints each missing set of a run once, however often the engine retries it', () => {
  const lines: string[] = []
  const notify = createMissingCapabilityNotice((line) => lines.push(line))
  for (let visit = 0; visit < 3; visit++) notify('r', ['pay'])
  notify('r', ['pay', 'ship'])
  notify('other', ['pay'])
  const printed = lines.filter((line) => line.includes('waits for missing capabilities'))
  expect(printed).toMatchObject(
    [/r waits.*: pay$/, /r waits.*: pay, ship$/, /other waits.*: pay$/].map((form) =>
      expect.stringMatching(form),
    ),
  )
})
