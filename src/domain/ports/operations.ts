/**
 * The operations audit of a store: who changed tokens, settings, schedules and registrations, and who deleted runs. One hash chain for
 * the whole store: each row contains the hash of the one before, so that a row cannot be changed, inserted or removed
 * without breaking all later ones. Erased runs leave a row here (a tombstone), so that the chain stays verifiable.
 */
import { canonicalJson, sha256Hex } from '../../base/canonical.ts'
import type { Json } from '../../base/json.ts'

/** What the audit records. */
export const operationActions = [
  'token.created',
  'token.rotated',
  'token.revoked',
  'registration.created',
  'registration.changed',
  'registration.removed',
  'webhook.created',
  'webhook.changed',
  'webhook.removed',
  'schedule.created',
  'schedule.changed',
  'schedule.removed',
  'facet.created',
  'facet.removed',
  'secrets.resealed',
  'settings.changed',
  'runs.pruned',
  'run.erased',
  'erasure.completed',
] as const

export type OperationAction = (typeof operationActions)[number]

export interface OperationRow {
  /** From 1, without gaps. */
  readonly seq: number
  /** By the store's clock. */
  readonly at: number
  readonly tenant: string
  /** The person, the token or the process. */
  readonly by: string
  readonly action: OperationAction
  /** What was changed: a token id, a capability id, a run id. */
  readonly subject: string
  /** Never contains secrets. */
  readonly details: { readonly [name: string]: Json }
  /** Hash of the row before; empty for the first one. */
  readonly prev: string
  readonly hash: string
}

export type NewOperation = Omit<OperationRow, 'seq' | 'at' | 'prev' | 'hash'>

export interface OperationQuery {
  readonly tenant?: string
  readonly action?: OperationAction
  readonly subject?: string
  /** Rows before this sequence number, for paging. */
  readonly before?: number
  /** Default 100. */
  readonly limit?: number
}

export interface Operations {
  append(operation: NewOperation): Promise<OperationRow>
  /** Newest first. */
  list(query: OperationQuery): Promise<OperationRow[]>
}

export const defaultOperationLimit = 100

/** The name recorded where a caller gives none. */
export const unnamedActor = 'library'

/** Builds the row that follows `last`. */
export function linkOperation(
  last: Pick<OperationRow, 'seq' | 'hash'> | undefined,
  { at, ...operation }: NewOperation & { readonly at: number },
): OperationRow {
  const { tenant, by, action, subject, details } = operation
  const row = { seq: (last?.seq ?? 0) + 1, at, tenant, by, action, subject, details, prev: last?.hash ?? '' }
  return { ...row, hash: hashOperation(row) }
}

function hashOperation({ prev, ...row }: Omit<OperationRow, 'hash'>): string {
  return sha256Hex(`${prev}\n${canonicalJson(row)}`)
}

/** One row that breaks the chain. */
interface BrokenOperation {
  readonly seq: number
  readonly message: string
}

/** Checks the chain row by row, from the oldest to the newest. */
export async function verifyOperations({ list }: Pick<Operations, 'list'>): Promise<{
  readonly rows: number
  readonly head: string
  readonly broken: readonly BrokenOperation[]
}> {
  const broken: BrokenOperation[] = []
  let rows = 0
  let head = ''
  let newer: OperationRow | undefined
  for (let before: number | undefined; ; ) {
    const page = await list({ limit: 500, ...(before !== undefined && { before }) })
    for (const row of page) {
      if (newer === undefined) head = row.hash
      const { hash, ...content } = row
      if (hashOperation(content) !== hash)
        broken.push({ seq: row.seq, message: 'the row does not match its hash' })
      if (newer !== undefined && newer.seq !== row.seq + 1)
        broken.push({ seq: newer.seq, message: `the row before it is ${row.seq}: rows are missing` })
      else if (newer !== undefined && newer.prev !== hash)
        broken.push({ seq: newer.seq, message: 'it does not continue the row before it' })
      newer = row
      rows++
    }
    before = page.at(-1)?.seq
    if (before === undefined || before <= 1) break
  }
  if (newer !== undefined && newer.seq !== 1)
    broken.push({ seq: newer.seq, message: 'the rows before it are missing' })
  else if (newer !== undefined && newer.prev !== '')
    broken.push({ seq: newer.seq, message: 'the first row names a row before it' })
  return { rows, head, broken: broken.reverse() }
}
