/** Every rule can be switched off in the file, by a baseline and by a profile, and is listed in SARIF with its help. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadPipeline } from '../parse/load-pipeline.ts'
import { reportSarif } from '../report/report-issues.ts'
import { toPosition } from '../text/source.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import { nodeAt } from '../yaml/yaml-tree.ts'
import { type LintOptions, lint } from './lint.ts'
import type { Rule } from './rule.ts'
import { ruleTable } from './rule-table.ts'
import { compareWithBaseline, createBaseline } from './suppress.ts'
import { seeImports } from './validate.ts'

const work = mkdtempSync(join(tmpdir(), 'proviso-switched-off-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

async function look({ beside = {} }: Rule, text: string, more: LintOptions = {}) {
  for (const [name, content] of Object.entries({ ...beside, 'example.yaml': text }))
    writeFileSync(join(work, name), content)
  const file = join(work, 'example.yaml')
  const loaded = await loadPipeline(file)
  const imports = loaded.ok ? await seeImports(loaded.pipeline, file) : new Map()
  const read = readYaml(text, 'example.yaml')
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  const { source, root } = read.document
  return { ...lint(read.document, { imports, ...more }), source, root }
}

/** The bad example with a comment after the first line of the subject of each issue: a step, an agent or an import. */
async function commented(rule: Rule): Promise<string> {
  const { issues, source, root } = await look(rule, rule.bad)
  const locations = new Set(
    issues.map(({ line, pointer }) =>
      pointer === undefined ? line : toPosition(source, nodeAt(root, pointer).node.range[0]).line,
    ),
  )
  const comment = (at: number) => (locations.has(at) ? ` # proviso: ignore ${rule.id}` : '')
  return rule.bad
    .split('\n')
    .map((line, index) => line + comment(index + 1))
    .join('\n')
}

describe.each(ruleTable.map((rule) => [rule.id, rule] as const))('%s', (id, rule) => {
  it('is switched off by the file as a whole', async () => {
    const { issues, suppressed } = await look(rule, `${rule.bad}meta: { suppress_rules: [${id}] }\n`)
    expect(issues.filter(({ code }) => code === id)).toEqual([])
    expect(suppressed).toBeGreaterThan(0)
  })

  it('is switched off by a comment where it speaks up', async () => {
    const { issues, suppressed } = await look(rule, await commented(rule))
    expect(issues.filter(({ code }) => code === id)).toEqual([])
    expect(suppressed).toBeGreaterThan(0)
  })

  it('is switched off or made worse by a profile', async () => {
    const off = await look(rule, rule.bad, { profile: [[id, 'off']] })
    expect(off.issues.filter(({ code }) => code === id)).toEqual([])
    const strict = await look(rule, rule.bad, { profile: [['*', 'error']] })
    expect(new Set(strict.issues.map(({ severity }) => severity))).toEqual(new Set(['error']))
  })

  it('is left out by a baseline that knows it', async () => {
    const { issues } = await look(rule, rule.bad)
    expect(compareWithBaseline(issues, createBaseline(issues))).toMatchObject({ added: [], gone: 0 })
    expect(compareWithBaseline(issues, { version: 1, known: [] }).added).toEqual(issues)
  })

  it('is in SARIF, with its help and its place', async () => {
    const { issues, source } = await look(rule, rule.bad)
    const report = reportSarif(issues, { sources: [source], version: '1.2.3' })
    const [run] = (report as unknown as { runs: SarifRun[] }).runs
    const result = run?.results[0]
    expect(result).toMatchObject({ ruleId: id, locations: [{ physicalLocation: { region: {} } }] })
    expect(run?.tool.driver.rules[result?.ruleIndex ?? -1]).toMatchObject({
      id,
      shortDescription: { text: rule.title },
      help: { text: rule.help },
    })
  })
})

interface SarifRun {
  readonly results: readonly { readonly ruleIndex: number }[]
  readonly tool: { readonly driver: { readonly rules: readonly unknown[] } }
}
