/** An issue with the facet it refers to, for the planner, agent or person that fixes it. */
import type { Issue } from '../../base/errors/issue.ts'
import { type Pointer, tokens } from '../../base/pointer.ts'
import type { FacetProvenance } from '../plan.ts'

export interface FacetIssue<Code extends string = string> extends Issue<Code> {
  /** Absent for what no facet speaks about. Several that share the property are named together. */
  readonly facet?: string
  readonly pointer: Pointer
  readonly keyword: string
}

/** Says of each issue which facet of this side of a node it belongs to; what belongs to none stays as it is. */
export function withFacets(
  issues: readonly Issue[],
  provenance: FacetProvenance['input'],
): readonly (Issue | FacetIssue)[] {
  if (provenance.length === 0) return issues
  return issues.map((issue) => {
    if (!('pointer' in issue.at) || !issue.code.startsWith('schema/')) return issue
    const { pointer } = issue.at
    const [key] = tokens(pointer)
    const facets = provenance.filter((each) => tokens(each.pointer)[0] === key).map(({ facet }) => facet)
    if (facets.length === 0) return issue
    return { ...issue, facet: facets.join(', '), pointer, keyword: issue.code.replace('schema/', '') }
  })
}
