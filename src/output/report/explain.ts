/** Human-readable report of what the reader changed and why. Used by the command line, logs and debugging. */
import type { Issue, Location } from '../../base/errors/issue.ts'
import type { ParseResult, Repair, Stage } from '../types.ts'
import { excerpt, excerptValue, visible } from './excerpt.ts'
import { ruleSentence } from './rule-table.ts'

/**
 * Several lines of text: the outcome, the changes by stage and rule, the union branches, the issues with their hints.
 *
 * @example
 * console.log(explain(parse('```json\n{"n": "7"}\n```', schema)))
 */
export function explain(result: ParseResult): string {
  const locate = createLocator(result.raw)
  const lines = [headline(result)]
  if (result.truncated) lines.push('The text ended before the value did.')
  for (const stage of STAGES) lines.push(...explainStage(stage, result.repairs, locate))
  const unlisted = result.repairCount - result.repairs.length
  if (unlisted > 0) lines.push(`${count(unlisted, 'more change')} not listed (limits.repairs).`)
  lines.push(...explainBranches(result.branches))
  lines.push(...result.issues.flatMap((issue) => explainIssue(issue, locate)))
  if (result.shadow) {
    lines.push('Shadow mode: nothing was changed. The reader would have answered:')
    lines.push(...explain(result.shadow).split('\n').map(indent))
  }
  return lines.join('\n')
}

type Locator = (at: Location) => string

const STAGES: readonly Stage[] = ['extract', 'tolerant', 'syntactic', 'semantic', 'custom']

/** Maximum number of changes shown per rule. */
const MAX_SHOWN = 5

function headline({ ok, repairCount, issues }: ParseResult): string {
  const changed = repairCount === 0 ? 'without any change' : `after ${count(repairCount, 'change')}`
  return ok
    ? `The value was read ${changed}.`
    : `No valid value was found ${changed}: ${count(issues.length, 'issue')}.`
}

function explainStage(stage: Stage, repairs: readonly Repair[], locate: Locator): string[] {
  const rules = new Map<string, Repair[]>()
  for (const repair of repairs) {
    if (repair.stage !== stage) continue
    const same = rules.get(repair.rule)
    if (same) same.push(repair)
    else rules.set(repair.rule, [repair])
  }
  if (rules.size === 0) return []
  return [`${stage}:`, ...[...rules].flatMap(([rule, same]) => explainRule(rule, same, locate)).map(indent)]
}

function explainRule(rule: string, repairs: readonly Repair[], locate: Locator): string[] {
  const sentence = ruleSentence(rule)
  const lines = [`${rule} ×${repairs.length}${sentence === undefined ? '' : `: ${sentence}`}`]
  for (const { at, before, after } of repairs.slice(0, MAX_SHOWN)) {
    lines.push(`  ${locate(at)}  ${show(before, at)} → ${show(after, at)}`)
  }
  if (repairs.length > MAX_SHOWN) lines.push(`  … and ${repairs.length - MAX_SHOWN} more`)
  return lines
}

function show(part: unknown, at: Location): string {
  if (part === undefined || ('span' in at && part === '')) return '(nothing)'
  if (!('span' in at) || typeof part !== 'string') return excerptValue(part)
  // Quote excerpts that consist of spaces only, to make them visible.
  return part.trim() === '' ? `"${excerpt(part)}"` : excerpt(part)
}

function explainBranches(branches: ParseResult['branches']): string[] {
  const taken = Object.entries(branches)
  if (taken.length === 0) return []
  return [
    'union branches:',
    ...taken.map(([pointer, index]) => indent(`${showPointer(pointer)}  branch ${index}`)),
  ]
}

function explainIssue({ code, at, message, hint, expected, actual }: Issue, locate: Locator): string[] {
  const lines = [`✗ ${locate(at)}  ${visible(message)} [${code}]`]
  if (expected !== undefined) lines.push(`  expected: ${excerptValue(expected)}`)
  if (actual !== undefined) lines.push(`  actual: ${excerptValue(actual)}`)
  if (hint !== undefined) lines.push(`  hint: ${visible(hint)}`)
  return lines
}

/** Formats locations: ranges become line:column, counted from 1 in the raw text; pointers stay unchanged. */
function createLocator(raw: string): Locator {
  let starts: number[] | undefined
  return (at) => {
    if ('pointer' in at) return showPointer(at.pointer)
    starts ??= lineStarts(raw)
    const line = lineOf(starts, at.span[0])
    return `${line + 1}:${at.span[0] - (starts[line] ?? 0) + 1}`
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}

/** Binary search for the last line that starts at or before the offset. */
function lineOf(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= offset) low = middle
    else high = middle - 1
  }
  return low
}

function showPointer(pointer: string): string {
  return pointer === '' ? '(root)' : visible(pointer)
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? '' : 's'}`
}

function indent(line: string): string {
  return `  ${line}`
}
