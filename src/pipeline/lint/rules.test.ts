/** Tests every rule on its own examples; the reports on the bad ones are kept in `test/cases/lint/rules`. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { loadPipeline } from '../parse/load-pipeline.ts'
import { reportText } from '../report/report-issues.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import { type LintOptions, lint } from './lint.ts'
import { ruleTable } from './rule-table.ts'
import { seeImports } from './validate.ts'

const folder = join(import.meta.dirname, '../../../test/cases/lint/rules')
const work = mkdtempSync(join(tmpdir(), 'proviso-rules-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

const issuesOf = (text: string, name: string, options: LintOptions) => {
  const read = readYaml(text, name)
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  return lint(read.document, options).issues
}

/** Writes the files that an example imports. */
async function importsOf(text: string, beside: Readonly<Record<string, string>>): Promise<LintOptions> {
  for (const [name, content] of Object.entries(beside)) writeFileSync(join(work, name), content)
  const file = join(work, 'example.yaml')
  writeFileSync(file, text)
  const loaded = await loadPipeline(file)
  return loaded.ok ? { imports: await seeImports(loaded.pipeline, file) } : {}
}

describe.each(ruleTable.map((rule) => [rule.id, rule] as const))('%s', (id, rule) => {
  const { good, bad, severity, beside = {} } = rule

  it('is silent on its good example, and so are the others', async () => {
    expect(issuesOf(good, 'good.yaml', await importsOf(good, beside))).toEqual([])
  })

  it('reports its bad example, and no other rule does', async () => {
    const issues = issuesOf(bad, 'bad.yaml', await importsOf(bad, beside))
    expect(new Set(issues.map(({ code }) => code))).toEqual(new Set([id]))
    expect(issues.some((issue) => issue.severity === severity)).toBe(true)
    await expect(reportText(issues)).toMatchFileSnapshot(join(folder, `${id}.txt`))
  })
})

it('names every rule once', () => {
  const ids = ruleTable.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})
