/** Parses the changes of a replay as strictly as an envelope: an ignored typo would look like a replay without differences. */
import { checkReplayChanges } from '../app-options.ts'
import { ProvisoError } from '../base/errors/error.ts'
import type { Issue } from '../base/errors/issue.ts'
import { jsonEqual } from '../base/json.ts'
import type { Envelope } from '../domain/envelope.ts'
import type { JournalEvent } from '../domain/event.ts'
import { parsePolicies } from '../domain/policy/parse-policies.ts'
import { isRaoPolicy } from '../domain/policy.ts'
import { conditionIssues } from '../engine/decide/checks/conditions.ts'
import type { ReplayChanges } from '../engine/replay/replay.ts'
import { firstOf } from './parse-given.ts'

/** Parses the changes. Throws `option/invalid` with every issue. */
export function readChanges(given: ReplayChanges): ReplayChanges {
  checkReplayChanges(given)
  if (given.policies === undefined) return given
  const parsed = parsePolicies({ runtime: given.policies }, { checkCondition: conditionIssues })
  if (parsed.ok) return { ...given, policies: parsed.value.policies.runtime }
  const issues = parsed.issues.map(asGiven)
  throw new ProvisoError('option/invalid', `Cannot use the policies of the replay: ${firstOf(issues)}`, {
    issues,
  })
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
