/** What the journal says of one attempt, for whoever brings an answer to it from outside. */
import { ProvisoError } from '../base/error.ts'
import type { Store } from '../domain/ports/store.ts'
import { loadState } from './journal.ts'

export interface AttemptFacts {
  readonly tenant: string
  readonly capabilityId: string
  readonly idempotencyKey: string
  /** It has begun and not ended, and nobody wants the run to stop. */
  readonly inFlight: boolean
}

/** Nothing if there is no such run, node or attempt. */
export async function attemptFacts(
  store: Store,
  name: { readonly runId: string; readonly nodeId: string; readonly attempt: number },
): Promise<AttemptFacts | undefined> {
  const state = await loadState(store, name.runId).catch((cause: unknown) => {
    if (cause instanceof ProvisoError && cause.code === 'run/missing') return undefined
    throw cause
  })
  const node = state?.nodes.get(name.nodeId)
  if (state === undefined || node?.attempt === undefined) return undefined
  if (name.attempt < 1 || name.attempt > node.attempts) return undefined
  const { attempt, capabilityId, idempotencyKey, result } = node.attempt
  const inFlight = attempt === name.attempt && result === undefined && !state.finished && !state.cancel
  return { tenant: state.tenant, capabilityId, idempotencyKey, inFlight }
}
