/** What a rule of histories is. */
import type { JournalEvent } from '../../domain/event.ts'
import type { RunState } from '../../domain/run.ts'

export type Report = (rule: string, message: string) => void

/** Called for each event in order, before it is folded in. */
export type Rule = (event: JournalEvent, before: RunState | undefined, report: Report) => void
