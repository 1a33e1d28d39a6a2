/** `proviso schedule` and `proviso status`: what they print, and what they leave in the store. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root, runCommand } from '../support.ts'
import { file, pathInFolder, runFile } from './run-support.ts'

const store = `sqlite:${pathInFolder('schedules.db')}`
const command = (...args: string[]) => runCommand([...args, '--store', store])
const json = async (...args: string[]) => JSON.parse((await command(...args, '--json')).stdout)

it('adds, lists, shows, pauses, resumes and removes a schedule', async () => {
  const run = file('scheduled.json', runFile())
  const timing = ['--cron', '0 7 * * 1-5', '--time-zone', 'Europe/Berlin']
  const added = await command(
    'schedule',
    'add',
    'nightly',
    ...timing,
    '--file',
    run,
    '--missed',
    'skip',
    '--by',
    'ann',
  )
  expect(added).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('nightly  active  0 7 * * 1-5 (Europe/Berlin)'),
  })
  expect(added.stderr).toContain('need these capabilities: write')
  expect(await json('schedule', 'show', 'nightly')).toMatchObject({
    ...{ scheduleId: 'nightly', tenant: 'default', status: 'active', missed: 'skip', overlap: 'allow' },
    ...{ createdBy: 'ann', past: [] },
  })
  expect((await command('schedule', 'list')).stdout).toContain(
    'nightly   active  0 7 * * 1-5 (Europe/Berlin)',
  )
  expect(await json('schedule', 'next', 'nightly', '--count', '3')).toHaveLength(3)
  expect(await json('schedule', 'pause', 'nightly', '--by', 'ann')).toMatchObject({
    status: 'paused',
    next: [],
  })
  expect(await json('status')).toMatchObject({
    schedules: { active: 0, inactive: 1 },
    queue: { due: 0 },
    stuck: [],
  })
  expect(await json('schedule', 'resume', 'nightly', '--by', 'ann')).toMatchObject({ status: 'active' })
  expect((await command('status')).stdout).toContain('Schedules  1 active, 0 paused or done, next at ')
  expect(await json('schedule', 'remove', 'nightly', '--by', 'ann')).toEqual({
    ok: true,
    scheduleId: 'nightly',
  })
  expect(await json('schedule', 'list')).toEqual([])
  expect(await command('schedule', 'show', 'nightly')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Schedule "nightly" not found'),
  })
})

it('schedules a pipeline with capabilities of a module, and names what it needs', async () => {
  const pipeline = file('scheduled.yaml', 'agents: {}\nsteps:\n  - { name: one, uses: step }\n')
  const add = (...more: string[]) =>
    command('schedule', 'add', 'pipeline', '--cron', '@daily', '--file', pipeline, ...more)
  expect(await add()).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('capability "step" not found'),
  })
  const added = await add('--use', join(root, 'test/processes/agents.mjs'))
  expect(added).toMatchObject({ code: 0, stdout: expect.stringContaining('@daily (UTC)') })
  expect(added.stderr).toBe('The processes on the store need these capabilities: step.\n')
})

it('prints the ticks of a pattern without a store', async () => {
  const pattern = ['--cron', '30 2 * * *', '--time-zone', 'America/New_York']
  const after = ['--after', '2027-03-13T12:00:00Z', '--count', '2']
  expect(await runCommand(['schedule', 'next', ...pattern, ...after])).toMatchObject({
    code: 0,
    stdout: '2027-03-14T07:00:00.000Z\n2027-03-15T06:30:00.000Z\n',
  })
  expect(await runCommand(['schedule', 'next', '--cron', '99 * * * *'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Cannot read the cron pattern "99 * * * *"'),
  })
})
