/** The deadline of a run: the earliest of those that the caller and each plan name, counted from the start. */
import type { NewEvent } from '../domain/event.ts'
import type { Limits } from '../domain/plan.ts'
import type { RunState } from '../domain/run.ts'
import { factsFor } from './fact.ts'

/** The id of its timer. */
export const deadlineTimer = 'deadline'

/** Sets it, or draws it nearer; nothing where it stands already. */
export function deadlineFacts(
  { startedAt, timers, planVersion }: Pick<RunState, 'startedAt' | 'timers' | 'planVersion'>,
  now: number,
  { deadlineMs }: Pick<Limits, 'deadlineMs'>,
): NewEvent[] {
  if (deadlineMs === undefined) return []
  const dueAt = startedAt + deadlineMs
  const present = timers.get(deadlineTimer)?.dueAt
  if (present !== undefined && present <= dueAt) return []
  return [
    factsFor({ planVersion }, now)('timer_set', {
      timerId: deadlineTimer,
      dueAt,
      purpose: { kind: 'deadline' },
    }),
  ]
}
