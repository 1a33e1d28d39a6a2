/** Envelopes and drafts as a program hands them in: nouns, or one error with every issue. */
import { ProvisoError } from '../base/error.ts'
import type { Issue } from '../base/issue.ts'
import type { Envelope } from '../domain/envelope.ts'
import { parseDraft } from '../domain/parse-draft.ts'
import { parseEnvelope } from '../domain/parse-envelope.ts'
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

/** The first issue with its place; all of them are in the error's `issues`. */
export function firstOf([issue]: readonly Issue[]): string {
  if (issue === undefined) return ''
  return 'pointer' in issue.at && issue.at.pointer !== ''
    ? `${issue.at.pointer} ${issue.message}`
    : issue.message
}
