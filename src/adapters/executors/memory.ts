/** Carries out the memory capabilities of agents on the documents of the store. */
import { ProvisoError } from '../../base/errors/error.ts'
import type { Json } from '../../base/json.ts'
import { forget, recall, remember } from '../../domain/memory/memories.ts'
import { memoryLimits } from '../../domain/memory/memory-tools.ts'
import type { AttemptResult } from '../../domain/output.ts'
import type { Dispatch, Dispatcher } from '../../domain/ports/dispatcher.ts'
import type { Documents } from '../../domain/ports/documents.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'

interface MemoryParts {
  readonly documents: Documents
  readonly redactor: Redactor
}

export function memoryDispatcher(parts: MemoryParts): Dispatcher {
  return {
    kind: 'memory',
    remote: false,
    plain: true,
    async dispatch(call): Promise<AttemptResult> {
      const usage = { calls: 0 }
      try {
        return { outcome: 'ok', output: { value: await act(call, parts) }, issues: [], usage }
      } catch (cause) {
        if (!(ProvisoError.is(cause) && cause.code === 'capability/refused')) throw cause
        const { code, message, hint } = cause
        const issue = { code, at: { pointer: '' }, message, ...(hint !== undefined && { hint }) }
        return { outcome: 'refused', issues: [issue], usage, final: true }
      }
    },
  }
}

/** The inputs were validated against the contract of the capability. */
async function act(call: Dispatch, { documents, redactor }: MemoryParts): Promise<Json> {
  const { tenant = 'default', runId, idempotencyKey: key, capability, bundle } = call
  const inputs = (bundle.inputs ?? {}) as { readonly [name: string]: Json }
  switch (capability.capabilityId) {
    case 'memory.remember': {
      const tags = ((inputs['tags'] ?? []) as readonly string[]).map(redactor.text)
      return remember(documents, { tenant, key, runId, tags, text: redactor.text(String(inputs['text'])) })
    }
    case 'memory.recall': {
      const query = String(inputs['query'] ?? '')
      const limit = Number(inputs['limit'] ?? memoryLimits.recalled)
      const found = await recall(documents, { tenant, query, limit })
      return {
        memories: found.map(({ id, text, tags, at }) => ({
          id,
          text,
          tags: [...tags],
          at: new Date(at).toISOString(),
        })),
      }
    }
    case 'memory.forget':
      return { forgotten: await forget(documents, tenant, String(inputs['id'])) }
    default:
      throw new Error(`"${capability.capabilityId}" is not a memory capability`)
  }
}
