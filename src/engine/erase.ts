/**
 * Erases one run, or every run about a subject, and makes out a receipt. The receipt's hash is kept in the operations audit,
 * so that the receipt can be checked later without the data that it is about.
 */
import { randomBytes } from 'node:crypto'
import { canonicalJson, sha256Hex } from '../base/canonical.ts'
import { ProvisoError } from '../base/errors/error.ts'
import type { Json } from '../base/json.ts'
import { forgetRuns } from '../domain/memory/memories.ts'
import type { Erased, ErasedRun } from '../domain/ports/erase.ts'
import type { Store } from '../domain/ports/store.ts'
import { isTerminal } from '../domain/status.ts'

export interface EraseRequest {
  /** One run. Give either this or `subject`. */
  readonly runId?: string
  /** Every run whose envelope has this `metadata.subject`. */
  readonly subject?: string
  /** Only runs of this tenant. Default: all tenants. */
  readonly tenant?: string
  /** Who erases, for the receipt and the audit. */
  readonly by: string
  /** Recorded in the receipt. Do not name the subject in it. */
  readonly reason?: string
}

export interface ErasurePreview extends Omit<Erased, 'residue'> {
  /** Runs that are not over. They must be cancelled first. */
  readonly unfinished: readonly string[]
}

export interface ErasureReceipt {
  readonly receiptId: string
  /** Time in ISO 8601, by the store's clock. */
  readonly at: string
  readonly by: string
  readonly reason?: string
  /** What was to be erased. A subject is named by its SHA-256 only: the receipt must not keep what it says was erased. */
  readonly scope: {
    readonly runId?: string
    readonly subjectHash?: string
    readonly tenant?: string
  }
  readonly runs: readonly ErasedRun[]
  readonly deleted: {
    readonly runs: number
    readonly events: number
    readonly values: number
    readonly answers: number
  }
  /** Large values that other runs still use. */
  readonly sharedValues: number
  /** Where bytes may remain, and what to do about it. */
  readonly residue: readonly string[]
  /** SHA-256 of the receipt as canonical JSON without `hash`, `at` and `audit`. */
  readonly hash: string
  /** The row of the operations audit that holds the hash. */
  readonly audit: { readonly seq: number; readonly hash: string }
}

/** Reports what `eraseRuns` would delete. */
export async function previewErasure(store: Store, request: EraseRequest): Promise<ErasurePreview> {
  const { over, unfinished } = await findRuns(store, request)
  const { residue: _, ...would } = await store.erase({
    runIds: over,
    by: request.by,
    receiptId: '',
    dryRun: true,
  })
  return { ...would, unfinished }
}

/** Erases the runs. Throws `run/state` and erases nothing while one of them is not over. */
export async function eraseRuns(store: Store, request: EraseRequest): Promise<ErasureReceipt> {
  const { over, unfinished } = await findRuns(store, request)
  if (unfinished.length > 0)
    throw new ProvisoError('run/state', `Cannot erase runs that are not over: ${inShort(unfinished)}`, {
      hint: 'Cancel them, wait for their end, and erase again',
    })
  await removeMessages(store, request)
  await forgetRuns(store.records.documents, new Set(over))
  const { by, reason, runId, subject, tenant } = request
  const receiptId = `era_${randomBytes(8).toString('hex')}`
  const { runs, events, values, sharedValues, answers, residue } = await store.erase({
    runIds: over,
    by,
    receiptId,
  })
  const receipt = {
    receiptId,
    by,
    ...(reason !== undefined && { reason }),
    scope: {
      ...(runId !== undefined && { runId }),
      ...(subject !== undefined && { subjectHash: sha256Hex(subject) }),
      ...(tenant !== undefined && { tenant }),
    },
    runs,
    deleted: { runs: runs.length, events, values, answers },
    sharedValues,
    residue,
  }
  const hash = sha256Hex(canonicalJson(receipt))
  const { scope, deleted } = receipt
  const row = await store.records.operations.append({
    tenant: tenant ?? runs[0]?.tenant ?? '',
    by,
    action: 'erasure.completed',
    subject: receiptId,
    details: { receiptHash: hash, scope, deleted, residue: residue as Json },
  })
  return {
    ...receipt,
    hash,
    at: new Date(row.at).toISOString(),
    audit: { seq: row.seq, hash: row.hash },
  }
}

async function findRuns(
  store: Store,
  { runId, subject, tenant, by }: EraseRequest,
): Promise<{ readonly over: readonly string[]; readonly unfinished: readonly string[] }> {
  if (typeof by !== 'string' || by === '')
    throw new ProvisoError('option/invalid', 'Cannot erase: `by` must name who erases')
  if ((runId === undefined) === (subject === undefined) || runId === '' || subject === '')
    throw new ProvisoError('option/invalid', 'Cannot erase: give either a run id or a subject', {
      hint: 'Pass `runId`, or `subject` as it is in `metadata.subject` of the envelopes',
    })
  const ids =
    subject === undefined
      ? [runId as string]
      : await store.findRunsAbout({ subject, ...(tenant !== undefined && { tenant }) })
  const all = await withLaterTurns(store, ids)
  const over: string[] = []
  const unfinished: string[] = []
  for (const id of all) {
    const head = await store.head(id)
    if (head === undefined || (tenant !== undefined && head.tenant !== tenant)) continue
    if (isTerminal(head.status)) over.push(id)
    else unfinished.push(id)
  }
  if (runId !== undefined && over.length + unfinished.length === 0)
    throw new ProvisoError('run/missing', `Run "${runId}" not found`)
  return { over, unfinished }
}

/** Later runs of a thread hold the messages and answers of earlier ones, so that they are erased with them. */
async function withLaterTurns(store: Store, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const all = new Set(ids)
  for (const id of ids) {
    const head = await store.head(id)
    if (head?.threadId === undefined) continue
    const { tenant, threadId } = head
    let before: string | undefined
    for (;;) {
      const page = await store.runs({ tenant, threadId, ...(before !== undefined && { before }) })
      const at = page.findIndex(({ runId }) => runId === id)
      for (const { runId } of at < 0 ? page : page.slice(0, at))
        if (await holdsTurn(store, runId, id)) all.add(runId)
      before = page.at(-1)?.runId
      if (at >= 0 || before === undefined) break
    }
  }
  return all
}

async function holdsTurn(store: Store, runId: string, earlier: string): Promise<boolean> {
  const [start] = await store.read(runId, 0, 1)
  const thread = start?.type === 'start' ? start.payload.thread : undefined
  return (
    thread !== undefined &&
    (thread.summary !== undefined || thread.turns.some((turn) => turn.runId === earlier))
  )
}

/** Messages about the subject that still wait are deleted with the runs. */
async function removeMessages(store: Store, { subject, tenant }: EraseRequest): Promise<void> {
  if (subject === undefined) return
  const { documents } = store.records
  for (const { id, tenant: owner, body } of await documents.list({
    kind: 'message',
    ...(tenant !== undefined && { tenant }),
  })) {
    const { envelope } = body as {
      readonly envelope?: { readonly metadata?: { readonly subject?: unknown } }
    }
    if (envelope?.metadata?.subject === subject)
      await documents.remove({ kind: 'message', tenant: owner, id })
  }
}

const mostNamed = 10

function inShort(ids: readonly string[]): string {
  const more = ids.length - mostNamed
  return `${ids.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
