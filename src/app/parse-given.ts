/**
 * Parses what a program passes (envelopes, drafts, facets, changes of a replay), or throws one error with every issue.
 */

import { checkReplayChanges } from '../app-options.ts'
import { ProvisoError } from '../base/errors/error.ts'
import type { Issue } from '../base/errors/issue.ts'
import { jsonEqual } from '../base/json.ts'
import { parseFacet } from '../domain/capability/parse-facet.ts'
import { parseDraft } from '../domain/draft/parse-draft.ts'
import { type TranslatedEnvelope, translateEnvelope } from '../domain/envelope/envelope-input.ts'
import { parseEnvelope } from '../domain/envelope/parse-envelope.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { JournalEvent } from '../domain/event.ts'
import type { Facet } from '../domain/facet.ts'
import type { ParseIssue } from '../domain/parse/issue-table.ts'
import { below } from '../domain/parse/parsed.ts'
import { parsePolicies } from '../domain/policy/parse-policies.ts'
import { isRaoPolicy } from '../domain/policy.ts'
import { conditionIssues } from '../engine/decide/checks/conditions.ts'
import type { ReplayChanges } from '../engine/replay/replay.ts'
import type { StandardSchemaV1 } from '../schema/standard.ts'

export interface ReadEnvelope {
  readonly value: Envelope
  readonly warnings: readonly ParseIssue[]
  /** Validator of the answer, if the schema of another library describes it. */
  readonly validator?: StandardSchemaV1
}

/** What runs are started with is never changed. */
const given = { checkCondition: conditionIssues, isShared: true } as const

/** Parses an envelope in the names of the wire format. */
export function readEnvelope(given: unknown): ReadEnvelope {
  return parseTranslated({ envelope: given, hasShortNames: false })
}

/** Parses an envelope of a program, which may use `output` and `approve`. */
export function readTypedEnvelope(given: unknown): ReadEnvelope {
  return parseTranslated(translateEnvelope(given))
}

function parseTranslated({ envelope, validator, hasShortNames }: TranslatedEnvelope): ReadEnvelope {
  const parsed = parseEnvelope(envelope, given)
  if (parsed.ok) return { ...parsed, ...(validator && { validator }) }
  const issues = hasShortNames ? parsed.issues.map(withShortNames) : parsed.issues
  throw new ProvisoError('envelope/invalid', `Cannot use the envelope: ${describeFirst(issues)}`, { issues })
}

/** Locates an issue by the names that the caller has used. */
function withShortNames(issue: ParseIssue): ParseIssue {
  const message = issue.message.replace('"outputContract"', '"output"')
  if (!('pointer' in issue.at)) return { ...issue, message }
  const pointer = issue.at.pointer.replace(/^\/outputContract(?:\/schema)?(?=\/|$)/, '/output')
  return { ...issue, message, at: { pointer } }
}

export function readDraft(draft: unknown) {
  const parsed = parseDraft(draft, given)
  if (parsed.ok) return parsed.value
  throw new ProvisoError('draft/invalid', `Cannot use the draft: ${describeFirst(parsed.issues)}`, {
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
  throw new ProvisoError('option/invalid', `Cannot use a facet: ${describeFirst(issues)}`, { issues })
}

/** Formats the first issue with its location; the error's `issues` have all of them. */
function describeFirst([issue]: readonly Issue[]): string {
  if (issue === undefined) return ''
  return 'pointer' in issue.at && issue.at.pointer !== ''
    ? `${issue.at.pointer} ${issue.message}`
    : issue.message
}

// Parses the changes of a replay as strictly as an envelope: an ignored typo would look like a replay without differences.

/** Parses the changes. Throws `option/invalid` with every issue. */
export function readChanges(given: ReplayChanges): ReplayChanges {
  checkReplayChanges(given)
  if (given.policies === undefined) return given
  const parsed = parsePolicies({ runtime: given.policies }, { checkCondition: conditionIssues })
  if (parsed.ok) return { ...given, policies: parsed.value.policies.runtime }
  const issues = parsed.issues.map(asGiven)
  throw new ProvisoError(
    'option/invalid',
    `Cannot use the policies of the replay: ${describeFirst(issues)}`,
    {
      issues,
    },
  )
}

/** Locates an issue in the list that was given, not in the policies parsed from it. */
function asGiven(issue: Issue): Issue {
  if (!('pointer' in issue.at)) return issue
  return { ...issue, at: { pointer: issue.at.pointer.replace(/^\/runtime/, '/policies') } }
}

/** Throws for data of a node that no plan of the run has, or a RAO policy that it was not planned with: both would have no effect. */
export function refuseUnknown(changes: ReplayChanges, events: readonly JournalEvent[]): void {
  refuseUnknownPolicies(changes, events)
  refuseUnknownNodes(changes, events)
}

/** Only the proof decides which nodes a policy selects, and a replay does not repeat the proof. */
function refuseUnknownPolicies({ policies = [] }: ReplayChanges, [start]: readonly JournalEvent[]): void {
  const runtime = start?.type === 'start' ? (start.payload.envelope as Envelope).policies.runtime : []
  const known = runtime.filter(isRaoPolicy)
  for (const policy of policies.filter(isRaoPolicy)) {
    const before = known.find((each) => each.id === policy.id)
    const isPlanned = before?.enabled && jsonEqual(before.selector ?? {}, policy.selector ?? {})
    if (isPlanned || (before && jsonEqual(before, policy))) continue
    throw new ProvisoError('option/invalid', `The run was not planned with the RAO policy "${policy.id}"`, {
      hint: 'Change the thresholds of its RAO policies, or those of nodes with nodeData; start a new run for other selectors',
    })
  }
}

function refuseUnknownNodes({ nodeData = {} }: ReplayChanges, events: readonly JournalEvent[]): void {
  const known = new Set(
    events.flatMap((event) =>
      event.type === 'plan_generated' ? (event.payload.plan?.nodes ?? []).map(({ id }) => id) : [],
    ),
  )
  const unknown = Object.keys(nodeData).find((id) => !known.has(id))
  if (unknown === undefined) return
  throw new ProvisoError('option/invalid', `nodeData names "${unknown}", which no plan of the run has`, {
    hint: `Its nodes are ${[...known].slice(0, 20).join(', ')}`,
  })
}
