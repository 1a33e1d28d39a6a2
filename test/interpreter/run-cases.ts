/** Many cases, one after the other: what was seen, and the seeds where engine and interpreter disagree. */

import { tryCase } from './compare.ts'
import { makeCase } from './generate/case.ts'

export interface CaseSummary {
  cases: number
  rejected: number
  completed: number
  calls: number
  skipped: number
  disagreeing: { readonly seed: number; readonly differences: readonly string[] }[]
}

export interface CaseRange {
  readonly from: number
  readonly count: number
  /** Stop after so many that disagree. Default: the first. */
  readonly mostDisagreeing?: number
  readonly onProgress?: (summary: CaseSummary) => void
}

export async function runCases({
  from,
  count,
  mostDisagreeing = 1,
  onProgress,
}: CaseRange): Promise<CaseSummary> {
  const summary: CaseSummary = { cases: 0, rejected: 0, completed: 0, calls: 0, skipped: 0, disagreeing: [] }
  for (let seed = from; seed < from + count; seed++) {
    const { differences, expected, played, rejected } = await tryCase(makeCase(seed))
    summary.cases++
    summary.calls += played.calls.length
    if (rejected) summary.rejected++
    else if (played.status === 'completed') summary.completed++
    for (const { status } of expected.nodes.values()) if (status === 'skipped') summary.skipped++
    if (differences.length > 0) summary.disagreeing.push({ seed, differences })
    if (summary.disagreeing.length >= mostDisagreeing) break
    if (summary.cases % 100 === 0) onProgress?.(summary)
  }
  return summary
}
