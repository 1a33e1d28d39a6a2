/** Files that vanish are noticed at the next check, also while the folder seems to be unchanged. */
import { mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { watchFiles } from './watch-files.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-watch-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A second later, so that the folder counts as settled at once. */
const clock = { now: () => Date.now() + 1_000 }

function makeFiles(name: string): string {
  const path = join(folder, name)
  writeFileSync(path, 'database')
  writeFileSync(`${path}-wal`, 'log')
  return path
}

it('notices a deleted log', () => {
  const path = makeFiles('deleted')
  const files = watchFiles(path, clock)
  files.check()
  files.check()
  rmSync(`${path}-wal`)
  expect(() => files.check()).toThrow('deleted-wal was deleted')
})

it('notices a replaced file although the times of its folder were put back', () => {
  const path = makeFiles('replaced')
  // In whole seconds, because they cannot be put back more exactly.
  const restoreTimes = () => utimesSync(folder, 1_000, 1_000)
  restoreTimes()
  const files = watchFiles(path, clock)
  files.check()
  writeFileSync(`${path}-copy`, 'database')
  renameSync(`${path}-copy`, path)
  restoreTimes()
  expect(() => files.check()).toThrow('replaced was replaced')
})

it('accepts the original file when it is back', () => {
  const path = makeFiles('back')
  const files = watchFiles(path, clock)
  files.check()
  renameSync(path, `${path}-away`)
  expect(() => files.check()).toThrow('was deleted')
  renameSync(`${path}-away`, path)
  expect(() => files.check()).not.toThrow()
})

it('watches the files behind a link, whose log is beside the file itself', () => {
  const path = makeFiles('real')
  const link = join(folder, 'link')
  symlinkSync(path, link)
  const files = watchFiles(link, clock)
  files.check()
  rmSync(`${path}-wal`)
  expect(() => files.check()).toThrow('real-wal was deleted')
})
