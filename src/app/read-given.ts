/** Envelopes and drafts as a program hands them in: nouns, or one error with every issue. */
import { ProvisoError } from '../base/error.ts'
import type { Issue } from '../base/issue.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { Facet } from '../domain/facet.ts'
import { parseDraft } from '../domain/parse-draft.ts'
import { parseEnvelope } from '../domain/parse-envelope.ts'
import { parseFacet } from '../domain/parse-facet.ts'
import { below } from '../domain/parsed.ts'
import { conditionIssues } from '../engine/conditions.ts'

export function readEnvelope(given: unknown): { value: Envelope; warnings: readonly Issue[] } {
  const parsed = parseEnvelope(given, { checkCondition: conditionIssues })
  if (parsed.ok) return parsed
  throw new ProvisoError('envelope/invalid', `The envelope cannot be used: ${firstOf(parsed.issues)}`, {
    issues: parsed.issues,
  })
}

export function readDraft(given: unknown) {
  const parsed = parseDraft(given, { checkCondition: conditionIssues })
  if (parsed.ok) return parsed.value
  throw new ProvisoError('draft/invalid', `The draft cannot be used: ${firstOf(parsed.issues)}`, {
    issues: parsed.issues,
  })
}

/** Each as the one form that is kept; throws `option/invalid` with every issue, located in the list. */
export function readFacets(given: readonly unknown[] = []): Facet[] {
  const parsed = given.map(parseFacet)
  const issues = parsed.flatMap((facet, index) =>
    facet.ok ? [] : facet.issues.map((issue) => below(`/facets/${index}`, issue)),
  )
  if (issues.length === 0) return parsed.flatMap((facet) => (facet.ok ? [facet.value] : []))
  throw new ProvisoError('option/invalid', `A facet cannot be used: ${firstOf(issues)}`, { issues })
}

/** The first issue with its place; all of them are in the error's `issues`. */
export function firstOf([issue]: readonly Issue[]): string {
  if (issue === undefined) return ''
  return 'pointer' in issue.at && issue.at.pointer !== ''
    ? `${issue.at.pointer} ${issue.message}`
    : issue.message
}
