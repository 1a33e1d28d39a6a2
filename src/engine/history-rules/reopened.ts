/** Which nodes run again after a rejection: those that the event names, and all items and rounds of a map or loop among them. */
import type { JournalEvent } from '../../domain/event.ts'

export function reopenedIn({ payload }: JournalEvent<'nodes_reopened'>): (nodeId: string) => boolean {
  const ids = [...payload.nodes, ...payload.downstream]
  return (nodeId) =>
    ids.some((id) => nodeId === id || nodeId.startsWith(`${id}[`) || nodeId.startsWith(`${id}#`))
}
