/** Records who has a task: claims, releases, and what passes it to the next person. */
import type { Ask } from '../../../domain/ask.ts'
import type { NewEvent } from '../../../domain/event.ts'
import type { RunState } from '../../../domain/run.ts'
import {
  type Assignment,
  type AssignmentChange,
  openAssignment,
  passOnOverdue,
} from '../../../domain/task/assignment.ts'
import { factsFor } from '../../events.ts'
import { auditLink } from './audit.ts'

interface Change {
  readonly change: AssignmentChange
  readonly by: string
  readonly note?: string
  readonly assignment: Assignment
}

/** Records one change, linked to the audit chain. A task that passes to another person is due anew. */
export function assignFact(state: RunState, now: number, ask: Ask, given: Change): NewEvent {
  const { requestId, valueHash, nodeId } = ask
  const { change, by, note, assignment } = given
  const audit = auditLink(state.audit, {
    runId: state.runId,
    requestId,
    at: now,
    by,
    what: change,
    subjectHash: valueHash,
    words: note,
  })
  const { dueSeconds } = assignment
  const passes = change === 'declined' || change === 'overdue'
  const expiresAt = passes && dueSeconds !== undefined ? now + dueSeconds * 1_000 : ask.expiresAt
  return factsFor(state, now)(
    'hitl_assigned',
    { requestId, change, by, ...(note !== undefined && { note }), assignment, expiresAt, audit },
    { nodeId },
  )
}

/** The time of a person was over: passes the task to the next; nothing if there is none, or the task has no time limit of its own. */
export function overdueFact(state: RunState, now: number, requestId: string): NewEvent | undefined {
  const ask = state.asks.get(requestId)
  const { assignment = openAssignment } = ask ?? {}
  const next = assignment.dueSeconds === undefined ? undefined : passOnOverdue(assignment)
  if (!ask || !next) return undefined
  const late = assignment.claimedBy ?? assignment.assignee
  const note = `${JSON.stringify(late)} has not done it in time`
  return assignFact(state, now, ask, { change: 'overdue', by: 'system', note, assignment: next })
}
