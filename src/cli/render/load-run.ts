/** Loads everything that a store has about one run, for `proviso show`. */

import type { ErrorEnvelope } from '../../domain/errors/error-envelope.ts'
import { storedError } from '../../domain/errors/failure-error.ts'
import type { NodeRow, Store } from '../../domain/ports/store.ts'
import { currentNodes } from '../../domain/run/current-nodes.ts'
import { loadState } from '../../engine/journal/journal.ts'

export type ShownRun = Awaited<ReturnType<typeof loadRun>>

export async function loadRun(store: Store, runId: string) {
  const { plan, envelope, paused, finished, nodes, feedback } = await loadState(store, runId)
  const { output, provenance, error } = (await store.output(runId)) ?? {}
  return {
    run: await store.head(runId),
    envelope,
    plan: plan ?? null,
    nodes: currentNodes(await store.nodes(runId)).map(nodeView),
    asks: await store.asks({ runId }),
    messages: await store.messages(runId),
    /** For active maps and loops: ended items or rounds, their total, and how many failed. */
    iterations: Object.fromEntries(
      [...nodes].flatMap(([id, { iterations }]) =>
        iterations
          ? [[id, { ended: iterations.ended, total: iterations.total, failed: iterations.failed }]]
          : [],
      ),
    ),
    feedback,
    ...(paused && { paused }),
    ...(finished?.degraded && { degraded: finished.degraded }),
    ...(finished?.inDoubt && { inDoubt: finished.inDoubt }),
    ...(output !== undefined && { output }),
    ...(error !== undefined && { error: storedError(error) }),
    provenance: provenance ?? [],
  }
}

/** A node's row, with its error in public form. */
export type ShownNode = Omit<NodeRow, 'error'> & { readonly error?: ErrorEnvelope }

function nodeView({ error, ...row }: NodeRow): ShownNode {
  return { ...row, ...(error !== undefined && { error: storedError(error) }) }
}
