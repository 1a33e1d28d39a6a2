/** Parses envelopes, drafts and facets passed by a program, or throws one error with every issue. */
import { ProvisoError } from '../base/errors/error.ts'
import type { Issue } from '../base/errors/issue.ts'
import { parseFacet } from '../domain/capability/parse-facet.ts'
import { parseDraft } from '../domain/draft/parse-draft.ts'
import { parseEnvelope } from '../domain/envelope/parse-envelope.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { Facet } from '../domain/facet.ts'
import type { ParseIssue } from '../domain/parse/issue-table.ts'
import { below } from '../domain/parse/parsed.ts'
import { conditionIssues } from '../engine/decide/checks/conditions.ts'

export function readEnvelope(given: unknown): { value: Envelope; warnings: readonly ParseIssue[] } {
  const parsed = parseEnvelope(given, { checkCondition: conditionIssues })
  if (parsed.ok) return parsed
  throw new ProvisoError('envelope/invalid', `Cannot use the envelope: ${firstOf(parsed.issues)}`, {
    issues: parsed.issues,
  })
}

export function readDraft(given: unknown) {
  const parsed = parseDraft(given, { checkCondition: conditionIssues })
  if (parsed.ok) return parsed.value
  throw new ProvisoError('draft/invalid', `Cannot use the draft: ${firstOf(parsed.issues)}`, {
    issues: parsed.issues,
  })
}

/** Normalises facets. Throws `option/invalid` with every issue, located in the list. */
export function readFacets(given: readonly unknown[] = []): Facet[] {
  const parsed = given.map(parseFacet)
  const issues = parsed.flatMap((facet, index) =>
    facet.ok ? [] : facet.issues.map((issue) => below(`/facets/${index}`, issue)),
  )
  if (issues.length === 0) return parsed.flatMap((facet) => (facet.ok ? [facet.value] : []))
  throw new ProvisoError('option/invalid', `Cannot use a facet: ${firstOf(issues)}`, { issues })
}

/** Formats the first issue with its location; the error's `issues` have all of them. */
export function firstOf([issue]: readonly Issue[]): string {
  if (issue === undefined) return ''
  return 'pointer' in issue.at && issue.at.pointer !== ''
    ? `${issue.at.pointer} ${issue.message}`
    : issue.message
}
