/** The memories of a tenant in the store: kept, found, listed and deleted. */
import { sha256Hex } from '../../base/canonical.ts'
import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import type { DocumentRow, Documents } from '../ports/documents.ts'
import { type Memory, memoryLimits, rankMemories } from './memory-tools.ts'

const kind = 'memory'

/** Newest first. */
export async function listMemories(documents: Documents, tenant: string): Promise<readonly Memory[]> {
  return (await documents.list({ kind, tenant })).map(toMemory)
}

function toMemory({ id, body, createdAt }: DocumentRow): Memory {
  const { text, tags, runId } = body as unknown as Pick<Memory, 'text' | 'tags' | 'runId'>
  return { id, text, tags, at: createdAt, runId }
}

interface NewMemory extends Pick<Memory, 'text' | 'tags' | 'runId'> {
  readonly tenant: string
  /** The same key is the same memory. */
  readonly key: string
}

export async function remember(documents: Documents, given: NewMemory): Promise<{ readonly id: string }> {
  const { tenant, key, text, tags, runId } = given
  const id = `mem_${sha256Hex(key).slice(0, 24)}`
  const known = await documents.list({ kind, tenant })
  const tooMany = () =>
    new ProvisoError('capability/refused', `Cannot remember: there are ${memoryLimits.memories} memories`, {
      hint: 'Forget some first',
    })
  if (known.length >= memoryLimits.memories && !known.some((row) => row.id === id)) throw tooMany()
  const row = await documents.add({ kind, tenant, id, body: { text, tags, runId } as unknown as Json })
  // Others may have added some since the count: the last of them to count again sees all.
  if (row && (await documents.list({ kind, tenant })).length > memoryLimits.memories) {
    await documents.remove(row)
    throw tooMany()
  }
  return { id }
}

export async function recall(
  documents: Documents,
  { tenant, query, limit }: { readonly tenant: string; readonly query: string; readonly limit: number },
): Promise<readonly Memory[]> {
  return rankMemories(await listMemories(documents, tenant), query).slice(0, limit)
}

export async function forget(documents: Documents, tenant: string, id: string): Promise<boolean> {
  return documents.remove({ kind, tenant, id })
}

/** Deletes what these runs have remembered. */
export async function forgetRuns(documents: Documents, runIds: ReadonlySet<string>): Promise<void> {
  for (const row of await documents.list({ kind }))
    if (runIds.has(toMemory(row).runId)) await documents.remove({ kind, tenant: row.tenant, id: row.id })
}
