/** The short form of `npm run conformance`: hostile servers, and what is promised of their callers. */
import { expect, it } from 'vitest'
import { agentExecutor, playAll, playRow } from '../../conformance/play.ts'
import { rows } from '../../conformance/rows.ts'

const differing = (played: Awaited<ReturnType<typeof playAll>>) =>
  played.flatMap(({ executor, row, differences }) =>
    differences.length > 0 ? [`${executor}, ${row}: ${differences.join('; ')}`] : [],
  )

it('a provider that is called at hostile servers keeps every promise', async () => {
  const played = await playAll('models', { only: ['compatible'] })
  expect(differing(played)).toEqual([])
  expect(played).toHaveLength(rows.filter(({ models }) => models).length)
})

it('so does an agent over HTTP', async () => {
  const played = await playAll('agents')
  expect(differing(played)).toEqual([])
  expect(played).toHaveLength(rows.filter(({ agents }) => agents).length)
})

it('a promise that is not kept is seen', async () => {
  const [answers] = rows
  if (!answers) throw new Error('There are no rows')
  const wrong = { calls: 2, outcome: 'throttled', waitedMs: [1, 2], fallback: true } as const
  expect((await playRow(agentExecutor, answers, wrong)).differences).toEqual([
    '1 calls instead of 2',
    'waited 0 ms instead of 1 to 2',
    'ended as ok instead of throttled',
    'its fallback was not used',
  ])
})
