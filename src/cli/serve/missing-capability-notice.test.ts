import { expect, it } from 'vitest'
import { missingTeller } from './missing-capability-notice.ts'

it('says each lack of a run once, however often the engine comes back to it', () => {
  const lines: string[] = []
  const tell = missingTeller((line) => lines.push(line))
  for (let visit = 0; visit < 3; visit++) tell('r', ['pay'])
  tell('r', ['pay', 'ship'])
  tell('other', ['pay'])
  const told = lines.filter((line) => line.includes('waits for capabilities that are not here'))
  expect(told).toMatchObject(
    [/r waits.*: pay$/, /r waits.*: pay, ship$/, /other waits.*: pay$/].map((form) =>
      expect.stringMatching(form),
    ),
  )
})
