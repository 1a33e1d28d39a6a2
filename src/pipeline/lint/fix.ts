/** Fixes a pipeline: applies the edits of one fixer at a time and lints the result again before accepting it. */

import { canonicalJson } from '../../base/canonical.ts'
import type { Json } from '../../base/json.ts'
import { applyEdits } from '../text/edits.ts'
import { readYaml, type YamlDocument } from '../yaml/read-yaml.ts'
import { plainValue, type YamlNode } from '../yaml/yaml-tree.ts'
import { matchesAny } from './glob.ts'
import { type LintOptions, lint } from './lint.ts'
import type { LintIssue } from './rule.ts'
import { fixableRules } from './rule-table.ts'
import { type LintStep, lintView, nestingKeys } from './view/lint-view.ts'

export interface FixOptions extends LintOptions {
  /** Globs of rules to fix. Default: all rules that have a fixer. */
  readonly rules?: readonly string[]
  /** Name of the file in issues. */
  readonly name?: string
  /** Finds the issues of a file. Default: lints it. */
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

/** Returns the rules that match the globs and have a fixer. */
export function findFixableRules(globs: readonly string[] = ['*']): readonly string[] {
  return fixableRules.map(({ id }) => id).filter((id) => matchesAny(id, globs))
}

/** Limit on passes over the fixers: one fix can enable another, but the loop must end. */
const mostRounds = 4

/**
 * Returns the text unchanged when nothing could be fixed. A fix is accepted only if the file is still
 * readable, the issue is gone, no new issue appears, and no other step changes.
 */
export function fixText(text: string, options: FixOptions = {}): Fixed {
  const look = lookWith(options)
  const applied: AppliedFix[] = []
  let now = text
  for (let round = 0; round < mostRounds; round++) {
    const before = now
    for (const { id: rule, fixer } of fixableRules) {
      if (!matchesAny(rule, options.rules ?? ['*'])) continue
      const done = applyRule(now, rule, look)
      now = done.text
      for (const { step } of done.issues)
        applied.push({ rule, ...(step !== undefined && { step }), title: fixer.title })
    }
    if (now === before) break
  }
  return { text: now, applied }
}

interface Seen {
  readonly document: YamlDocument
  readonly issues: readonly LintIssue[]
}

/** Reads and checks a text; memoised by text. */
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
      .map(toKey),
  )
  return applyKeys(text, keys, look)
}

/** Applies all fixes at once; if that is rejected, bisects, so that the few that cannot be fixed are found quickly. */
function applyKeys(
  text: string,
  keys: ReadonlySet<string>,
  look: Look,
): { text: string; issues: LintIssue[] } {
  const before = look(text)
  const todo = before?.issues.filter((issue) => issue.fix !== undefined && keys.has(toKey(issue))) ?? []
  if (!before || todo.length === 0) return { text, issues: [] }
  const all = attempt(text, before, { todo, look })
  if (all !== undefined) return { text: all, issues: todo }
  const left = [...new Set(todo.map(toKey))]
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
  for (const issue of todo) left.set(toKey(issue), (left.get(toKey(issue)) ?? 0) - 1)
  for (const [key, count] of countByKey(after.issues)) if (count > (left.get(key) ?? 0)) return undefined
  return fixed
}

function countByKey(issues: readonly LintIssue[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const issue of issues) counts.set(toKey(issue), (counts.get(toKey(issue)) ?? 0) + 1)
  return counts
}

function toKey({ code, step = '' }: LintIssue): string {
  return `${code} ${step}`
}

// Checks that a fix changes only the steps it is about: text shared through an anchor would change other
// steps too.

/** `about` holds the labels of the steps that the fix declares to change. */
function keepsOthers(
  before: YamlDocument,
  after: YamlDocument,
  about: ReadonlySet<string | undefined>,
): boolean {
  if (besideSteps(before.root) !== besideSteps(after.root)) return false
  const there = new Map<string, number>()
  for (const step of lintView(after).steps) {
    const own = ownValue(step)
    there.set(own, (there.get(own) ?? 0) + 1)
  }
  return lintView(before)
    .steps.filter((step) => !about.has(step.label))
    .every((step) => {
      const own = ownValue(step)
      const count = there.get(own) ?? 0
      there.set(own, count - 1)
      return count > 0
    })
}

/** The value of a step without the steps inside it, which are compared separately. */
function ownValue({ node }: LintStep): string {
  return without(node, nestingKeys)
}

function besideSteps(root: YamlNode): string {
  return without(root, ['steps'])
}

function without(node: YamlNode, keys: readonly string[]): string {
  if (node.kind !== 'map') return ''
  const kept = node.entries.filter(({ key }) => !keys.includes(key))
  return canonicalJson(Object.fromEntries(kept.map(({ key, value }) => [key, plainValue(value)])) as Json)
}
