/** The command says when a text stands in for an answer, and never takes an apology for one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serveModel } from '../../models/serve-model.ts'
import { requireBuild, runCommand } from '../../support.ts'

beforeAll(requireBuild)
const directory = mkdtempSync(join(tmpdir(), 'proviso-degraded-'))
afterAll(() => rmSync(directory, { recursive: true }))

async function run(text: string, command: readonly string[] = []) {
  const server = await serveModel([{ text }])
  const file = join(directory, 'summary.yaml')
  writeFileSync(
    file,
    `
name: summary
agents:
  writer:
    model: "compatible/${server.url}#m"
    output_schema: { type: object, properties: { summary: { type: string } }, required: [summary] }
steps:
  - name: write
    kind: step
    uses: agents.writer
    processing: { structured_output: auto, fallback: { degrade_to_string: true } }
`,
  )
  const store = ['--store', `sqlite:${join(directory, 'runs.db')}`]
  const done = await runCommand(['run', file, '--input', 'tea', ...store, ...command])
  return { ...done, store, seen: server.seen }
}

it('a degraded answer ends with 0, and the summary and `show` say what it is', async () => {
  const { code, stdout, stderr, store } = await run('Tea is warm.')
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({ summary: 'Tea is warm.' })
  expect(stderr).toContain('degraded: the text of "write" replaces the answer; satisfaction 0')
  const runId = /run (\S+?),/.exec(stderr)?.[1] ?? ''
  expect((await runCommand(['show', runId, ...store])).stdout).toMatch(
    /degraded +a text stands in for the answer of write/,
  )
})

it('an apology ends with 3 and no answer', async () => {
  const { code, stdout, stderr, seen } = await run("I'm sorry, but I can't help with that.")
  expect(code).toBe(3)
  expect(stdout).toBe('')
  expect(stderr).toContain('attempt/refused')
  expect(seen).toHaveLength(1)
})
