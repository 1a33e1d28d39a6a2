/**
 * Reads events page by page as JSON, for callers that do not use a stream: `GET runs/:id/events` with `Accept:
 * application/json`; and tracks the plans that the frames of pages and streams refer to.
 */
import {
  type Frame,
  hasProvenance,
  type ProvenancePlan,
  toFrame,
  withProvenance,
} from '../../domain/event/frame.ts'
import type { JournalEvent } from '../../domain/event.ts'
import type { Store } from '../../domain/ports/store.ts'
import type { Redactor } from '../../domain/redaction/redact.ts'
import { isTerminal } from '../../domain/status.ts'

interface PageRequest {
  readonly runId: string
  readonly correlationId: string
  readonly redactor: Redactor
  /** Events after this sequence number. */
  readonly after: number
  /** Maximum number of events; default 100, at most 1,000. A page is also full at 4 MB, but has at least one event. */
  readonly limit?: number
}

export interface EventPage {
  readonly events: readonly Frame[]
  /** Pass this as `after` for the next page; retry later if the page is empty. Absent when the run is over and fully read. */
  readonly next?: number
}

export const pageLimits = { usual: 100, most: 1_000, characters: 4 * 1024 * 1024 } as const

/** Batch size of reads from the store, so that a page of large events does not read far beyond its end. */
const atOnce = 20

/** Reads one page. The run must exist. */
export async function readPage(
  store: Pick<Store, 'read' | 'head' | 'snapshots'>,
  request: PageRequest,
): Promise<EventPage> {
  const { runId, correlationId, redactor, limit = pageLimits.usual } = request
  const most = Math.min(Math.max(limit, 1), pageLimits.most)
  const frames: Frame[] = []
  const plans = createPlansInForce(store, runId)
  let at = Math.max(request.after, 0)
  let characters = 0
  while (frames.length < most) {
    const size = Math.min(atOnce, most - frames.length)
    const page = await store.read(runId, at, size)
    await plans.prepare(page)
    for (const event of page) {
      const frame = withProvenance(toFrame(event, correlationId, redactor), plans.findPlan(event.planVersion))
      characters += JSON.stringify(frame).length
      if (characters > pageLimits.characters && frames.length > 0) return { events: frames, next: at }
      frames.push(frame)
      at = event.seq
    }
    if (page.length < size) break
  }
  const isEnd =
    frames.at(-1)?.type === 'complete' || (frames.length === 0 && (await isOver(store, runId, at)))
  return { events: frames, ...(!isEnd && { next: at }) }
}

async function isOver(store: Pick<Store, 'head'>, runId: string, at: number): Promise<boolean> {
  const head = await store.head(runId)
  return head !== undefined && at >= head.seq && isTerminal(head.status)
}

/** The plans of a run while its events pass, for streams and pages that start in the middle of a journal. */
export interface PlansInForce {
  /** Reads the run's snapshots if these events need a plan that has not been seen. */
  prepare(events: readonly JournalEvent[]): Promise<void>
  findPlan(planVersion: number): ProvenancePlan | undefined
}

/** Keeps only the fields a stream needs, because streams live long. */
function withoutRest({ nodes }: ProvenancePlan): ProvenancePlan {
  return { nodes: nodes.map(({ id, facetProvenance }) => ({ id, facetProvenance })) }
}

export function createPlansInForce(store: Pick<Store, 'snapshots'>, runId: string): PlansInForce {
  const plans = new Map<number, ProvenancePlan>()
  return {
    async prepare(events) {
      for (const event of events)
        if (event.type === 'plan_generated' && event.payload.plan)
          plans.set(event.payload.planVersion, withoutRest(event.payload.plan))
      const lacks = (event: JournalEvent) => hasProvenance(event) && !plans.has(event.planVersion)
      if (!events.some(lacks)) return
      // The snapshot was validated as a plan when it was stored.
      for (const { planVersion, plan } of await store.snapshots(runId))
        plans.set(planVersion, withoutRest(plan as unknown as ProvenancePlan))
    },
    findPlan: (planVersion) => plans.get(planVersion),
  }
}
