/** Promises of `proviso prune`, tested on the built file with a SQLite store. */
import { expect, it } from 'vitest'
import { runCommand } from '../support.ts'
import { approved, file, pathInFolder, runFile } from './run-support.ts'

let stores = 0

/** A store with one run that is over and one that waits. */
async function filled() {
  const store = `sqlite:${pathInFolder(`prune-${++stores}.db`)}`
  const run = (name: string, content: unknown) =>
    runCommand(['run', file(`prune-${stores}-${name}.json`, content), '--run-id', name, '--store', store])
  expect((await run('done', runFile())).code).toBe(0)
  expect((await run('waits', runFile({ envelope: approved }))).code).toBe(6)
  const prune = (args: readonly string[], stdin = '') =>
    runCommand(['prune', '--older-than', '0s', '--store', store, ...args], { stdin })
  const left = async () => {
    const runs = await runCommand(['runs', '--json', '--store', store])
    return JSON.parse(runs.stdout).map(({ runId }: { runId: string }) => runId)
  }
  return { store, prune, left }
}

it('prune says what would go, and deletes nothing when it only looks', async () => {
  const { prune, left } = await filled()
  const looked = await prune(['--dry-run', '--json'])
  expect(looked.code).toBe(0)
  expect(JSON.parse(looked.stdout)).toMatchObject({ runs: 1, values: 0, dryRun: true })
  expect(looked.stderr).toMatch(/Would delete: 1 run with \d+ events, and 0 large values/)
  expect((await left()).length).toBe(2)
})

it('prune asks, deletes on yes alone, and is refused without an answer', async () => {
  const { prune, left } = await filled()
  const unanswered = await prune([])
  expect(unanswered).toMatchObject({ code: 2, stdout: '' })
  expect(unanswered.stderr).toContain('Pass --yes')
  const no = await prune([], 'n\n')
  expect(no.code).toBe(0)
  expect(no.stderr).toContain('Nothing was deleted')
  expect((await left()).length).toBe(2)
  const yes = await prune([], 'y\n')
  expect(yes.code).toBe(0)
  expect(yes.stderr).toContain('Deleted: 1 run')
  expect(await left()).toEqual(['waits'])
})

it('prune with --yes does not ask, keeps other tenants and young runs, and has nothing left to do', async () => {
  const { prune, left, store } = await filled()
  const other = await prune(['--yes', '--tenant', 'acme'])
  expect(other.stderr).toContain('Nothing to delete')
  const young = await runCommand(['prune', '--older-than', '1h', '--yes', '--store', store])
  expect(young.stderr).toContain('Nothing to delete')
  const gone = await prune(['--yes', '--json'])
  expect(JSON.parse(gone.stdout)).toMatchObject({ runs: 1, dryRun: false })
  expect(await left()).toEqual(['waits'])
  expect(JSON.parse((await prune(['--yes', '--json'])).stdout)).toMatchObject({ runs: 0, events: 0 })
})

it('prune refuses an invalid time, and a store that is not there', async () => {
  const wrong = await runCommand(['prune', '--older-than', '30', '--store', 'sqlite:none.db'])
  expect(wrong.code).toBe(2)
  expect(wrong.stderr).toContain('30d')
  expect((await runCommand(['prune', '--older-than', '1d', '--store', 'sqlite:none.db'])).code).toBe(2)
})
