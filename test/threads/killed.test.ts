/** A process with runs that wait for their thread is killed around every write; the next one runs each of them, in order. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compile } from '../../scripts/compile.mjs'
import type { Task } from './killed-child.ts'

const messages = ['a', 'b', 'c']
/** The long form kills at every point. */
const stride = process.env['PROVISO_LONG'] === '1' ? 1 : 9

let program = ''
let folder = ''
let dispose = () => {}
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-thread-'))
  const compiled = await compile({ child: 'test/threads/killed-child.ts' })
  program = compiled.programs.child
  dispose = compiled.dispose
})
afterAll(() => {
  dispose()
  rmSync(folder, { recursive: true, force: true })
})

async function live(task: Task): Promise<string[]> {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines: string[] = []
  for await (const line of createInterface({ input: child.stdout })) lines.push(line)
  return lines
}

function findWords(lines: readonly string[], first: string): string[] {
  return lines.filter((line) => line.startsWith(first)).map((line) => line.slice(first.length + 1))
}

const toTask = (name: string) => ({
  store: `sqlite:${join(folder, `${name}.db`)}`,
  calls: join(folder, `${name}.txt`),
  messages,
  accepted: [],
})

it('runs every accepted run of a thread once and in order, wherever the process was killed', async () => {
  const [count] = findWords(await live(toTask('whole')), 'points')
  const points = Number(count)
  expect(points).toBeGreaterThan(20)
  const waited: number[] = []
  for (let killAt = stride - 1; killAt < points; killAt += stride) {
    const task = toTask(`killed-${killAt}`)
    const accepted = findWords(await live({ ...task, killAt }), 'accepted')
    waited.push(accepted.length)
    const lines = await live({ ...task, accepted })
    const where = `killed at ${killAt}: ${lines.join(', ')}`
    expect(findWords(lines, 'ended'), where).toEqual(messages.map((message) => `${message} completed`))
    expect(findWords(lines, 'queued'), where).toEqual(['0'])
    const called = readFileSync(task.calls, 'utf8').trimEnd().split('\n')
    // The one that was under way may be called again.
    expect(
      called.filter((message, at) => message !== called[at - 1]),
      where,
    ).toEqual(messages)
  }
  // Some were killed while accepted runs waited.
  expect(Math.max(...waited)).toBeGreaterThan(1)
}, 300_000)
