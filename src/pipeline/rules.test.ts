/** Every rule is tested by its own examples; what it says of the bad one is kept in `test/cases/lint/rules`. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lint } from './lint.ts'
import { readYaml } from './read-yaml.ts'
import { reportText } from './report-text.ts'
import { ruleTable } from './rule-table.ts'

const folder = join(import.meta.dirname, '../../test/cases/lint/rules')

const issuesOf = (text: string, name: string) => {
  const read = readYaml(text, name)
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  return lint(read.document).issues
}

describe.each(ruleTable.map((rule) => [rule.id, rule] as const))('%s', (id, { good, bad, severity }) => {
  it('is silent on its good example, and so are the others', () => {
    expect(issuesOf(good, 'good.yaml')).toEqual([])
  })

  it('speaks up on its bad example, and nobody else does', async () => {
    const issues = issuesOf(bad, 'bad.yaml')
    expect(new Set(issues.map(({ code }) => code))).toEqual(new Set([id]))
    expect(issues.some((issue) => issue.severity === severity)).toBe(true)
    await expect(reportText(issues)).toMatchFileSnapshot(join(folder, `${id}.txt`))
  })
})

it('names every rule once', () => {
  const ids = ruleTable.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
})
