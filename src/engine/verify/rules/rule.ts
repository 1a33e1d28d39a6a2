/** What a rule of histories is. */
import type { JournalEvent } from '../../../domain/event.ts'
import type { RunState } from '../../../domain/run.ts'

type Report = (rule: string, message: string) => void

/** Called for each event in order, before it is folded in. */
export type Rule = (event: JournalEvent, before: RunState | undefined, report: Report) => void

/** Which nodes run again after a rejection: the nodes that the event names, and all items and rounds of a map or loop among them. */
export function reopenedIn({ payload }: JournalEvent<'nodes_reopened'>): (nodeId: string) => boolean {
  const ids = [...payload.nodes, ...payload.downstream]
  return (nodeId) =>
    ids.some((id) => nodeId === id || nodeId.startsWith(`${id}[`) || nodeId.startsWith(`${id}#`))
}
