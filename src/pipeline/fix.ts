/** Mends a pipeline: the edits of one fixer at a time, each looked at again before it counts. */
import type { Edit } from '../base/issue.ts'
import { applyEdits } from './edits.ts'
import { fixerTable } from './fixer-table.ts'
import { matchesAny } from './glob.ts'
import { keepsOthers } from './keeps-others.ts'
import { type LintOptions, lint } from './lint.ts'
import { readYaml } from './read-yaml.ts'
import type { LintIssue } from './rule.ts'

export interface FixOptions extends LintOptions {
  /** Globs of rules that may be mended; all that have a fixer by default. */
  readonly rules?: readonly string[]
  /** How the file is called in issues. */
  readonly name?: string
}

export interface Fixed {
  readonly text: string
  readonly applied: readonly AppliedFix[]
}

export interface AppliedFix {
  readonly rule: string
  readonly step?: string
  readonly title: string
}

/** One fix can make room for another, but not without end. */
const mostRounds = 4

/**
 * The text is returned as it was when nothing could be mended. A fix counts only if the file can still be read, the
 * issue is gone and no other has come.
 */
export function fixText(text: string, options: FixOptions = {}): Fixed {
  const applied: AppliedFix[] = []
  let now = text
  for (let round = 0; round < mostRounds; round++) {
    const before = now
    for (const { rule, title } of fixerTable) {
      if (!matchesAny(rule, options.rules ?? ['*'])) continue
      const done = applyRule(now, rule, options)
      now = done.text
      for (const { step } of done.issues) applied.push({ rule, ...(step !== undefined && { step }), title })
    }
    if (now === before) break
  }
  return { text: now, applied }
}

function applyRule(text: string, rule: string, options: FixOptions): { text: string; issues: LintIssue[] } {
  const before = issuesOf(text, options) ?? []
  const todo = before.filter(({ code, fix }) => code === rule && fix !== undefined)
  if (todo.length === 0) return { text, issues: [] }
  const all = attempt(text, before, { todo, options })
  if (all !== undefined) return { text: all, issues: todo }
  // Together they do not work: the first that works alone makes the text in which the others are looked at again.
  for (const issue of todo) {
    const one = attempt(text, before, { todo: [issue], options })
    if (one === undefined) continue
    const rest = applyRule(one, rule, options)
    return { text: rest.text, issues: [issue, ...rest.issues] }
  }
  return { text, issues: [] }
}

interface Attempt {
  readonly todo: readonly LintIssue[]
  readonly options: FixOptions
}

function attempt(text: string, before: readonly LintIssue[], { todo, options }: Attempt): string | undefined {
  const edits: Edit[] = todo.flatMap(({ fix = [] }) => fix)
  const fixed = applyEdits(text, edits)
  const after = fixed === undefined ? undefined : issuesOf(fixed, options)
  if (fixed === undefined || after === undefined) return undefined
  if (!keepsOthers(text, fixed, new Set(todo.map(({ step }) => step)))) return undefined
  const left = countByKey(before)
  for (const issue of todo) left.set(keyOf(issue), (left.get(keyOf(issue)) ?? 0) - 1)
  for (const [key, count] of countByKey(after)) if (count > (left.get(key) ?? 0)) return undefined
  return fixed
}

function issuesOf(text: string, options: FixOptions): readonly LintIssue[] | undefined {
  const read = readYaml(text, options.name)
  return read.ok ? lint(read.document, options).issues : undefined
}

function countByKey(issues: readonly LintIssue[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const issue of issues) counts.set(keyOf(issue), (counts.get(keyOf(issue)) ?? 0) + 1)
  return counts
}

function keyOf({ code, step = '' }: LintIssue): string {
  return `${code} ${step}`
}
