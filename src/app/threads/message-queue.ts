/**
 * Runs of threads that wait for their turn: documents of the store, so that they survive the process. The run id is chosen
 * when a run is accepted, so that starting it twice starts one run. Until it starts, readers see it as `pending`.
 */
import type { Issue } from '../../base/errors/issue.ts'
import type { Json } from '../../base/json.ts'
import type { DocumentRow } from '../../domain/ports/documents.ts'
import type { Store } from '../../domain/ports/store.ts'
import type { RunHead } from '../../domain/run.ts'
import type { ThreadKey } from '../../engine/threads/read-thread.ts'

/** What a run of a thread is started with. */
export interface QueuedRun extends ThreadKey {
  readonly runId: string
  /** Shown while it waits: what was said, or the objective. */
  readonly message: string
  readonly envelope: Json
  readonly draft?: Json
  /** Deprecations in the request. */
  readonly warnings?: readonly Issue[]
  readonly correlationId?: string
  readonly traceparent?: string
  /** Its models stream from the first call. */
  readonly partials?: boolean
}

export type QueueRow = Omit<DocumentRow, 'body'> & {
  /** `order` counts what this process has added: several may have the same time. */
  readonly body: QueuedRun & { readonly order: number }
}

export interface MessageQueue {
  /** `isFirst`: it goes before the waiting ones. */
  add(run: QueuedRun, given: { readonly isFirst: boolean }): Promise<QueueRow>
  /** Those of a thread, in the order in which they will run. */
  list(key: ThreadKey): Promise<readonly QueueRow[]>
  all(): Promise<readonly QueueRow[]>
  find(runId: string): Promise<QueueRow | undefined>
  has(row: QueueRow): Promise<boolean>
  /** False if it is gone. */
  remove(row: QueueRow): Promise<boolean>
}

const kind = 'message'

export function createMessageQueue({ records }: Pick<Store, 'records'>): MessageQueue {
  const { documents } = records
  /** Keys of documents that were read here: a run id alone does not name its document. */
  const known = new Map<string, { readonly tenant: string; readonly id: string }>()
  let order = 0
  const read = (row: DocumentRow): QueueRow => {
    // Written by `add` alone.
    const body = row.body as unknown as QueueRow['body']
    known.set(body.runId, { tenant: row.tenant, id: row.id })
    return { ...row, body }
  }
  const list = async (query: { readonly tenant?: string; readonly prefix?: string }) =>
    (await documents.list({ kind, ...query })).map(read)
  return {
    async add(run, { isFirst }) {
      const { tenant, threadId, runId } = run
      const id = `${toPrefix(threadId)}${isFirst ? 0 : 1}/${runId}`
      const row = { kind, tenant, id, body: { ...run, order: ++order } as unknown as Json } as const
      const added = (await documents.add(row)) ?? (await documents.find(row))
      // The one that was there has started since.
      return read(added ?? { ...row, version: 0, createdAt: 0, updatedAt: 0 })
    },
    list: async ({ tenant, threadId }) =>
      (await list({ tenant, prefix: toPrefix(threadId) })).sort(compareRows),
    all: () => list({}),
    async find(runId) {
      const key = known.get(runId)
      if (key === undefined) return (await list({})).find(({ body }) => body.runId === runId)
      const row = await documents.find({ kind, ...key })
      if (row) return read(row)
      known.delete(runId)
      return undefined
    },
    has: async ({ tenant, id }) => (await documents.find({ kind, tenant, id })) !== undefined,
    remove({ tenant, id, body }) {
      known.delete(body.runId)
      return documents.remove({ kind, tenant, id })
    },
  }
}

function toPrefix(threadId: string): string {
  return `${encodeURIComponent(threadId)}/`
}

/** `0` goes before `1`; within them, by creation. */
function compareRows(a: QueueRow, b: QueueRow): number {
  const lane = ({ id }: QueueRow) => id.split('/')[1] ?? ''
  return lane(a).localeCompare(lane(b)) || a.createdAt - b.createdAt || a.body.order - b.body.order
}

/** Finds the head of a run that waits: `pending`, and without any event. */
export function findHead(queue: Pick<MessageQueue, 'find'>): (runId: string) => Promise<RunHead | undefined> {
  return async (runId) => {
    const row = await queue.find(runId)
    return row && toHead(row)
  }
}

function toHead({ body, createdAt, updatedAt }: QueueRow): RunHead {
  const { runId, tenant, threadId, message, correlationId = runId } = body
  const common = { seq: 0, status: 'pending', planVersion: 0, schemaHash: '' } as const
  return { ...common, runId, tenant, threadId, correlationId, objective: message, createdAt, updatedAt }
}
