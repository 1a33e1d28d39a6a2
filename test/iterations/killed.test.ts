/** Maps and loops on SQLite whose process is killed with SIGKILL in the middle, again and again: everything is done once. */
import { join } from 'node:path'
import { it } from 'vitest'
import { expectOnceDespiteKills, useKilledProcesses } from './killing.ts'

const long = process.env['PROVISO_LONG'] === '1'
const items = long ? 10_000 : 300
const rounds = long ? 600 : 60
const timeout = long ? 10 * 60_000 : 2 * 60_000

const { folder } = useKilledProcesses()
const on = (name: string) => ({
  store: `sqlite:${join(folder(), `${name}.db`)}`,
  effects: join(folder(), `${name}.effects`),
})

it(
  `a map of ${items} items killed five times: every item once`,
  () => expectOnceDespiteKills({ shape: 'map', ...on('map'), items }, { kills: 5, underWay: 16 }),
  timeout,
)

it(
  `a loop of ${rounds} rounds killed five times: every round once, in order`,
  () => expectOnceDespiteKills({ shape: 'loop', ...on('loop'), items: rounds }, { kills: 5, underWay: 1 }),
  timeout,
)
