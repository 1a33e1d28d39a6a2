/** Rules of the original project without a counterpart: what is reported instead is what their pages say. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { findUnneededRule, loadPipeline, ruleNamed, unneededRules } from '../../src/pipeline/index.ts'
import { defineCapability, run } from './support.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'proviso-rules-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it.each(unneededRules)('$id is no rule, and has a page all the same', (rule) => {
  expect([ruleNamed(rule.id), findUnneededRule(rule.id.toLowerCase())]).toEqual([undefined, rule])
})

const refused = unneededRules.filter(({ instead }) => instead !== undefined)

it.each(refused)('$id is refused when the file is read, with its line', async (rule) => {
  const { example, beside = {}, instead } = rule
  for (const [name, text] of Object.entries({ ...beside, 'example.yaml': example }))
    writeFileSync(join(folder, name), text)
  const loaded = await loadPipeline(join(folder, 'example.yaml'))
  const found = loaded.ok ? [] : loaded.issues.filter(({ code }) => code === instead)
  expect(found).not.toEqual([])
  expect(found[0]?.line).toBeGreaterThan(0)
})

it('V-EX1: a function that catches everything does not catch a pause', async () => {
  const fetch = defineCapability({
    capabilityId: 'shop.fetch',
    kind: 'local',
    inputContract: { type: 'object' },
    outputContract: { type: 'string' },
    run: async () => {
      try {
        return await Promise.resolve('tea')
      } catch {
        return 'swallowed'
      }
    },
  })
  const example = findUnneededRule('V-EX1')?.example ?? ''
  const paused = await run(example, () => '', { own: [fetch] })
  expect([paused.status, paused.started]).toEqual(['waiting', ['fetch', 'approve']])
})

it('HITL-NESTED-001: a question in a branch inside a loop is asked, and not skipped', async () => {
  const paused = await run(
    `steps:
  - kind: loop
    name: rounds
    loop:
      max_loops: 2
      on_max_loops: accept
      body:
        - kind: conditional
          name: maybe
          condition: { "==": [{ var: input }, "ask"] }
          branches:
            true: [{ kind: hitl, name: ask, message: "Round {{ iteration }}?" }]
`,
    () => '',
    { input: 'ask' },
  )
  expect([paused.status, paused.started.at(-1)]).toEqual(['waiting', 'rounds#1.maybe/true/ask'])
})
