/** Documents of the memory store. */
import type { DocumentKey, DocumentRow, Documents, NewDocument } from '../../../domain/ports/documents.ts'
import type { Operations } from '../../../domain/ports/operations.ts'
import { order } from '../shared/list-order.ts'

export interface MemoryDocuments extends Documents {
  /** Adds documents of a run with its events; documents that exist stay as they are. */
  addAll(documents: readonly NewDocument[]): void
  deleteOf(runId: string): void
}

export function createMemoryDocuments(now: () => number, operations: Operations): MemoryDocuments {
  const rows = new Map<string, DocumentRow>()
  const toKey = ({ kind, tenant, id }: DocumentKey) => JSON.stringify([kind, tenant, id])
  const write = (document: NewDocument, before: DocumentRow | undefined): DocumentRow => {
    const time = now()
    const { kind, tenant, id, body, runId, dueAt } = document
    const row = {
      kind,
      tenant,
      id,
      body,
      ...(runId !== undefined && { runId }),
      // Added as due at once, it is due after documents that were due before.
      ...(dueAt !== undefined && { dueAt: before === undefined && dueAt === 0 ? time : dueAt }),
      version: (before?.version ?? 0) + 1,
      createdAt: before?.createdAt ?? time,
      updatedAt: time,
    }
    rows.set(toKey(document), row)
    return row
  }
  return {
    addAll(documents) {
      for (const document of documents) if (!rows.has(toKey(document))) write(document, undefined)
    },
    deleteOf(runId) {
      for (const [key, row] of rows) if (row.runId === runId) rows.delete(key)
    },
    async add(document, { operation } = {}) {
      now()
      if (rows.has(toKey(document))) return undefined
      const row = write(document, undefined)
      if (operation) await operations.append(operation)
      return row
    },
    async replace(document, { version, dueInMs, operation }) {
      const time = now()
      const before = rows.get(toKey(document))
      if (before?.version !== version) return undefined
      const row = write(dueInMs === undefined ? document : { ...document, dueAt: time + dueInMs }, before)
      if (operation) await operations.append(operation)
      return row
    },
    async remove(key, { operation } = {}) {
      now()
      const isRemoved = rows.delete(toKey(key))
      if (isRemoved && operation) await operations.append(operation)
      return isRemoved
    },
    async find(key) {
      now()
      return rows.get(toKey(key))
    },
    async list({ kind, tenant, prefix = '', limit = Number.POSITIVE_INFINITY, after }) {
      now()
      return [...rows.values()]
        .filter(
          (row) =>
            row.kind === kind &&
            (tenant === undefined || row.tenant === tenant) &&
            row.id.startsWith(prefix) &&
            (after === undefined || byNewest(after, row) < 0),
        )
        .sort(byNewest)
        .slice(0, limit)
    },
    async claimDue({ kind, limit, leaseMs, within }) {
      const time = now()
      const isWithin = (row: DocumentRow) =>
        within === undefined || (row.tenant === within.tenant && row.id.startsWith(within.prefix))
      const due = [...rows.values()]
        .filter((row) => row.kind === kind && row.dueAt !== undefined && row.dueAt <= time && isWithin(row))
        .sort((one, other) => (one.dueAt ?? 0) - (other.dueAt ?? 0))
        .slice(0, limit)
      return due
        .map((row) => write({ ...row, dueAt: time + leaseMs }, row))
        .sort((one, other) => one.createdAt - other.createdAt || order(one.id, other.id))
    },
    async nextDue(kind) {
      const time = now()
      const times = [...rows.values()].flatMap((row) => (row.kind === kind ? (row.dueAt ?? []) : []))
      return times.length === 0 ? undefined : { at: Math.min(...times), now: time }
    },
  }
}

function byNewest(
  one: Pick<DocumentRow, 'createdAt' | 'id'>,
  other: Pick<DocumentRow, 'createdAt' | 'id'>,
): number {
  return other.createdAt - one.createdAt || order(other.id, one.id)
}
