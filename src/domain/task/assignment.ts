/** Assigns tasks to people: who should do one, who holds it, and who is next when a person declines or is late. */
import { identifyPerson } from './person.ts'

export const taskPriorities = ['low', 'normal', 'high', 'urgent'] as const
type TaskPriority = (typeof taskPriorities)[number]

/** Whom a capability of kind `human` assigns its tasks to. Empty: anyone may take them. */
export interface HumanSettings {
  /** One person, or several: a task that one of them declines, or has not done when it is due, passes to the next. */
  readonly assignee?: string | readonly string[]
  /** A role of people (`taskRoles` of their tokens): each of them may claim the task, after the assignees if there are any. */
  readonly role?: string
  /** Default `normal`. */
  readonly priority?: TaskPriority
  /** Time that each of them has. Without it, the task is open as long as other asks (`askMs`). */
  readonly dueSeconds?: number
}

/** The assignment of one task, as the last change left it. */
export interface Assignment {
  /** Who should do it now; absent: anyone of the role, or anyone. */
  readonly assignee?: string
  /** Who follows, in this order; the role follows them. */
  readonly next?: readonly string[]
  readonly role?: string
  readonly priority: TaskPriority
  readonly dueSeconds?: number
  readonly claimedBy?: string
  /** Milliseconds since 1970. */
  readonly claimedAt?: number
  readonly declinedBy?: readonly string[]
  /** Every assignee has declined, and no role follows them. */
  readonly isDeclined?: true
}

/** `overdue`: the time of a person was over; the task passes to the next. */
export type AssignmentChange = 'claimed' | 'released' | 'declined' | 'overdue'

/** A person who acts on a task. */
export interface TaskPerson {
  /** The name, or the signature of a token. */
  readonly by: string
  /** Roles of the person. Absent: the caller has checked them. */
  readonly taskRoles?: readonly string[]
  /** May act in the place of others. */
  readonly isAdmin?: boolean
}

/** The assignment of a task for which no one in particular was named. */
export const openAssignment: Assignment = { priority: 'normal' }

export function toAssignment({ assignee, role, priority = 'normal', dueSeconds }: HumanSettings): Assignment {
  const [first, ...next] = listAssignees(assignee)
  return {
    ...(first !== undefined && { assignee: first }),
    ...(next.length > 0 && { next }),
    ...(role !== undefined && { role }),
    priority,
    ...(dueSeconds !== undefined && { dueSeconds }),
  }
}

function listAssignees(assignee: HumanSettings['assignee']): readonly string[] {
  return assignee === undefined ? [] : typeof assignee === 'string' ? [assignee] : assignee
}

/** Passes a task to the next candidate; undefined if there is none. Without assignees, it stays with the others of its role. */
export function passOn(assignment: Assignment): Assignment | undefined {
  const { assignee, next = [], claimedBy: _, claimedAt: __, ...rest } = assignment
  const [following, ...later] = next
  if (following !== undefined)
    return { ...rest, assignee: following, ...(later.length > 0 && { next: later }) }
  return assignee === undefined || rest.role !== undefined ? rest : undefined
}

/** Passes an overdue task to the next candidate; undefined if there is none. A role that had its time does not get it again. */
export function passOnOverdue(assignment: Assignment): Assignment | undefined {
  return assignment.assignee === undefined ? undefined : passOn(assignment)
}

export function isHolder({ claimedBy }: Assignment, { by }: TaskPerson): boolean {
  return claimedBy !== undefined && identifyPerson(claimedBy) === identifyPerson(by)
}

/** Says why a person may not do a task, regardless of who holds it; undefined: the task is for this person. */
export function whyNotFor(assignment: Assignment, person: TaskPerson): string | undefined {
  const { assignee, role, declinedBy = [] } = assignment
  if (person.isAdmin) return undefined
  const name = JSON.stringify(identifyPerson(person.by))
  if (declinedBy.some((one) => identifyPerson(one) === identifyPerson(person.by)))
    return `${name} has declined it`
  if (assignee !== undefined)
    return identifyPerson(assignee) === identifyPerson(person.by)
      ? undefined
      : `it is assigned to "${assignee}"`
  if (role === undefined || person.taskRoles === undefined || person.taskRoles.includes(role))
    return undefined
  return `it is for people with the task role "${role}"`
}
