/** RAO contracts on the command line: the proof says what is guarded, a run that waits says why, and a reply ends it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, expect, it } from 'vitest'
import { requireBuild, runCommand } from '../../support.ts'

beforeAll(requireBuild)
const folders = new Set<string>()
afterEach(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  folders.clear()
})

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const said = {
  primary_output: 'Tea is warm',
  confidence: 0.6,
  confidence_type: 'verbalized',
  escalate: false,
  reasoning: 'Steam is in the picture',
}

function file(rao: object = {}, selector: object = { capabilityId: 'write' }) {
  const cwd = mkdtempSync(join(tmpdir(), 'proviso-rao-'))
  folders.add(cwd)
  const run = {
    envelope: {
      objective: 'Write one line about tea',
      outputContract: { schema: text },
      policies: { runtime: { rao: [{ id: 'careful', selector, autoApproveAbove: 0.95 }] } },
    },
    capabilities: [
      {
        capabilityId: 'write',
        kind: 'scripted',
        inputContract: { type: 'object' },
        outputContract: text,
        rao,
        settings: { script: [{ text: JSON.stringify(said) }] },
      },
    ],
  }
  writeFileSync(join(cwd, 'run.json'), JSON.stringify(run))
  return { cwd, store: `sqlite:${join(cwd, 'runs.db')}` }
}

it('prove shows which answers are under which contract, and where it comes from', async () => {
  const { cwd } = file({ suppressBelow: 0.2, reviewLow: 0.2 })
  const page = await runCommand(['prove', 'run.json'], { cwd })
  expect(page.stdout).toContain('Under a RAO contract')
  expect(page.stdout).toMatch(
    /by write: approved above 0.95, suppressed below 0.5, else reviewed\s+from policy:careful, capability:write/,
  )
  const json = await runCommand(['prove', 'run.json', '--json'], { cwd })
  expect(JSON.parse(json.stdout)).toMatchObject({
    accepted: true,
    rao: [{ capabilityId: 'write', from: ['policy:careful', 'capability:write'] }],
  })
})

it('prove rejects a selector that names what is not there, with what was meant', async () => {
  const { cwd } = file({}, { capabilityId: 'wrote' })
  const page = await runCommand(['prove', 'run.json'], { cwd })
  expect(page.code).toBe(3)
  expect(page.stdout).toContain('Did you mean "write"?')
})

it('a run that waits says what was decided on what, and a reply ends it', async () => {
  const { cwd, store } = file()
  const waiting = await runCommand(['run', 'run.json', '--store', store], { cwd })
  expect(waiting.code).toBe(6)
  const shown = waiting.stdout + waiting.stderr
  expect(shown).toContain(
    'rao: human_review, confidence 0.6 (verbalized); approved above 0.95, suppressed below 0.5',
  )
  expect(shown).toContain('reasoning: Steam is in the picture')
  const listed = await runCommand(['asks', '--store', store, '--json'], { cwd })
  const [ask] = JSON.parse(listed.stdout)
  expect(ask).toMatchObject({ rao: { decision: 'human_review', confidence: 0.6 } })
  const reply = ['reply', ask.requestId, 'approve', '--store', store, '--file', 'run.json']
  const ended = await runCommand(reply, { cwd })
  expect(ended.stdout + ended.stderr).toContain('Tea is warm')
  expect(ended.code).toBe(0)
})
