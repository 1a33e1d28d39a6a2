/** What people do with a task before they complete it: claim, release and decline. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Ask } from '../../domain/ask.ts'
import type { NewEvent } from '../../domain/event.ts'
import type { RunState } from '../../domain/run.ts'
import { isHolder, openAssignment, passOn, type TaskPerson } from '../../domain/task/assignment.ts'
import { checkPerson, findOpen, resolveFact } from '../decide/ask/asks.ts'
import { assignFact } from '../decide/ask/assign.ts'
import { appendChecked, type Outside, toError } from './replies.ts'

export interface TaskChange extends TaskPerson {
  readonly requestId: string
  /** `decline` passes the task to the next person; declined by the last one, it counts as rejected. */
  readonly change: 'claim' | 'release' | 'decline'
  readonly note?: string
}

/** Records the change. Throws `task/claimed` while another person holds the task, and `task/forbidden` if it is for others. */
export function changeTask(outside: Outside, runId: string, given: TaskChange): Promise<RunState> {
  return appendChecked(outside, runId, given, (state, { now }) => {
    const ask = findOpen(state, now, given.requestId)
    if ('reason' in ask) throw toError(ask)
    if (ask.kind !== 'task')
      throw new ProvisoError('ask/invalid', `Only a task can be claimed; this ask is of kind "${ask.kind}"`, {
        hint: 'Reply to it instead',
      })
    const isForced = given.change === 'release' && given.isAdmin === true
    const refused = isForced ? undefined : checkPerson(ask.assignment ?? openAssignment, given)
    if (refused) throw toError(refused)
    const make = changes[given.change]
    if (make === undefined)
      throw new ProvisoError('option/invalid', '`change` must be claim, release or decline')
    return make(state, now, { ask, given })
  })
}

type MakeChange = (
  state: RunState,
  now: number,
  about: { readonly ask: Ask; readonly given: TaskChange },
) => readonly NewEvent[]

const changes: Readonly<Record<TaskChange['change'], MakeChange>> = {
  claim(state, now, { ask, given }) {
    const { assignment = openAssignment } = ask
    if (isHolder(assignment, given)) return []
    const claimed = { ...assignment, claimedBy: given.by, claimedAt: now }
    return [assignFact(state, now, ask, { ...said(given), change: 'claimed', assignment: claimed })]
  },
  release(state, now, { ask, given }) {
    const { claimedBy, claimedAt: _, ...assignment } = ask.assignment ?? openAssignment
    return claimedBy === undefined
      ? []
      : [assignFact(state, now, ask, { ...said(given), change: 'released', assignment })]
  },
  decline(state, now, { ask, given }) {
    const { assignment = openAssignment } = ask
    const { claimedBy: _, claimedAt: __, ...rest } = assignment
    const declinedBy = [...(assignment.declinedBy ?? []), given.by]
    const next = passOn({ ...rest, declinedBy })
    const declined = assignFact(state, now, ask, {
      ...said(given),
      change: 'declined',
      assignment: next ?? { ...rest, declinedBy, isDeclined: true },
    })
    if (next) return [declined]
    // The rejection is linked to the audit chain after the decline.
    const audit = (declined as NewEvent<'hitl_assigned'>).payload.audit.hash
    const { requestId, valueHash } = ask
    const rejected = { ...said(given), requestId, valueHash, decision: 'reject' as const }
    return [declined, resolveFact({ ...state, audit }, now, rejected)]
  },
}

function said({ by, note }: TaskChange): { readonly by: string; readonly note?: string } {
  return { by, ...(note !== undefined && { note }) }
}
