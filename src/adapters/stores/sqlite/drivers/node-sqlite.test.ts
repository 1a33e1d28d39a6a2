import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../open-store.ts'
import { storeOperations } from '../../store-operations.ts'
import { lockWriter } from '../sqlite.ts'
import { openNodeSqlite } from './node-sqlite.ts'

const isPresent = process.getBuiltinModule?.('node:sqlite') !== undefined
let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-node-sqlite-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it.runIf(!isPresent)('a Node without node:sqlite is named, with what to use instead', async () => {
  await expect(openStore(`sqlite+node:${join(folder, 'absent.db')}`)).rejects.toMatchObject({
    code: 'option/invalid',
    message: expect.stringContaining(`Node ${process.versions.node} does not have it`),
    hint: expect.stringContaining('Use Node 22.16 or newer, or sqlite:PATH'),
  })
})

describe.runIf(isPresent)('node:sqlite', () => {
  it('a store that one driver wrote is continued, backed up and inspected with the other', async () => {
    const [written, path] = [join(folder, 'libsql.db'), join(folder, 'node.db')]
    await (await openStore(`sqlite:${written}`)).close()
    // A copy, because a process uses one driver for a file.
    copyFileSync(written, path)
    const store = await openStore(`sqlite+node:${path}`)
    await store.probe?.()
    expect(await store.runs({})).toEqual([])
    await store.close()
    const operations = await storeOperations(`sqlite+node:${path}`)
    const { manifest } = await operations.backup(`sqlite+node:${path}`, { to: join(folder, 'copy.db') })
    expect(manifest).toMatchObject({ kind: 'sqlite', runs: 0 })
    const restored = `sqlite+node:${join(folder, 'restored.db')}`
    await operations.restore(restored, { from: join(folder, 'copy.db') })
    const findings = await operations.inspect(restored)
    expect(findings.filter(({ status }) => status === 'fail')).toEqual([])
  })

  it('a process cannot use two drivers for one file', async () => {
    const path = join(folder, 'two.db')
    await (await openStore(`sqlite+node:${path}`)).close()
    await expect(openStore(`sqlite:${path}`)).rejects.toThrow(/this process has opened it with node/)
  })

  it('one process writes, whichever driver the second one uses', () => {
    const path = join(folder, 'locked.db')
    const unlock = lockWriter(path, openNodeSqlite)
    expect(() => lockWriter(path, openNodeSqlite)).toThrow(/is writing to/)
    unlock()
    lockWriter(path, openNodeSqlite)()
  })

  it('values come back as they were: NUL, lone surrogates, nulls and large numbers', () => {
    const connection = openNodeSqlite(join(folder, 'values.db'))
    connection.execute('create table t (a text, b text, c, d)')
    const parameters = ['a\0b', '\ud800', null, 2 ** 53]
    connection.execute('insert into t values (?, ?, ?, ?)', parameters)
    expect(connection.execute('select a, b, c, d from t', [], true)).toEqual([
      { a: 'a\0b', b: '\ud800', c: null, d: 2 ** 53 },
    ])
    connection.close()
  })
})
