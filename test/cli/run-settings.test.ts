/** Settings of `proviso.toml` act on JSON run files and on servers, or the command says that they do not. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listening } from '../processes/listening.ts'
import { openLibsql } from '../seams/stores.ts'
import { root, runCommand } from '../support.ts'
import { file, pathInFolder, runFile } from './run-support.ts'

/** Whether the store has the table of the ledger. */
function hasLedger(name: string): boolean {
  const connection = openLibsql(pathInFolder(name))
  const rows = connection.execute("select name from sqlite_master where name = 'correction_ledger'")
  connection.close()
  return rows.length > 0
}

it('a run file keeps the ledger and shows traces where the settings say so', async () => {
  const path = file('settings.json', runFile())
  const run = (name: string, ...set: string[]) =>
    runCommand(['run', path, '--store', `sqlite:${pathInFolder(name)}`, ...set])
  const plain = await run('plain.db')
  expect([plain.code, hasLedger('plain.db')]).toEqual([0, false])
  const ledger = await run('ledger.db', '--set', 'correction_ledger_enabled=true')
  expect([ledger.code, hasLedger('ledger.db')]).toEqual([0, true])
  const loud = await run('loud.db', '--set', 'telemetry.verbose=true')
  expect(loud.stderr).not.toContain('no effect')
})

it('a run file reports settings that have no effect on it', async () => {
  const path = file('unused.json', runFile())
  const done = await runCommand(['run', path, '--set', 'repair.max_attempts=0'])
  expect(done).toMatchObject({ code: 0 })
  expect(done.stderr).toContain(
    'aros.repair.max_attempts has no effect on a JSON run file: set `data.processing` of the nodes',
  )
})

it('a server keeps the ledger where the settings say so, and reports settings that have no effect', async () => {
  const config = file(
    'served.toml',
    '[aros]\ncorrection_ledger_enabled = true\nenable_aop_default = "full"\n',
  )
  const store = `sqlite:${pathInFolder('served.db')}`
  const args = ['serve', '--dev', '--port', '0', '--store', store, '--config', config]
  const child = spawn(process.execPath, [join(root, 'dist/cli/main.js'), ...args], {
    env: { ...process.env, NO_COLOR: '1' },
  })
  const { says, ended } = await listening(child)
  await says('aros.enable_aop_default has no effect on the runs of a server')
  child.kill('SIGTERM')
  await ended
  expect(hasLedger('served.db')).toBe(true)
})
