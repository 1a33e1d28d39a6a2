/** What readers cost that take nothing: measured in a process of its own. */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compile } from '../../scripts/compile.mjs'
import type { StalledReport, StalledTask } from './stalled.ts'

let program = ''
let dispose = () => {}
beforeAll(async () => {
  const compiled = await compile({ stalled: 'test/streams/stalled.ts' })
  program = compiled.programs.stalled
  dispose = compiled.dispose
})
afterAll(() => dispose())

async function measure(task: StalledTask): Promise<StalledReport> {
  const child = spawn(process.execPath, ['--expose-gc', program, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return JSON.parse(await text(child.stdout))
}

const mb = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MB`

it('twenty readers that stall on a run of 60 MB cost what their sockets hold, and readers that continue miss nothing', async () => {
  const task = { readers: 20, events: 600, eventBytes: 100 * 1024, wakingUp: 3 }
  const report = await measure(task)
  console.log(
    `20 stalled readers of 60 MB: ${mb(report.buffered)} in sockets, ${mb(report.held)} held, ${mb(report.resident)} more resident`,
  )
  expect(report).toMatchObject({ openWhileStalled: 20, whole: 3, openAtEnd: 0 })
  // One frame each that the kernel did not take, and a little for the stream itself; all events would be 1,200 MB.
  expect(report.buffered).toBeLessThan(20 * 2 * task.eventBytes)
  expect(report.held).toBeLessThan(20 * 3 * task.eventBytes)
  expect(report.resident).toBeLessThan(120 * 1024 * 1024)
}, 120_000)
