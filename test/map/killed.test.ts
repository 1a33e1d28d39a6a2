/** A map on SQLite whose process is killed with SIGKILL in the middle, again and again: every item is done once. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compile } from '../../scripts/compile.mjs'
import { openSqliteStore } from '../../src/adapters/stores/sqlite.ts'
import type { JournalEvent } from '../../src/domain/event.ts'
import { verifyHistory } from '../../src/engine/verify.ts'

const long = process.env['PROVISO_LONG'] === '1'
const items = long ? 10_000 : 300
const kills = 5

let program = ''
let dispose = () => {}
beforeAll(async () => {
  const compiled = await compile({ child: 'test/map/child.ts' })
  program = compiled.programs.child
  dispose = compiled.dispose
})
afterAll(() => dispose())

const folder = mkdtempSync(join(tmpdir(), 'proviso-map-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts a process; kills it after so many calls, or lets it end. Returns the last line it wrote. */
async function live(task: object, killAfter?: number): Promise<string> {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let calls = 0
  let last = ''
  for await (const line of createInterface({ input: child.stdout })) {
    last = line
    if (line.startsWith('called') && ++calls === killAfter) child.kill('SIGKILL')
  }
  return last
}

it(
  `a map of ${items} items killed five times: every item once`,
  async () => {
    const effects = join(folder, 'effects')
    const path = join(folder, 'runs.db')
    const task = { store: `sqlite:${path}`, effects, items }
    for (let kill = 0; kill < kills; kill++) await live(task, Math.floor(items / (kills + 1)))
    expect(await live(task)).toBe(`ended completed ${items} true`)

    const lines = readFileSync(effects, 'utf8').trimEnd().split('\n')
    const values = lines.map((line) => Number(line.split(' ')[1])).sort((a, b) => a - b)
    expect(values).toEqual(Array.from({ length: items }, (_, index) => index))

    const store = await openSqliteStore({ path, readOnly: true })
    try {
      const events: JournalEvent[] = []
      for (let page = await store.read('many', 0, 5_000); page.length > 0; ) {
        events.push(...page)
        page = await store.read('many', events.length, 5_000)
      }
      expect(verifyHistory(events)).toEqual([])
      const starts = events.filter(({ type }) => type === 'attempt_start')
      // Only calls that a kill has caught are repeated: at most as many as were under way.
      expect(starts.length - items).toBeLessThanOrEqual(kills * 16)
    } finally {
      await store.close()
    }
  },
  long ? 10 * 60_000 : 2 * 60_000,
)
