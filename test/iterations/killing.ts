/** Runs a map or a loop in a process that is killed with SIGKILL again and again, and checks that every call had its effect once. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect } from 'vitest'
import { compile } from '../../scripts/compile.mjs'
import { openStore } from '../../src/adapters/stores/open-store.ts'
import type { JournalEvent } from '../../src/index.ts'
import { verifyHistory } from '../seams/engine.ts'
import { type Task, toRunId } from './support.ts'

let program = ''
let folder = ''

/** Compiles the program that is killed; `folder()` is a temporary one. */
export function useKilledProcesses(): { readonly folder: () => string } {
  let dispose = () => {}
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'proviso-map-'))
    const compiled = await compile({ child: 'test/iterations/child.ts' })
    program = compiled.programs.child
    dispose = compiled.dispose
  })
  afterAll(() => {
    dispose()
    rmSync(folder, { recursive: true, force: true })
  })
  return { folder: () => folder }
}

/** Starts a process; kills it after so many calls, or lets it end. Returns the last line it wrote. */
async function live(task: Task, killAfter?: number): Promise<string> {
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

/** `underWay`: calls that one kill may catch. */
export async function expectOnceDespiteKills(
  task: Task,
  { kills, underWay }: { readonly kills: number; readonly underWay: number },
): Promise<void> {
  const { items, shape, store: address } = task
  for (let kill = 0; kill < kills; kill++) await live(task, Math.floor(items / (kills + 1)))
  expect(await live(task)).toBe('ended completed true')

  const lines = readFileSync(task.effects, 'utf8').trimEnd().split('\n')
  const values = lines.map((line) => Number(line.split(' ')[1])).sort((a, b) => a - b)
  expect(values).toEqual(Array.from({ length: items }, (_, index) => index))

  const store = await openStore(address, address.startsWith('sqlite:') ? { readOnly: true } : {})
  try {
    const events: JournalEvent[] = []
    for (let page = await store.read(toRunId(shape), 0, 5_000); page.length > 0; ) {
      events.push(...page)
      page = await store.read(toRunId(shape), events.length, 5_000)
    }
    expect(verifyHistory(events)).toEqual([])
    const starts = events.filter(({ type }) => type === 'attempt_start')
    // Only calls that a kill has caught are repeated: at most as many as were under way.
    expect(starts.length).toBeGreaterThanOrEqual(items)
    expect(starts.length - items).toBeLessThanOrEqual(kills * underWay)
    const iterations = events.filter(({ type }) => type === 'iteration_end')
    expect(iterations).toHaveLength(items)
  } finally {
    await store.close()
  }
}
