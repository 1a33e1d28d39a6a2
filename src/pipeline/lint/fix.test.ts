/**
 * Fixing a file of `test/cases/lint` yields the file in `test/cases/lint/fixed`; `-u` writes new ones, to be
 * reviewed.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { compilePipeline } from '../compile/compile-pipeline.ts'
import { parsePipeline } from '../parse/parse-pipeline.ts'
import { unifiedDiff } from '../text/edits.ts'
import { describeSourceIssue } from '../text/source.ts'
import { readYaml } from '../yaml/read-yaml.ts'
import { fixText } from './fix.ts'
import { lint } from './lint.ts'
import type { LintIssue } from './rule.ts'

const folder = join(import.meta.dirname, '../../../test/cases/lint')
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))

const issuesOf = (text: string): readonly LintIssue[] => {
  const read = readYaml(text)
  if (!read.ok) throw new Error(JSON.stringify(read.issues))
  return lint(read.document).issues
}

describe('pipelines in different styles', () => {
  it('are at least twenty with V-A8 or V-C1', () => {
    const found = files.filter((name) =>
      issuesOf(readFileSync(join(folder, name), 'utf8')).some(
        ({ code }) => code === 'V-A8' || code === 'V-C1',
      ),
    )
    expect(found.length).toBeGreaterThanOrEqual(20)
  })

  it.each(files)('%s is fixed without touching anything else', async (name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    const { text: fixed, applied } = fixText(text, { name })
    expect(issuesOf(fixed).filter(({ severity }) => severity !== 'note')).toEqual([])
    expect(applied.length).toBeGreaterThan(0)
    // Fixes keep the original text in its order: they insert text, set true to false, or remove what a rule
    // names.
    expect(
      isWoven(
        text.replaceAll(/\btrue\b|\bfalse\b|previous_step(\.output)?|uper|~|(context\.)?scratchpad\.?/g, ''),
        fixed,
      ),
    ).toBe(true)
    await expect(unifiedDiff(name, text, fixed)).toMatchFileSnapshot(join(folder, 'fixed', `${name}.diff`))
  })

  it.each(files)('%s compiles after the fix', (name) => {
    const read = readYaml(fixText(readFileSync(join(folder, name), 'utf8')).text, name)
    const parsed = read.ok ? parsePipeline(read.document) : read
    const result = parsed.ok ? compilePipeline(parsed.pipeline) : parsed
    expect(result.ok ? [] : result.issues.map(describeSourceIssue)).toEqual([])
  })

  it.each(files)('%s is left alone the second time', (name) => {
    const { text: fixed } = fixText(readFileSync(join(folder, name), 'utf8'))
    expect(fixText(fixed)).toEqual({ text: fixed, applied: [] })
  })
})

/** Are all characters of one text in the other, in their order? (subsequence) */
function isWoven(part: string, whole: string): boolean {
  let at = 0
  for (const char of part) {
    at = whole.indexOf(char, at) + 1
    if (at === 0) return false
  }
  return true
}
