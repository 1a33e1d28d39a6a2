/** Mends a pipeline: the edits of one fixer at a time, each looked at again before it counts. */
import { applyEdits } from './edits.ts'
import { fixerTable } from './fixer-table.ts'
import { matchesAny } from './glob.ts'
import { keepsOthers } from './keeps-others.ts'
import { type LintOptions, lint } from './lint.ts'
import { readYaml, type YamlDocument } from './read-yaml.ts'
import type { LintIssue } from './rule.ts'

export interface FixOptions extends LintOptions {
  /** Globs of rules that may be mended; all that have a fixer by default. */
  readonly rules?: readonly string[]
  /** How the file is called in issues. */
  readonly name?: string
  /** What is wrong with a file. Default: what the rules find. */
  readonly check?: (document: YamlDocument) => readonly LintIssue[]
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

/** The rules among those named by globs that `fixText` may mend. */
export function mendable(globs: readonly string[] = ['*']): readonly string[] {
  return fixerTable.map(({ rule }) => rule).filter((rule) => matchesAny(rule, globs))
}

/** One fix can make room for another, but not without end. */
const mostRounds = 4

/**
 * The text is returned as it was when nothing could be mended. A fix counts only if the file can still be read, the
 * issue is gone, no other has come, and no other step has changed.
 */
export function fixText(text: string, options: FixOptions = {}): Fixed {
  const look = lookWith(options)
  const applied: AppliedFix[] = []
  let now = text
  for (let round = 0; round < mostRounds; round++) {
    const before = now
    for (const { rule, title } of fixerTable) {
      if (!matchesAny(rule, options.rules ?? ['*'])) continue
      const done = applyRule(now, rule, look)
      now = done.text
      for (const { step } of done.issues) applied.push({ rule, ...(step !== undefined && { step }), title })
    }
    if (now === before) break
  }
  return { text: now, applied }
}

interface Seen {
  readonly document: YamlDocument
  readonly issues: readonly LintIssue[]
}

/** Looks at a text; at the same one only once. */
type Look = (text: string) => Seen | undefined

function lookWith(options: FixOptions): Look {
  const seen = new Map<string, Seen | undefined>()
  const { check = (document) => lint(document, options).issues } = options
  return (text) => {
    if (!seen.has(text)) {
      const read = readYaml(text, options.name)
      seen.set(text, read.ok ? { document: read.document, issues: check(read.document) } : undefined)
    }
    return seen.get(text)
  }
}

function applyRule(text: string, rule: string, look: Look): { text: string; issues: LintIssue[] } {
  const keys = new Set(
    look(text)
      ?.issues.filter(({ code }) => code === rule)
      .map(keyOf),
  )
  return applyKeys(text, keys, look)
}

/** All together; where that does not work, by halves, so that the few that cannot be mended are found quickly. */
function applyKeys(
  text: string,
  keys: ReadonlySet<string>,
  look: Look,
): { text: string; issues: LintIssue[] } {
  const before = look(text)
  const todo = before?.issues.filter((issue) => issue.fix !== undefined && keys.has(keyOf(issue))) ?? []
  if (!before || todo.length === 0) return { text, issues: [] }
  const all = attempt(text, before, { todo, look })
  if (all !== undefined) return { text: all, issues: todo }
  const left = [...new Set(todo.map(keyOf))]
  if (left.length === 1) return { text, issues: [] }
  const half = left.length >> 1
  const first = applyKeys(text, new Set(left.slice(0, half)), look)
  const second = applyKeys(first.text, new Set(left.slice(half)), look)
  return { text: second.text, issues: [...first.issues, ...second.issues] }
}

interface Attempt {
  readonly todo: readonly LintIssue[]
  readonly look: Look
}

function attempt(text: string, before: Seen, { todo, look }: Attempt): string | undefined {
  const fixed = applyEdits(
    text,
    todo.flatMap(({ fix = [] }) => fix),
  )
  const after = fixed === undefined ? undefined : look(fixed)
  if (fixed === undefined || after === undefined) return undefined
  const about = new Set(todo.flatMap(({ step, alsoChanges = [] }) => [step, ...alsoChanges]))
  if (!keepsOthers(before.document, after.document, about)) return undefined
  const left = countByKey(before.issues)
  for (const issue of todo) left.set(keyOf(issue), (left.get(keyOf(issue)) ?? 0) - 1)
  for (const [key, count] of countByKey(after.issues)) if (count > (left.get(key) ?? 0)) return undefined
  return fixed
}

function countByKey(issues: readonly LintIssue[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const issue of issues) counts.set(keyOf(issue), (counts.get(keyOf(issue)) ?? 0) + 1)
  return counts
}

function keyOf({ code, step = '' }: LintIssue): string {
  return `${code} ${step}`
}
