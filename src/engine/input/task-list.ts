/** Lists the tasks of people: open ones by priority and due time, past ones by age. */
import type { AskRow, Store } from '../../domain/ports/store.ts'
import {
  isHolder,
  openAssignment,
  type TaskPerson,
  taskPriorities,
  whyNotFor,
} from '../../domain/task/assignment.ts'
import { identifyPerson } from '../../domain/task/person.ts'

export const taskFilters = ['mine', 'role', 'available', 'all'] as const
export type TaskFilter = (typeof taskFilters)[number]

interface TaskQuery {
  readonly tenant?: string
  readonly runId?: string
  readonly status: AskRow['status']
  readonly filter: TaskFilter
  readonly person: TaskPerson
  readonly limit: number
  /** The last task of the page before. */
  readonly after?: AskRow
}

/** Open asks that one request reads: of more, the oldest are listed. */
const mostRead = 5_000
const pageSize = 200

/** One task more than the limit, so that the caller knows whether another page follows. */
export async function findTasks(store: Pick<Store, 'asks'>, query: TaskQuery): Promise<readonly AskRow[]> {
  const { status, limit, after } = query
  const found: AskRow[] = []
  const isOpen = status === 'pending'
  for await (const task of scanTasks(store, query)) {
    if (isOpen && after && compareTasks(task, after) <= 0) continue
    found.push(task)
    if (!isOpen && found.length > limit) break
  }
  return isOpen ? found.sort(compareTasks).slice(0, limit + 1) : found
}

/** Reads page by page. Past tasks begin after the last one of the page before; open ones are sorted, so all are read. */
async function* scanTasks(store: Pick<Store, 'asks'>, query: TaskQuery): AsyncGenerator<AskRow> {
  const { tenant, runId, status, filter, person } = query
  let after = status === 'pending' ? undefined : query.after?.requestId
  for (let read = 0; read < mostRead; ) {
    const page = await store.asks({
      status,
      limit: pageSize,
      ...(tenant !== undefined && { tenant }),
      ...(runId !== undefined && { runId }),
      ...(after !== undefined && { after }),
    })
    for (const ask of page) if (ask.kind === 'task' && matches(ask, filter, person)) yield ask
    if (page.length === 0) return
    read += page.length
    after = page.at(-1)?.requestId
  }
}

function matches(
  { assignment = openAssignment, by }: AskRow,
  filter: TaskFilter,
  person: TaskPerson,
): boolean {
  if (filter === 'all') return true
  const isMine = isHolder(assignment, person)
  const { assignee, role, claimedBy } = assignment
  const me = identifyPerson(person.by)
  if (filter === 'mine')
    return (
      isMine || (assignee !== undefined && identifyPerson(assignee) === me) || identifyPerson(by ?? '') === me
    )
  if (claimedBy !== undefined && !isMine) return false
  if (filter === 'role')
    return assignee === undefined && role !== undefined && (person.taskRoles?.includes(role) ?? false)
  return isMine || whyNotFor(assignment, person) === undefined
}

/** Orders by priority, then by due time, then by age. */
function compareTasks(one: AskRow, other: AskRow): number {
  return (
    rank(other) - rank(one) ||
    one.expiresAt - other.expiresAt ||
    one.createdAt - other.createdAt ||
    (one.requestId < other.requestId ? -1 : one.requestId > other.requestId ? 1 : 0)
  )
}

function rank({ assignment = openAssignment }: AskRow): number {
  return taskPriorities.indexOf(assignment.priority)
}
