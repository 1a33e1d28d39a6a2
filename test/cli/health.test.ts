/** Promises of `proviso health-check`, tested on the built file with a SQLite store. */
import { readFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { createMemoryStore } from '../../src/adapters/stores/memory/memory.ts'
import { openSqliteStore } from '../../src/adapters/stores/sqlite/sqlite.ts'
import { addAilments, addRun, now } from '../health/runs.ts'
import { healthReport, surveyHealth } from '../seams/health.ts'
import { runCommand } from '../support.ts'
import { pathInFolder } from './run-support.ts'

let store = ''

beforeAll(async () => {
  const path = pathInFolder('health.db')
  store = `sqlite:${path}`
  const opened = await openSqliteStore({ path })
  await addAilments(opened)
  await opened.close()
})

const until = ['--until', new Date(now).toISOString()]
const check = (...args: string[]) => runCommand(['health-check', '--store', store, ...until, ...args])
const golden = (name: string) => `../health/golden/${name}`

it('prints the page, the same for both of its names', async () => {
  const page = await check()
  expect(page).toMatchObject({ code: 0, stderr: '' })
  await expect(page.stdout).toMatchFileSnapshot(golden('all.txt'))
  const dev = await runCommand(['dev', 'health-check', '--store', store, ...until])
  expect(dev.stdout).toBe(page.stdout)
})

it('prints the report as JSON, to stdout or into a file', async () => {
  const flags = ['--since-hours', '24', '--trend-buckets', '6']
  const printed = await check(...flags, '--json')
  const kept = createMemoryStore()
  await addAilments(kept)
  const report = healthReport(await surveyHealth(kept, { now, sinceHours: 24, trendBuckets: 6 }))
  expect(JSON.parse(printed.stdout)).toEqual(JSON.parse(JSON.stringify(report)))
  const path = pathInFolder('report.json')
  const written = await check(...flags, '--export', 'json', '--output', path)
  expect(written).toMatchObject({ code: 0, stdout: '', stderr: `Written: ${path}\n` })
  expect(readFileSync(path, 'utf8')).toBe(printed.stdout)
  expect(JSON.parse(printed.stdout)).toMatchObject({
    version: '1.0',
    generated_at: new Date(now).toISOString(),
    trend: { buckets: [{}, {}, {}, {}, {}, {}] },
  })
})

it('writes three CSV files, or all of them to stdout', async () => {
  await check('--export', 'csv', '--output', pathInFolder('health.csv'))
  const files = ['steps', 'models', 'transforms'].map((part) => [
    part,
    readFileSync(pathInFolder(`health_${part}.csv`), 'utf8'),
  ])
  for (const [part, text] of files) await expect(text).toMatchFileSnapshot(golden(`all_${part}.csv`))
  const { stdout } = await check('--export', 'csv', '--output', '-')
  expect(stdout).toBe(files.map(([part, text]) => `# ${part}\r\n${text}`).join('\r\n'))
})

it('reports on one step, one model, one pipeline by its exact name, one tenant and the last hours', async () => {
  const totals = async (...args: string[]) => JSON.parse((await check('--json', ...args)).stdout).totals
  expect(await totals('--step', 'summarise')).toMatchObject({ runs: 6, coercion_total: 12 })
  expect(await totals('--model', 'anthropic/claude')).toMatchObject({ runs: 3 })
  expect(await totals('--step', 'summarise', '--model', 'anthropic/claude')).toMatchObject({ runs: 0 })
  expect(await totals('--since-hours', '3.5')).toMatchObject({ coercion_total: 5 })
  expect(await totals('--pipeline', 'headlines')).toMatchObject({ runs: 34 })
  for (const other of ['headline', 'Headlines', 'Write two headlines'])
    expect(await totals('--pipeline', other)).toMatchObject({ runs: 0 })
  expect(await totals('--tenant', 'unknown')).toMatchObject({ runs: 0 })
  const { steps } = JSON.parse((await check('--json', '--top', '1')).stdout)
  expect(steps).toHaveLength(1)
})

it('goes beside a process that has the store open, and changes nothing', async () => {
  const path = pathInFolder('busy.db')
  const open = await openSqliteStore({ path })
  await addRun(open, 'r', [{ model: 'a/m' }])
  const looked = await runCommand(['health-check', '--json', '--store', `sqlite:${path}`, ...until])
  expect(JSON.parse(looked.stdout).totals.runs).toBe(1)
  await addRun(open, 'r-2', [{ model: 'a/m' }])
  await open.close()
})

it.each([
  [['--trend-buckets', '4'], 'A trend needs a start'],
  [['--trend-buckets', '1', '--since-hours', '2'], 'between 2 and 120'],
  [['--since-hours', '0'], 'above zero'],
  [['--until', 'yesterday'], 'Must be a time'],
  [['--export', 'xml'], 'Allowed choices are json, csv'],
  [['--output', 'page.txt'], 'The page goes to the terminal only'],
  [['--export', 'json', '--output', '/nowhere/at/all.json'], 'could not be written'],
])('refuses %j with a reason', async (args, reason) => {
  const refused = await check(...args)
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toContain(reason)
})
