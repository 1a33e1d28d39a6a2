/** A baseline lists known issues by rule and step, so that a check fails only on new ones. */
import { isObject } from '../../base/json.ts'
import type { LintIssue } from './rule.ts'

export interface Baseline {
  readonly version: 1
  readonly known: readonly { readonly rule: string; readonly step: string }[]
}

export function baselineOf(issues: readonly LintIssue[]): Baseline {
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
