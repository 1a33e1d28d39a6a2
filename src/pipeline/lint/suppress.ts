/**
 * Decides which issues are not reported. A baseline lists known issues. The file itself suppresses rules: `# proviso: ignore RULE` at a step, an agent or an import,
 * `meta.suppress_rules` in a step, or `meta.suppress_rules` of the file for all of it.
 */
import type { TextRange } from '../../base/errors/issue.ts'
import { isObject } from '../../base/json.ts'
import { lineText, type Source, toPosition } from '../text/source.ts'
import type { YamlComment } from '../yaml/scan-yaml.ts'
import type { YamlEntry, YamlNode } from '../yaml/yaml-tree.ts'
import { matchesAny } from './glob.ts'
import type { LintIssue, RuleFinding } from './rule.ts'
import { findEntry, type LintStep, type LintView } from './view/lint-view.ts'

/** The subject of a comment: a step, or an entry of `agents` or `imports`. */
type Subject = LintStep | YamlEntry

/** Returns a test for suppressed findings. A suppression on a step also applies to the steps inside it. */
export function suppression(view: LintView): (rule: string, finding: RuleFinding) => boolean {
  const whole = inMeta(view.document.root)
  const said = new Map<Subject, string[]>()
  for (const step of view.steps) said.set(step, inMeta(step.node))
  const comments = view.document.comments.filter((comment) => parseRules(comment).length > 0)
  const getSubject = comments.length > 0 ? subjectFinder(view) : () => undefined
  for (const comment of comments) {
    const subject = getSubject(comment)
    if (subject) said.set(subject, [...(said.get(subject) ?? []), ...parseRules(comment)])
  }
  const entries = [...said.keys()].filter((subject): subject is YamlEntry => 'keyRange' in subject)
  return (rule, { step, range: [start] }) => {
    if (matchesAny(rule, whole)) return true
    for (let at = step; at; at = at.parent) if (matchesAny(rule, said.get(at) ?? [])) return true
    return entries.some(
      (entry) =>
        entry.keyRange[0] <= start &&
        start < Math.max(findEnd(entry), entry.keyRange[1]) &&
        matchesAny(rule, said.get(entry) ?? []),
    )
  }
}

/** A rule, or a glob of rules, and its range in the file. */
export interface NamedRule {
  readonly rule: string
  readonly range: TextRange
}

export function namedInMeta(node: YamlNode): NamedRule[] {
  const named = findEntry(findEntry(node, 'meta')?.value, 'suppress_rules')?.value
  const items = named?.kind === 'list' ? named.items : named ? [named] : []
  return items.flatMap((item) =>
    item.kind === 'scalar' && typeof item.value === 'string'
      ? [{ rule: item.value, range: item.alias ?? item.range }]
      : [],
  )
}

/** Parses the words after `ignore`: rules, optionally followed by a reason. */
export function namedInComment({ text, range: [start] }: YamlComment): NamedRule[] {
  const [said = '', rules = ''] = /^#\s*proviso:\s*ignore\s+([\w*,\s-]+)/.exec(text) ?? []
  const from = start + said.length - rules.length
  return [...rules.matchAll(/[^\s,]+/g)].map(({ 0: rule, index }) => ({
    rule,
    range: [from + index, from + index + rule.length],
  }))
}

function inMeta(node: YamlNode): string[] {
  return namedInMeta(node).map(({ rule }) => rule)
}

function parseRules(comment: YamlComment): string[] {
  return namedInComment(comment).map(({ rule }) => rule)
}

/** Finds the subject of a comment: what it is inside of or, for a comment on its own line, what it precedes. */
function subjectFinder(view: LintView): (comment: YamlComment) => Subject | undefined {
  const { source } = view.document
  const subjects = getSubjects(view)
  const starts = new Map(subjects.map(({ subject, start }) => [start, subject]))
  const below = firstBelow(source)
  const onLine: (Subject | undefined)[] = []
  // Nested steps come later in the list and win.
  for (const { subject, start, end } of subjects) {
    const last = toPosition(source, Math.max(start, end - 1)).line
    for (let line = toPosition(source, start).line; line <= last; line++) onLine[line] = subject
  }
  return ({ range: [start] }) => {
    const { line, column } = toPosition(source, start)
    const isAlone = /^[\s-]*$/.test(lineText(source, line).slice(0, column - 1))
    return (isAlone ? starts.get(below[line + 1] ?? -1) : undefined) ?? onLine[line]
  }
}

interface SuppressionSubject {
  readonly subject: Subject
  readonly start: number
  readonly end: number
}

function getSubjects({ steps, document: { root } }: LintView): readonly SuppressionSubject[] {
  const entries = ['agents', 'imports'].flatMap((key) => {
    const map = findEntry(root, key)?.value
    return map?.kind === 'map' && !map.alias ? map.entries : []
  })
  return [
    ...entries.map((entry) => ({ subject: entry, start: entry.keyRange[0], end: findEnd(entry) })),
    ...steps.map((step) => ({ subject: step, start: step.node.range[0], end: step.node.range[1] })),
  ]
}

function findEnd({ value }: YamlEntry): number {
  return (value.alias ?? value.range)[1]
}

/** For each line (1-based), the offset of the first content on or below it, after dashes and anchors. */
function firstBelow(source: Source): readonly (number | undefined)[] {
  const found: (number | undefined)[] = []
  for (let line = source.lineStarts.length; line >= 1; line--) {
    const text = lineText(source, line)
    const lead = /^\s*(-\s+)*(&\S+\s+)?/.exec(text)?.[0].length ?? 0
    found[line] = /^\s*(#|$)/.test(text) ? found[line + 1] : (source.lineStarts[line - 1] ?? 0) + lead
  }
  return found
}

// A baseline lists known issues by rule and step, so that a check fails only on new ones.

export interface Baseline {
  readonly version: 1
  readonly known: readonly { readonly rule: string; readonly step: string }[]
}

export function createBaseline(issues: readonly LintIssue[]): Baseline {
  const known = issues.map(({ code, step = '' }) => ({ rule: code, step }))
  known.sort((a, b) => (key(a) < key(b) ? -1 : 1))
  return { version: 1, known }
}

/** Returns `undefined` if the value is not a baseline. */
export function parseBaseline(value: unknown): Baseline | undefined {
  if (!isObject(value) || value['version'] !== 1 || !Array.isArray(value['known'])) return undefined
  const known: readonly unknown[] = value['known']
  const isEntry = (entry: unknown): entry is Baseline['known'][number] =>
    isObject(entry) && typeof entry['rule'] === 'string' && typeof entry['step'] === 'string'
  return known.every(isEntry) ? { version: 1, known } : undefined
}

/**
 * Returns the new issues, and how many baseline entries were found again or are gone. Entries are a multiset:
 * two issues of one rule at one step count as two.
 */
export function compareWithBaseline(
  issues: readonly LintIssue[],
  { known }: Baseline,
): { readonly added: readonly LintIssue[]; readonly known: number; readonly gone: number } {
  const left = new Map<string, number>()
  for (const entry of known) left.set(key(entry), (left.get(key(entry)) ?? 0) + 1)
  const added = issues.filter(({ code, step = '' }) => {
    const count = left.get(key({ rule: code, step })) ?? 0
    if (count > 0) left.set(key({ rule: code, step }), count - 1)
    return count === 0
  })
  const gone = [...left.values()].reduce((sum, count) => sum + count, 0)
  return { added, known: issues.length - added.length, gone }
}

function key({ rule, step }: { rule: string; step: string }): string {
  return `${rule}\n${step}`
}
