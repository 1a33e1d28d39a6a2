/** The deadline of a run: the earliest that the caller or any plan sets, counted from the start. */
import type { NewEvent } from '../../domain/event.ts'
import type { Limits } from '../../domain/plan.ts'
import type { RunState } from '../../domain/run.ts'
import { factsFor } from '../events.ts'

/** Timer id of the deadline. */
export const deadlineTimer = 'deadline'

/** Sets the deadline timer or moves it earlier; does nothing if the present one is at least as early. */
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
