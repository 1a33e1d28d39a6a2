/** Tasks of people over the API: lists, claims, releases, completes and declines them. The token identifies the person. */
import { api, createKey, type Transport } from './transport.ts'
import type { Task, TaskPages, TaskQuery } from './types.ts'

export interface TaskOptions {
  readonly note?: string
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

/** A task, or its `requestId`. */
type TaskRef = string | { readonly requestId: string }

/** Needs the role operator. A task that another person holds is refused with 409 `task/claimed`. */
export interface TasksClient {
  /** Lists tasks, by priority and due time, page by page. Default: every open task of the tenant. */
  list(query?: TaskQuery, options?: { readonly signal?: AbortSignal }): AsyncGenerator<Task, void, void>
  /** Holds a task, so that no one else does it. */
  claim(task: TaskRef, options?: TaskOptions): Promise<Task>
  /** Gives a claimed task back. */
  release(task: TaskRef, options?: TaskOptions): Promise<Task>
  /** Delivers the result. It must satisfy `schema` of the task; else it is refused with 422 and every issue. */
  complete(task: TaskRef, value: unknown, options?: TaskOptions): Promise<Task>
  /** Passes a task to the next person. */
  decline(task: TaskRef, options?: TaskOptions): Promise<Task>
}

export function createTasksClient(transport: Transport): TasksClient {
  const act = (
    task: TaskRef,
    action: 'claim' | 'release' | 'complete' | 'decline',
    { note, idempotencyKey = createKey(), signal, ...given }: TaskOptions & { readonly value?: unknown } = {},
  ) => {
    const requestId = typeof task === 'string' ? task : task.requestId
    return transport.json<Task>(`${api}/tasks/${encodeURIComponent(requestId)}/${action}`, {
      method: 'POST',
      headers: { 'idempotency-key': idempotencyKey },
      body: { ...given, ...(note !== undefined && { note }) },
      signal,
    })
  }
  return {
    async *list(query = {}, { signal } = {}) {
      let after: string | undefined
      do {
        const page = await transport.json<TaskPages>(`${api}/tasks`, { query: { ...query, after }, signal })
        yield* page.tasks
        after = page.next
      } while (after !== undefined)
    },
    claim: (task, options) => act(task, 'claim', options),
    release: (task, options) => act(task, 'release', options),
    complete: (task, value, options) => act(task, 'complete', { ...options, value }),
    decline: (task, options) => act(task, 'decline', options),
  }
}
