/** The anchor stays small, and survives lines that were cut off. */
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Anchor, openAnchor, readAnchor } from './anchor.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-anchor-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const head = (n: number) => n.toString(16).padStart(64, '0')
const commit = (n: number) => ({ n, at: n, runs: n, events: 3 * n, head: head(n) })
const open = (path: string, n: number) =>
  openAnchor(path, { storeId: 'store', newest: commit(n), mode: 0o600 })

function writeCommits(anchor: Anchor, from: number, to: number): void {
  for (let n = from; n <= to; n++) anchor.write({ ...commit(n), changed: { [`run-${n}`]: 3 } })
}

it('begins a new file when it has grown, and keeps the lines before', () => {
  const path = join(folder, 'grown')
  const anchor = open(path, 0)
  writeCommits(anchor, 1, 10_000)
  anchor.close()
  expect(existsSync(`${path}-old`)).toBe(true)
  expect(statSync(path).size + statSync(`${path}-old`).size).toBeLessThan(1_100_000)
  const read = readAnchor(path)
  expect(read).toMatchObject({ storeId: 'store', last: commit(10_000) })
  expect(read?.lines.length).toBeGreaterThan(3_000)
})

it('is read up to the last whole line, and continued after a line that was cut off', () => {
  const path = join(folder, 'cut')
  const anchor = open(path, 0)
  writeCommits(anchor, 1, 5)
  anchor.close()
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, -40))
  expect(readAnchor(path)?.last).toMatchObject(commit(4))
  appendFileSync(path, '\u0000\u0000')
  const again = open(path, 5)
  writeCommits(again, 6, 6)
  again.close()
  expect(readAnchor(path)?.last).toMatchObject(commit(6))
  expect(readAnchor(join(folder, 'missing'))).toBe(undefined)
})
